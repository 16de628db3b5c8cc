"""Images and samplers against drivers."""

import numpy as np
import pytest
from launches import compare

from tilewright.analysis.explain import Image, Sampler
from tilewright.runtime.opencl.device import Device

RANDOM = np.random.default_rng(11)
FLOATS = RANDOM.random((7, 5, 4), np.float32)
READ = """
__kernel void k(read_only {image} m, sampler_t s, __global {place}* at, __global {value}4* o) {{
    int i = get_global_id(0);
    o[i] = read_image{suffix}(m, s, at[i]);
}}"""
MODES = ["none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat"]


def is_nvidia(device: Device) -> bool:
    return "nvidia" in device.info.vendor.lower()


def filtered(device: Device, linear: bool = True) -> float:
    """How close a filter's values are, as a part of the largest. NVIDIA's weights have 8 bits after the point (CUDA C++
    Programming Guide, "Linear Filtering"), in each of up to three directions."""
    return 3 / 256 if linear and is_nvidia(device) else 2e-6


def places(count: int, low: float, high: float, axes: int = 2) -> np.ndarray:
    return RANDOM.uniform(low, high, (count, axes)).astype(np.float32)


def compare_reads(
    device: Device,
    texels: np.ndarray,
    sampler: Sampler,
    at: np.ndarray,
    image: str = "image2d_t",
    place: str = "float2",
) -> None:
    """Read an image at 64 places through a sampler, by the interpreter and on the device."""
    arguments = {"m": Image(texels, "RGBA", "FLOAT"), "s": sampler, "at": at, "o": np.zeros((64, 4), np.float32)}
    source = READ.format(image=image, place=place, value="float", suffix="f")
    compare(device, source, arguments, (64,), (16,), options=(), close=filtered(device, sampler.linear))


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_addressing_and_filters_of_normalized_coordinates(device: Device, mode: str, linear: bool) -> None:
    at = places(64, 0.15, 0.85) if mode == "none" else places(64, -2.3, 3.1)
    compare_reads(device, FLOATS, Sampler(True, mode, linear), at)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("mode", MODES[:3])
def test_addressing_and_filters_of_texels(device: Device, mode: str, linear: bool) -> None:
    at = places(64, 1, 4) if mode == "none" else places(64, -3, 9)
    compare_reads(device, FLOATS, Sampler(False, mode, linear), at)


@pytest.mark.parametrize("mode", ["clamp_to_edge", "clamp"])
def test_volumes(device: Device, mode: str) -> None:
    at = places(64, -0.5, 1.5, 4)
    volume = RANDOM.random((3, 5, 6, 4), np.float32)
    compare_reads(device, volume, Sampler(True, mode, True), at, "image3d_t", "float4")


FORMATS = [
    ("RGBA", "UNORM_INT8", "u1", "f", "float"),
    ("RGBA", "UNORM_INT16", "u2", "f", "float"),
    ("RGBA", "SNORM_INT8", "i1", "f", "float"),
    ("RGBA", "SNORM_INT16", "i2", "f", "float"),
    ("BGRA", "UNORM_INT8", "u1", "f", "float"),
    ("RGBA", "HALF_FLOAT", "f2", "f", "float"),
    ("RGBA", "UNSIGNED_INT8", "u1", "ui", "uint"),
    ("RGBA", "SIGNED_INT16", "i2", "i", "int"),
    ("RGBA", "UNSIGNED_INT32", "u4", "ui", "uint"),
    ("R", "FLOAT", "f4", "f", "float"),
    ("RG", "FLOAT", "f4", "f", "float"),
    ("R", "UNSIGNED_INT32", "u4", "ui", "uint"),
]


