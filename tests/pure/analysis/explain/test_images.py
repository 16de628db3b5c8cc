"""Images without a device: how they are given, what is counted, what is wrong with a use of them."""

from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, Image, Sampler, explain_source
from tilewright.analysis.explain.simt.images import read_format, read_sampler
from tilewright.errors import InvalidInput, SourceError


def run(body: str, image: Any, *, kind: str = "read_only image2d_t", sampler: Any = 0, items: int = 32) -> Explanation:
    source = f"""
__kernel void k({kind} m, sampler_t s, __global float4* o, __global int* q) {{
    int i = get_global_id(0);
    {body}
}}"""
    arguments = {"m": image, "s": sampler, "o": np.zeros((items, 4), np.float32), "q": np.zeros(items, np.int32)}
    return explain_source(source, global_size=(items,), local_size=(items,), arguments=arguments)


ROW = np.arange(128, dtype=np.float32)


@pytest.mark.parametrize("array", [ROW, ROW.reshape(32, 4)])
def test_a_plain_array_is_a_buffer_image(array: np.ndarray) -> None:
    found = run("o[i] = read_imagef(m, 31 - i);", Image(array, "RGBA"), kind="read_only image1d_buffer_t")
    assert found.outputs["o"].tolist() == ROW.reshape(32, 4)[::-1].tolist()
    (load,) = [each for each in found.profile.accesses if each.space == "image"]
    assert (load.requests, load.useful_bytes, load.cost, load.lines) == (1, 512, 0, 0)
    assert "32 B" not in str(found)
    assert "512 bytes of texels in 1 requests" in str(found)
    assert "0 sectors loaded in 0 requests" in str(found)


def test_layers_and_volumes_are_found_where_they_lie() -> None:
    texels = np.random.default_rng(2).random((3, 4, 5), np.float32)
    read = "int x = i % 5, y = i / 5 % 4, z = i / 20; o[i].x = read_imagef(m, s, (int4)(x, y, {}, 0)).x;"
    for kind in ("image3d_t", "image2d_array_t"):
        found = run(read.format("z"), Image(texels), kind=kind)
        assert found.outputs["o"][:, 0].tolist() == texels.ravel()[:32].tolist()
    beyond = run(read.format("z + 7"), Image(texels), kind="image2d_array_t")
    np.testing.assert_array_equal(beyond.outputs["o"][:20, 0], texels[2].ravel())
    rows = run("o[i].x = read_imagef(m, s, (int2)(i % 5, i / 5)).x;", Image(texels[0]), kind="image1d_array_t")
    np.testing.assert_array_equal(rows.outputs["o"][:20, 0], texels[0].ravel())


def test_questions() -> None:
    asked = "q[0] = get_image_width(m); q[1] = get_image_height(m); q[2] = (int)get_image_array_size(m);"
    found = run(asked, Image(np.zeros((7, 3, 5, 2), np.float16)), kind="image2d_array_t")
    assert found.outputs["q"][:3].tolist() == [5, 3, 7]


TEXELS = np.zeros((4, 8, 4), np.float32)
OUTSIDE = {
    "no sampler": "o[i] = read_imagef(m, (int2)(i, 0));",
    "a sampler that promises": "const sampler_t n = CLK_ADDRESS_NONE; o[i] = read_imagef(m, n, (int2)(i, 0));",
    "a write": "write_imagef(m, (int2)(i, 0), (float4)(1));",
}


@pytest.mark.parametrize("body", OUTSIDE.values(), ids=OUTSIDE)
def test_texels_outside_are_found(body: str) -> None:
    (fault,) = run(body, Image(TEXELS)).faults
    assert fault.kind == "out of bounds"
    assert "8x4 texels" in fault.text
    assert "texel (8, 0)" in fault.example
    assert fault.count == 24


