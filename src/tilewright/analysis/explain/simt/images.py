"""Images and samplers as a caller gives them, and images as the kernel sees them: texels behind a segment of memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.images import CHANNEL_DTYPES, ImageValue, SamplerValue
from ....errors import InvalidInput
from ..clc.image_types import (
    ADDRESSING,
    CHANNEL_TYPES,
    FILTER_LINEAR,
    FIRST_ORDER,
    FIRST_TYPE,
    NORMALIZED,
    ORDERS,
    ImageType,
)
from ..clc.types import Type
from .segments import Segment

# Which stored channel each of red, green, blue and alpha is; "0" and "1" are constants. 5.3.1.1 of the OpenCL specification.
COMPONENTS: Mapping[str, tuple[int | str, ...]] = {
    "R": (0, "0", "0", "1"),
    "A": ("0", "0", "0", 0),
    "RG": (0, 1, "0", "1"),
    "RA": (0, "0", "0", 1),
    "RGB": (0, 1, 2, "1"),
    "RGBA": (0, 1, 2, 3),
    "BGRA": (2, 1, 0, 3),
    "ARGB": (1, 2, 3, 0),
    "ABGR": (3, 2, 1, 0),
    "INTENSITY": (0, 0, 0, 0),
    "LUMINANCE": (0, 0, 0, "1"),
    "DEPTH": (0, "0", "0", "1"),
}
OPAQUE_BORDER = ("R", "RG", "RGB", "LUMINANCE", "DEPTH")  # of which the border's alpha is 1; 8.2 of the specification
_OF_DTYPE = {
    "i1": "SIGNED_INT8", "i2": "SIGNED_INT16", "i4": "SIGNED_INT32", "u1": "UNSIGNED_INT8", "u2": "UNSIGNED_INT16",
    "u4": "UNSIGNED_INT32", "f2": "HALF_FLOAT", "f4": "FLOAT",
}  # fmt: skip


@dataclass(frozen=True)
class Image:
    """The argument for an image: texels as an array ([layers or depth,] [rows,] columns[, channels]), row-major.

    The last axis may also hold the channels of all texels of a row one after the other. `order` is a word of `COMPONENTS`
    (RGBA, R, BGRA ...); empty means the one that fits 1, 2, 3 or 4 channels. `type` is how a channel is stored (UNORM_INT8, FLOAT
    ...); empty means the array's own numbers: read_imagef wants UNORM_INT8 of bytes, read_imageui UNSIGNED_INT8.
    """

    array: npt.NDArray[Any]
    order: str = ""
    type: str = ""


@dataclass(frozen=True)
class Sampler:
    """The argument for a `sampler_t`. `addressing` is none, clamp_to_edge, clamp, repeat or mirrored_repeat."""

    normalized: bool = False
    addressing: str = "clamp_to_edge"
    linear: bool = False

    @property
    def bits(self) -> int:
        """The sampler as the constant that a source would write."""
        if self.addressing not in ADDRESSING:
            raise InvalidInput(f"a sampler's addressing is one of {', '.join(ADDRESSING)}, not {self.addressing!r}")
        return NORMALIZED * self.normalized | ADDRESSING[self.addressing] | (FILTER_LINEAR if self.linear else 0x10)


def read_format(words: str) -> tuple[str, str]:
    """The order and type of an image's channels from words such as `RGBA`, `rgba,unorm_int8` or `R,FLOAT`, in any case.

    InvalidInput names the words that exist."""
    order = kind = ""
    orders, kinds = {each.lower(): each for each in COMPONENTS}, {each.lower(): each for each in CHANNEL_DTYPES}
    for word in filter(None, (each.strip().lower() for each in words.split(","))):
        if word in orders:
            order = orders[word]
        elif word in kinds:
            kind = kinds[word]
        else:
            known = f"an order ({', '.join(COMPONENTS)}) or a type ({', '.join(CHANNEL_DTYPES)}) of channels"
            raise InvalidInput(f"{word!r} in the format {words!r} of an image is not {known}")
    return order, kind


def texel_dtype(kind: str) -> "np.dtype[Any]":
    """NumPy's type of a channel of this type, a word of `read_format`."""
    return np.dtype(CHANNEL_DTYPES[kind])


def read_sampler(words: str) -> Sampler:
    """A sampler from words such as `clamp`, `repeat,linear,normalized`; InvalidInput names the words that exist."""
    given = [each.strip().lower() for each in words.split(",") if each.strip()]
    addressing = [each for each in given if each in ADDRESSING]
    unknown = [each for each in given if each not in (*ADDRESSING, "linear", "nearest", "normalized", "unnormalized")]
    if unknown or len(addressing) > 1:
        raise InvalidInput(
            f"a sampler is one of {', '.join(ADDRESSING)}, with linear or nearest, and normalized or unnormalized; "
            f"not {words!r}"
        )
    return Sampler("normalized" in given, (addressing or ["clamp_to_edge"])[0], "linear" in given)