@pytest.mark.parametrize(("order", "stored", "code", "suffix", "value"), FORMATS)
def test_formats_and_the_border(device: Device, order: str, stored: str, code: str, suffix: str, value: str) -> None:
    if not has_format(device, order, stored):
        pytest.skip(f"{device.info.platform} has no images of {order} {stored}")
    if order in ("R", "RG") and "Portable" in device.info.platform:
        pytest.skip("PoCL gives images of one or two channels an alpha of 0; the specification says 1")
    channels = len(order)
    if code[0] == "f":
        texels = RANDOM.uniform(-2, 2, (5, 6, channels)).astype(code)
    else:
        limits = np.iinfo(code)
        texels = RANDOM.integers(limits.min, limits.max, (5, 6, channels), dtype=np.int64).astype(code)
        texels[0, 0] = limits.min
    at = RANDOM.integers(-2, 8, (64, 2)).astype(np.int32)
    arguments = {
        "m": Image(texels, order, stored),
        "s": Sampler(False, "clamp"),
        "at": at,
        "o": np.zeros((64, 4), {"float": "f4", "uint": "u4", "int": "i4"}[value]),
    }
    source = READ.format(image="image2d_t", place="int2", value=value, suffix=suffix)
    compare(device, source, arguments, (64,), (16,), options=(), close=1.5e-7 if value == "float" else 0)


def has_format(device: Device, order: str, stored: str) -> bool:
    import pyopencl as cl

    formats = cl.get_supported_image_formats(device.context, cl.mem_flags.READ_WRITE, cl.mem_object_type.IMAGE2D)
    wanted = getattr(cl.channel_order, order), getattr(cl.channel_type, stored)
    return any((each.channel_order, each.channel_data_type) == wanted for each in formats)


WRITE = """
__kernel void k(write_only image2d_t m, __global {value}4* a) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < get_image_width(m) && y < get_image_height(m)) write_image{suffix}(m, (int2)(x, y), a[y * 8 + x]);
}}"""


@pytest.mark.parametrize(("order", "stored", "code", "suffix", "value"), FORMATS)
def test_writes(device: Device, order: str, stored: str, code: str, suffix: str, value: str) -> None:
    if not has_format(device, order, stored):
        pytest.skip(f"{device.info.platform} has no images of {order} {stored}")
    if value == "float":
        colours = RANDOM.uniform(-1.3, 1.3, (64, 4)).astype(np.float32)
    else:
        colours = RANDOM.integers(0 if value == "uint" else -70000, 70000, (64, 4)).astype(
            {"uint": "u4", "int": "i4"}[value]
        )
    arguments = {"m": Image(np.zeros((5, 7, len(order)), code), order, stored), "a": colours}
    # NVIDIA rounds towards zero where the specification prefers the nearest
    unit = {"u1": 1 / 255, "u2": 1 / 65535, "i1": 1 / 127, "i2": 1 / 32767, "f2": 2**-10}.get(code, 0)
    close = unit if is_nvidia(device) and value == "float" else 0
    compare(device, WRITE.format(value=value, suffix=suffix), arguments, (8, 8), (8, 8), options=(), close=close)


def test_samplers_in_the_source_and_questions(device: Device) -> None:
    source = """
constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
float4 at(read_only image2d_t m, sampler_t how, int x, int y) { return read_imagef(m, how, (int2)(x, y)); }
__kernel void k(read_only image2d_t m, __global float* o, __global int* q) {
    const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    o[i] = at(m, s, i - 2, i % 3).x + read_imagef(m, edge, (float2)(i - 3.5f, 2.5f)).y;
    if (i < 8 && i > 2) o[i] += read_imagef(m, (int2)(i - 3, 1)).z;
    if (i == 0) {
        int2 d = get_image_dim(m);
        q[0] = get_image_width(m); q[1] = get_image_height(m); q[2] = d.x * 100 + d.y;
        q[3] = get_image_channel_order(m) == CLK_RGBA; q[4] = get_image_channel_data_type(m) == CLK_FLOAT;
    }
}"""
    arguments = {"m": Image(FLOATS, "RGBA", "FLOAT"), "o": np.zeros(16, np.float32), "q": np.zeros(5, np.int32)}
    compare(device, source, arguments, (16,), (8,), options=("-cl-std=CL1.2",), close=1e-6)


def test_buffer_images_are_arrays(device: Device) -> None:
    if "Portable" in device.info.platform:
        pytest.skip("kernels with buffer images end PoCL's process")
    source = """
__kernel void k(read_only image1d_buffer_t m, __global float4* o) {
    int i = get_global_id(0);
    o[i] = read_imagef(m, i * 7 % 64) + (float4)(get_image_width(m));
}"""
    arguments = {"m": Image(RANDOM.random((64, 4), np.float32), "RGBA", "FLOAT"), "o": np.zeros((64, 4), np.float32)}
    compare(device, source, arguments, (64,), (16,), options=("-cl-std=CL1.2",))
