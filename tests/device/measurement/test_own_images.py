"""Images and samplers among the arguments of a user's kernel, made on a device: results are those of the interpreter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.analysis.arguments import ready_kernel
from tilewright.analysis.explain import Image, Sampler
from tilewright.core.problem import compulsory_bytes
from tilewright.core.problems import make_problem
from tilewright.core.records import RowStatus
from tilewright.errors import Unsupported
from tilewright.kernels.settings import chosen_kernel
from tilewright.measurement.cases import Case, CaseBuilder
from tilewright.measurement.trial import tried_case
from tilewright.runtime.device import Device
from tilewright.runtime.opencl.images import check_support

BLUR = """__kernel void blur(read_only image2d_t from, sampler_t how, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += read_imagef(from, how, at + (int2)(x, y));
    write_imagef(to, at, sum / 9);
}
"""
ZOOM = """__kernel void zoom(read_only image2d_t from, sampler_t how, __global float4 *to)
{
    int x = get_global_id(0), y = get_global_id(1);
    to[y * get_global_size(0) + x] = read_imagef(from, how, (float2)(x * 0.37f + 0.2f, y * 0.41f + 0.1f));
}
"""
EVERY = """__kernel void every(read_only image1d_t a, read_only image1d_buffer_t b, read_only image1d_array_t c,
                  read_only image2d_array_t d, read_only image3d_t e, __global uint4 *out)
{
    int x = get_global_id(0);
    out[x] = read_imageui(a, x) + read_imageui(b, x) + read_imageui(c, (int2)(x, 1)) + read_imageui(d, (int4)(x, 2, 1, 0))
        + read_imageui(e, (int4)(x, 1, 2, 0));
}
"""


@pytest.fixture(autouse=True)
def with_images(device: Any) -> None:
    if not device.device.image_support:
        pytest.skip(f"{device.info.label} has no images")


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def made(text: str) -> Path:
        path = tmp_path / "mine.cl"
        path.write_text(text)
        return path

    return made


def run(path: Path, device: Device, **how: Any) -> Case:
    """Built, run once and judged, without a measurement."""
    kernel = ready_kernel(chosen_kernel(path, **how))
    return CaseBuilder(device, "float32").kernel_case(kernel, make_problem(kernel, (1,)))


@pytest.mark.parametrize("form", ["rgba,unorm_int8", "rgba,float", "r,float", "rgba,half_float", "rgba,snorm_int8"])
def test_a_kernel_that_writes_an_image_is_checked_texel_by_texel(write: Any, device: Device, form: str) -> None:
    arguments = {"from": f"image:{form}:40x24", "how": "sampler:clamp", "to": f"image:{form}:40x24"}
    made = run(write(BLUR), device, arguments=arguments, global_size=(40, 24), local_size=(8, 8))
    if form == "rgba,snorm_int8" and "has no image2d_t of RGBA SNORM_INT8" in made.row.reason:
        pytest.skip(made.row.reason)  # no device must have it (OpenCL 3.0, table of required formats)
    assert made.row.passed, made.row.reason
    channels = 1 if form.startswith("r,") else 4
    assert f"checked against explain's interpreter: {40 * 24 * channels:,} elements of to" in str(made.verdict)


@pytest.mark.parametrize("sampler", ["clamp_to_edge", "clamp", "clamp_to_edge,linear", "clamp,linear"])
def test_samplers(write: Any, device: Device, sampler: str) -> None:
    arguments = {"from": "image:rgba,unorm_int8:20x12", "how": f"sampler:{sampler}", "to": "[32*16]"}
    made = run(write(ZOOM), device, arguments=arguments, global_size=(32, 16), local_size=(8, 8))
    assert made.row.passed, made.row.reason
    assert "2,048 elements of to" in str(made.verdict)


def test_every_kind_of_image(write: Any, device: Device) -> None:
    form = "rgba,unsigned_int32"
    arguments = {"a": f"image:{form}:64", "b": f"image:{form}:64", "c": f"image:{form}:64x3", "d": f"image:{form}:64x3x2",
                 "e": f"image:{form}:64x2x3", "out": "[64]"}  # fmt: skip
    made = run(write(EVERY), device, arguments=arguments, global_size=64, local_size=16)
    assert made.row.passed, made.row.reason
    assert "256 elements of out" in str(made.verdict)


def test_texels_of_an_array_reach_the_child_that_tries_the_kernel(write: Any, device: Device) -> None:
    texels = np.random.default_rng(3).random((200, 300, 4), np.float32)  # a child's command line is shorter
    arguments = {"from": Image(texels, "RGBA", "FLOAT"), "how": Sampler(), "to": "[32*16]"}
    kernel = ready_kernel(chosen_kernel(write(ZOOM), arguments=arguments, global_size=(32, 16), local_size=(8, 8)))
    made = tried_case(CaseBuilder(device, "float32"), kernel, make_problem(kernel, (1,)), device)
    assert made.row.passed, made.row.reason
    assert "2,048 elements of to" in str(made.verdict)


def test_a_wrong_image_is_found(write: Any, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter is told of other texels than the device gets."""
    path = write(BLUR)
    arguments = {"from": "image:rgba,unorm_int8:16x16", "how": "sampler:", "to": "image:rgba,unorm_int8:16x16"}
    whole = type(device).read_image

    def spoiled(self: Device, image: Any) -> np.ndarray:
        texels = whole(self, image)
        texels[5] ^= 0x80
        return texels

    monkeypatch.setattr(type(device), "read_image", spoiled)
    made: Case = run(path, device, arguments=arguments, global_size=(16, 16), local_size=(8, 8))
    assert made.row.status == RowStatus.WRONG
    assert "elements of to" in made.row.reason


def test_a_format_that_the_device_lacks_is_a_sentence(write: Any, device: Device) -> None:
    arguments = {"from": "image:ra,unsigned_int32:16x16", "how": "sampler:", "to": "[256]"}
    made = run(write(ZOOM), device, arguments=arguments, global_size=(16, 16), local_size=(8, 8))
    if made.row.passed:
        pytest.skip(f"{device.info.label} has images of RA")
    assert device.info.label in made.row.reason
    assert "has no image2d_t of RA UNSIGNED_INT32, which 'from' is" in made.row.reason


def test_a_device_without_images_is_named(device: Any) -> None:
    class Without:
        image_support = 0

    with pytest.raises(Unsupported, match="has no images, and the kernel's argument is a image2d_t a") as refusal:
        check_support(Without(), device.info, "image2d_t a")
    assert device.info.label in str(refusal.value)


def test_images_count_once_as_buffers_do(write: Any) -> None:
    arguments = {"from": "image:rgba,float:64x32", "how": "sampler:", "to": "image:rgba,unorm_int8:64x32"}
    kernel = ready_kernel(chosen_kernel(write(BLUR), arguments=arguments, global_size=(64, 32), local_size=(8, 8)))
    assert compulsory_bytes(make_problem(kernel, (1,))) == 64 * 32 * (16 + 4)


def test_run_measures_it(write: Any, device: Device) -> None:
    found = tilewright.run(
        write(BLUR), arguments={"from": "image:rgba,float:64x64", "how": "sampler:", "to": "image:rgba,float:64x64"},
        global_size=(64, 64), local_size=(8, 8), device=device, seconds=0.2,
    )  # fmt: skip
    (row,) = found.record.rows
    assert row.passed, row.reason
    assert row.samples.device
