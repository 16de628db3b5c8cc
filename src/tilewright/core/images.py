"""Images and samplers as plain data: what a launch gives to the parameters that are neither pointers nor numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .source import Signature

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it
    import numpy.typing as npt

# The channel types of OpenCL as NumPy stores them. Packed ones are not here.
CHANNEL_DTYPES = {
    "SNORM_INT8": "i1", "SNORM_INT16": "i2", "UNORM_INT8": "u1", "UNORM_INT16": "u2", "SIGNED_INT8": "i1",
    "SIGNED_INT16": "i2", "SIGNED_INT32": "i4", "UNSIGNED_INT8": "u1", "UNSIGNED_INT16": "u2", "UNSIGNED_INT32": "u4",
    "HALF_FLOAT": "f2", "FLOAT": "f4",
}  # fmt: skip
IMAGE_TYPES = (
    "image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image2d_depth_t",
    "image2d_array_depth_t", "image3d_t",
)  # fmt: skip
SAMPLER_TYPE = "sampler_t"


def image_parameters(signature: Signature) -> list[str]:
    """The parameters that are images or samplers: "image2d_t picture"."""
    return [f"{each.ctype} {each.name}" for each in signature.parameters if each.ctype in (*IMAGE_TYPES, SAMPLER_TYPE)]


@dataclass(frozen=True)
class ImageValue:
    """An image: the bytes of its texels before the launch, row by row, with the words of OpenCL for the order (RGBA ...) and type
    (UNORM_INT8 ...) of its channels. `sides` are its texels along x, y, and z or layers."""

    data: npt.NDArray[np.uint8]
    order: str
    type: str
    sides: tuple[int, ...]

    def texels(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Bytes of as many texels as the image has, as an array ([layers or depth,] [rows,] columns, channels)."""
        return raw.view(CHANNEL_DTYPES[self.type]).reshape(*reversed(self.sides), -1)

    @property
    def normalised(self) -> bool:
        """Whether its integers stand for numbers from 0 or -1 to 1, so that writes round."""
        return "NORM" in self.type


@dataclass(frozen=True)
class SamplerValue:
    """A sampler. `addressing` is none, clamp_to_edge, clamp, repeat or mirrored_repeat."""

    normalized: bool
    addressing: str
    linear: bool