def test_the_border_is_no_fault() -> None:
    found = run("o[i] = read_imagef(m, s, (int2)(i, 0));", Image(TEXELS + 1), sampler=Sampler(addressing="clamp"))
    assert found.faults == ()
    assert found.outputs["o"].sum() == 32


def test_two_work_items_that_write_one_texel_race() -> None:
    body = "write_imagef(m, (int2)(i / 2, 0), (float4)(i));"
    wide = Image(np.zeros((1, 32, 4), np.float32))
    assert [each.kind for each in run(body, wide, kind="write_only image2d_t").faults] == ["data race"]
    swap = "write_imagef(m, (int2)(i, 0), (float4)(i)); {} o[i] = read_imagef(m, (int2)(31 - i, 0));"
    fence = "barrier(CLK_IMAGE_MEM_FENCE);"
    assert run(swap.format(""), wide, kind="read_write image2d_t").faults
    assert run(swap.format(fence), wide, kind="read_write image2d_t").faults == ()


WRONG = {
    "numbers of another kind": (
        "o[i] = convert_float4(read_imageui(m, s, (int2)(0)));",
        TEXELS,
        SourceError,
        "read_imagef",
    ),
    "three coordinates": ("o[i] = read_imagef(m, s, (int4)(0));", TEXELS, SourceError, "2 coordinates"),
    "a filter without a sampler": ("o[i] = read_imagef(m, (float2)(0));", TEXELS, SourceError, "whole coordinates"),
    "a buffer as an image": ("o[i] = read_imagef(o, s, (int2)(0));", TEXELS, SourceError, "takes an image"),
    "a number as an image": ("", 3, InvalidInput, "give an Image"),
    "five channels": ("", np.zeros((2, 2, 5), "f4"), InvalidInput, "2, 2, 5"),
    "doubles": ("", np.zeros((2, 2, 4)), InvalidInput, "float64"),
    "a row": ("", np.zeros(4, "f4"), InvalidInput, "2 axes"),
    "an empty one": ("", np.zeros((0, 4), "f4"), InvalidInput, "shape"),
    "no such order": ("", Image(TEXELS, "RBGA"), InvalidInput, "RBGA"),
    "bytes as floats": ("", Image(np.zeros((2, 2, 4), "u1"), "RGBA", "FLOAT"), InvalidInput, "uint8"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case: str) -> None:
    body, image, error, reason = WRONG[case]
    with pytest.raises(error, match=reason):
        run(body, image)


def test_words_of_formats_and_samplers() -> None:
    assert read_format("rgba, unorm_int8") == ("RGBA", "UNORM_INT8")
    assert read_format("FLOAT") == ("", "FLOAT")
    assert read_sampler("repeat,linear,normalized") == Sampler(True, "repeat", True)
    assert read_sampler("") == Sampler()
    assert Sampler(True, "repeat", True).bits == 0x27
    for words in ("rgba,float16", "x"):
        with pytest.raises(InvalidInput, match="UNORM_INT8"):
            read_format(words)
    for words in ("clamp,repeat", "bilinear"):
        with pytest.raises(InvalidInput, match="mirrored_repeat"):
            read_sampler(words)


@pytest.mark.parametrize("addressing", ["repeat", "mirrored_repeat"])
def test_whole_coordinates_are_neither_repeated_nor_clamped(addressing: str) -> None:
    """The specification leaves them undefined there; a border belongs to clamp alone."""
    sampler = Sampler(normalized=True, addressing=addressing)
    found = run("o[i] = read_imagef(m, s, (int2)(i - 4, 0));", Image(np.zeros((4, 32, 4), np.float32)), sampler=sampler)
    assert [(each.kind, each.count) for each in found.faults] == [("out of bounds", 4)]
    floats = "o[i] = read_imagef(m, s, (float2)((i - 4) * 0.3f, 2.5f));"
    for linear in (False, True):
        sampler = Sampler(normalized=True, addressing=addressing, linear=linear)
        assert run(floats, Image(np.zeros((4, 32, 4), np.float32)), sampler=sampler).findings == ()
