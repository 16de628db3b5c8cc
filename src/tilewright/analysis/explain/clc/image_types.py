"""The types of images and samplers; 6.3.3 of the OpenCL C 3.0 specification. A sampler is its bits."""

from dataclasses import dataclass

import numpy as np

from .types import Scalar, Type


@dataclass(frozen=True)
class ImageType(Type):
    """`dimensions` are those of one layer; an `array` has layers; a `buffer` is one row of texels without filters."""

    name: str
    dimensions: int
    array: bool = False
    buffer: bool = False
    depth: bool = False

    @property
    def size(self) -> int:
        return 8

    @property
    def coordinates(self) -> int:
        """How many coordinates name a texel."""
        return self.dimensions + self.array

    def __str__(self) -> str:
        return self.name


SAMPLER = Scalar("sampler_t", np.dtype("u4"))
_IMAGES = (
    ImageType("image1d_t", 1),
    ImageType("image1d_buffer_t", 1, buffer=True),
    ImageType("image1d_array_t", 1, array=True),
    ImageType("image2d_t", 2),
    ImageType("image2d_array_t", 2, array=True),
    ImageType("image2d_depth_t", 2, depth=True),
    ImageType("image2d_array_depth_t", 2, array=True, depth=True),
    ImageType("image3d_t", 3),
)
IMAGE_TYPES: dict[str, Type] = {"sampler_t": SAMPLER, **{each.name: each for each in _IMAGES}}

NORMALIZED, FILTER_LINEAR, ADDRESS_BITS = 1, 0x20, 0xE
ADDRESSING = {"none": 0, "clamp_to_edge": 2, "clamp": 4, "repeat": 6, "mirrored_repeat": 8}
ORDERS = (
    "R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY", "LUMINANCE", "Rx", "RGx", "RGBx", "DEPTH",
    "DEPTH_STENCIL", "sRGB", "sRGBx", "sRGBA", "sBGRA", "ABGR",
)  # fmt: skip
CHANNEL_TYPES = (
    "SNORM_INT8", "SNORM_INT16", "UNORM_INT8", "UNORM_INT16", "UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010",
    "SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32", "UNSIGNED_INT8", "UNSIGNED_INT16", "UNSIGNED_INT32", "HALF_FLOAT",
    "FLOAT", "UNORM_INT24", "UNORM_INT_101010_2",
)  # fmt: skip
FIRST_ORDER, FIRST_TYPE = 0x10B0, 0x10D0  # CL_R and CL_SNORM_INT8 of cl.h

# The constants of samplers and formats, with the values of clang's opencl-c.h and Khronos' cl.h.
IMAGE_MACROS: dict[str, str] = {
    "CLK_NORMALIZED_COORDS_FALSE": "0",
    "CLK_NORMALIZED_COORDS_TRUE": str(NORMALIZED),
    "CLK_FILTER_NEAREST": "0x10",
    "CLK_FILTER_LINEAR": hex(FILTER_LINEAR),
    **{f"CLK_ADDRESS_{name.upper()}": str(value) for name, value in ADDRESSING.items()},
    **{f"CLK_{name}": hex(FIRST_ORDER + at) for at, name in enumerate(ORDERS)},
    **{f"CLK_{name}": hex(FIRST_TYPE + at) for at, name in enumerate(CHANNEL_TYPES)},
}