@dataclass(frozen=True)
class BoundImage:
    """An image in the interpreter's memory. `extent` is (width, height, depth), 1 where there is none; `layers` of an array."""

    segment: Segment
    kind: ImageType
    extent: tuple[int, int, int]
    layers: int
    order: str
    type: str
    dtype: "np.dtype[Any]"
    channels: int

    @property
    def texel(self) -> int:
        """Bytes of a texel."""
        return self.dtype.itemsize * self.channels

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of texels along each coordinate; the last one of an array is its layers."""
        return (*self.extent[: self.kind.dimensions], *([self.layers] if self.kind.array else []))

    @property
    def codes(self) -> tuple[int, int]:
        """What get_image_channel_order and _data_type give."""
        return FIRST_ORDER + ORDERS.index(self.order), FIRST_TYPE + CHANNEL_TYPES.index(self.type)

    @property
    def numbers(self) -> str:
        """The function that reads it: f, i or ui."""
        return {"SIGNED": "i", "UNSIGNED": "ui"}.get(self.type.split("_")[0], "f")


def channels_of(order: str) -> int:
    """How many channels a texel of that order has."""
    return len({each for each in COMPONENTS[order] if isinstance(each, int)})


def image_of(texels: npt.NDArray[np.uint8], order: str, kind: str, sides: Sequence[int]) -> Image:
    """The image of these bytes, with so many texels along x, y, and z or layers. InvalidInput for a format that is not
    interpreted, and for another number of bytes."""
    if order not in COMPONENTS or kind not in CHANNEL_DTYPES:
        raise InvalidInput(
            f"an image of {order} {kind} is not interpreted: its order must be one of {', '.join(COMPONENTS)}, and its type one "
            f"of {', '.join(CHANNEL_DTYPES)}"
        )
    dtype, shape = texel_dtype(kind), (*reversed(sides), channels_of(order))
    if texels.size != dtype.itemsize * prod(shape):
        raise InvalidInput(
            f"an image of {'x'.join(map(str, sides))} texels of {order} {kind}: {texels.size:,} bytes were given"
        )
    return Image(texels.view(dtype).reshape(shape), order, kind)


def argument_of(value: Any) -> Any:
    """The value of an argument that is no pointer, as the interpreter takes it: images and samplers of plain data, all else
    unchanged. InvalidInput as for `image_of`."""
    if isinstance(value, SamplerValue):
        return Sampler(value.normalized, value.addressing, value.linear)
    if isinstance(value, ImageValue):
        return image_of(value.data, value.order, value.type, value.sides)
    return value


def plain_data(name: str, given: Image | Sampler, kind: Type) -> ImageValue | SamplerValue:
    """An image or sampler for a parameter of this type as plain data, of which runtimes make their objects. InvalidInput for
    texels that do not suit the type."""
    if isinstance(given, Sampler):
        return SamplerValue(given.normalized, given.addressing, given.linear)
    assert isinstance(kind, ImageType)
    order, stored, sizes, _ = described(name, given, kind)
    return ImageValue(np.ascontiguousarray(given.array).reshape(-1).view(np.uint8), order, stored, sizes)


def described(name: str, given: Image, kind: ImageType) -> tuple[str, str, tuple[int, ...], int]:
    """(order, type, the texels along each axis with x first, channels) of an image that is an argument for a `kind`."""
    array, axes = given.array, kind.coordinates
    order, stored = given.order, given.type or _OF_DTYPE.get(array.dtype.str[1:], "")
    if not stored or np.dtype(CHANNEL_DTYPES.get(stored, "V")) != array.dtype:
        raise InvalidInput(f"image {name!r} holds {array.dtype}, which channels of type {stored or '?'} cannot be")
    if order not in ("", *COMPONENTS):
        raise InvalidInput(f"image {name!r}: {order!r} is no order of channels; there are {', '.join(COMPONENTS)}")
    if kind.depth:
        order = "DEPTH"
    whole = array.ndim == axes + 1
    if not order:
        order = {1: "R", 2: "RG", 3: "RGB", 4: "RGBA"}.get(array.shape[-1] if whole else 1, "")
    channels = channels_of(order) if order else 0
    shape = (
        array.shape[:-1] if whole else (*array.shape[:-1], array.shape[-1] // max(channels, 1)) if array.ndim else ()
    )
    fits = array.shape[-1] == channels if whole else bool(array.ndim) and not array.shape[-1] % max(channels, 1)
    if len(shape) != axes or not channels or not fits or 0 in shape:
        wanted = f"{axes} axes, and one more for its {channels or '1 to 4'} channels"
        raise InvalidInput(f"image {name!r} is a {kind.name}: give an array of {wanted}, not of shape {array.shape}")
    return order, stored, shape[::-1], channels


def bound(segment: Segment, name: str, given: Image, kind: ImageType) -> BoundImage:
    """The image behind a segment that holds the array's bytes."""
    order, stored, sizes, channels = described(name, given, kind)
    x, y, z = (*sizes[: kind.dimensions], 1, 1)[:3]
    layers = sizes[kind.dimensions] if kind.array else 1
    return BoundImage(segment, kind, (x, y, z), layers, order, stored, np.dtype(CHANNEL_DTYPES[stored]), channels)
