"""Images and samplers among a kernel's arguments: their words, values from Python, and what is guessed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.analysis.explain import Image, Sampler
from tilewright.errors import InvalidInput

LOOK = """__kernel void look(__read_only image2d_t picture, sampler_t how, __global float4 *out, float step)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = read_imagef(picture, how, (float2)(x * step, y * step));
}
"""
COUNT = """__kernel void count(read_only image1d_t a, read_only image3d_t b, read_only image2d_array_t c, __global uint *out)
{
    int x = get_global_id(0);
    out[x] = read_imageui(a, x).x + read_imageui(b, (int4)(0, 0, x, 0)).y + (uint)read_imagei(c, (int4)(1, 2, x, 0)).z;
}
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def made(text: str) -> Path:
        path = tmp_path / "mine.cl"
        path.write_text(text)
        return path

    return made


def look(path: Path, picture: object, how: object, step: float = 1.0) -> np.ndarray:
    found = tilewright.explain(
        path, global_size=(8, 4), local_size=(8, 4), groups="all",
        arguments={"picture": picture, "how": how, "out": "[8*4]", "step": step},
    )  # fmt: skip
    return found.outputs["out"].reshape(4, 8, 4)


def test_a_file_is_read_in_its_format(write: Any, tmp_path: Path) -> None:
    texels = np.random.default_rng(5).integers(0, 256, (4, 8, 4), np.uint8)
    np.save(tmp_path / "texels.npy", texels)
    path, file = write(LOOK), tmp_path / "texels.npy"
    expected = texels.astype(np.float32) / 255
    np.testing.assert_allclose(look(path, f"image:rgba,unorm_int8:{file}", "sampler:"), expected, rtol=1e-6)
    np.testing.assert_allclose(
        look(path, f"image:bgra,unorm_int8:{file}", "sampler:"), expected[..., [2, 1, 0, 3]], rtol=1e-6
    )
    np.testing.assert_array_equal(look(path, Image(texels, "RGBA", "UNORM_INT8"), Sampler()), look(
        path, f"image:rgba,unorm_int8:{file}", "sampler:clamp_to_edge,nearest,unnormalized"
    ))  # fmt: skip


def test_a_sampler_says_how(write: Any) -> None:
    texels = np.arange(4 * 8, dtype=np.float32).reshape(4, 8, 1)
    path = write(LOOK)
    repeated = look(path, Image(texels), "sampler:repeat,normalized", 1 / 4 + 1)[..., 0]
    y, x = np.mgrid[:4, :8]
    np.testing.assert_array_equal(repeated, texels[y % 4, 2 * x % 8, 0])  # columns at x / 4, of 8; rows at y / 4, of 4
    half = look(path, Image(texels), "sampler:clamp_to_edge,linear", 1.0)[..., 0]
    mean = texels[..., 0]
    left, up = np.maximum(x - 1, 0), np.maximum(y - 1, 0)
    np.testing.assert_allclose(half, (mean + mean[:, left[0]] + mean[up[:, 0]] + mean[up, left]) / 4)


def test_sides_are_expressions_with_x_first(write: Any) -> None:
    sides = {"a": "image:rgba,unsigned_int8:n", "b": "image:rgba:1,1,n", "c": "image:rgba,signed_int16:2x3x8"}
    path = write(COUNT.replace("*out)", "*out, int n)"))
    found = tilewright.explain(path, global_size=8, local_size=8, arguments={**sides, "n": 8})
    assert not found.faults
    again = tilewright.explain(path, global_size=8, local_size=8, arguments={**sides, "n": 8})
    np.testing.assert_array_equal(found.outputs["out"], again.outputs["out"])
    assert len(set(found.outputs["out"])) > 1
    small = tilewright.explain(path, global_size=8, local_size=8, arguments={**sides, "n": 8, "b": "image:1,1,7"})
    assert [each.kind for each in small.faults] == ["out of bounds"]


def test_what_nobody_gave_is_guessed_in_a_form_that_can_be_given(write: Any) -> None:
    found = tilewright.explain(write(LOOK))
    assert not found.faults
    for words in ("--arg picture=image:rgba,float:64x64", "--arg how=sampler:clamp_to_edge,nearest"):
        assert words in found.assumed[0]
    found = tilewright.explain(write(COUNT), global_size=64)
    assert "a=image:rgba,unsigned_int32:64 " in found.assumed[0]
    assert "c=image:rgba,signed_int32:64x16x16" in found.assumed[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"picture": "f32[8,4]"}, "picture is an image2d_t: give its format"),
        ({"picture": "image:8"}, "picture is an image2d_t, so give 2 whole numbers"),
        ({"picture": "image:rgba:8x0"}, "give 2 whole numbers of at least 1"),
        ({"picture": "image:rgba:8x"}, "give an image's format and its texels"),
        ({"picture": "image:"}, "give an image's format and its texels"),
        ({"picture": "image:rgb4:8x4"}, "'rgb4' in the format 'rgb4' of an image is not an order"),
        ({"picture": "image:rgba,float:99999x99999"}, "bytes are more than"),
        ({"picture": "image:none.npy"}, "there is no file none.npy"),
        ({"picture": np.zeros((2, 2, 2, 2), np.uint8)}, "not of shape"),
        ({"picture": Image(np.zeros((2, 2), np.uint8), "R", "FLOAT")}, "holds uint8"),
        ({"how": "3"}, "how is a sampler"),
        ({"how": "sampler:sideways"}, "a sampler is one of"),
        ({"out": "image:8x4"}, "out is a float4"),
        ({"step": "sampler:repeat"}, "step is a float"),
    ],
)
def test_what_does_not_fit_is_refused(write: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        tilewright.explain(write(LOOK), arguments=given)
