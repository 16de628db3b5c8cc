"""What image and sampler arguments get: texels of a file or random ones, in the format that was given or that the kernel
reads."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.argument_words import ImageWord, SamplerWord, read_word
from ...core.own_problem import MOST_RANDOM, SEED, read_array
from ...core.problems import host_bytes
from ...errors import InvalidInput
from ..explain.clc.image_types import SAMPLER, ImageType
from ..explain.clc.tree import Call, Function, Program
from ..explain.clc.types import Type
from ..explain.clc.walk import called_functions, nodes_of
from ..explain.simt.images import Image, Sampler, channels_of, described, read_format, read_sampler, texel_dtype
from .buffers import MOST_BYTES
from .elements import Names, given_text, number_of

OTHER_SIDE = 16  # of an image that has more axes than the NDRange
SAMPLER_WORD = "sampler:clamp_to_edge,nearest"
# The type of channels that each function reads and writes. Floats hold whatever a normalised format has.
READ_TYPES = {"imagef": "FLOAT", "imagei": "SIGNED_INT32", "imageui": "UNSIGNED_INT32", "imageh": "HALF_FLOAT"}


def is_image(kind: Type) -> bool:
    """Whether an argument of this type is an image or a sampler, which have words of their own."""
    return isinstance(kind, ImageType) or kind is SAMPLER


def image_value(
    name: str, kind: Type, given: object, names: Names, program: Program, entry: Function
) -> Image | Sampler:
    """The value of an image or sampler argument. `given` is a word, an array, an Image or a Sampler.

    InvalidInput for anything else, and for texels that do not suit the image's type.
    """
    word = read_word(given) if isinstance(given, str) else given
    if kind is SAMPLER:
        return _sampler(name, word)
    assert isinstance(kind, ImageType)
    if isinstance(word, np.ndarray):
        word = Image(word)
    if isinstance(word, ImageWord):
        word = _of_word(name, kind, word, names, usual_type(name, program, entry))
    if not isinstance(word, Image):
        raise InvalidInput(
            f"{name}={given_text(given)}: {name} is an {kind}: give its format and its texels along each axis, such as "
            f"{name}=image:rgba,unorm_int8:{'x'.join(['64'] * kind.coordinates)}, or a file, {name}=image:rgba:texels.npy"
        )
    described(name, word, kind)
    return word


def _sampler(name: str, word: object) -> Sampler:
    if isinstance(word, Sampler):
        return word
    if not isinstance(word, SamplerWord):
        raise InvalidInput(
            f"{name}={given_text(word)}: {name} is a sampler: give {name}=sampler:repeat,linear,normalized"
        )
    return read_sampler(word.words)


def _of_word(name: str, kind: ImageType, word: ImageWord, names: Names, usual: str) -> Image:
    order, stored = read_format(word.format)
    if word.path:
        return Image(read_array(word.path), order, stored)
    sides = [number_of(each, names, name) for each in word.sides]
    if len(sides) != kind.coordinates or not all(isinstance(each, int) and each >= 1 for each in sides):
        raise InvalidInput(
            f"{name}=image:...:{'x'.join(word.sides)}: {name} is an {kind}, so give {kind.coordinates} whole numbers of "
            "at least 1, x first"
        )
    order, stored = order or ("R" if kind.depth else "RGBA"), stored or usual
    shape, dtype = (*map(int, reversed(sides)), channels_of(order)), texel_dtype(stored)
    most = min(filter(None, (MOST_BYTES, host_bytes() // 2)))
    if prod(shape) * dtype.itemsize > most:
        raise InvalidInput(
            f"{name}: {prod(shape) * dtype.itemsize:,} bytes are more than the {most:,} of an image here"
        )
    return Image(_random(name, shape, dtype, stored), order, stored)


def _random(name: str, shape: Sequence[int], dtype: "np.dtype[Any]", stored: str) -> np.ndarray:
    """Texels, the same in each run: floats in [0, 1), normalised integers of all values, others below MOST_RANDOM."""
    generator = np.random.default_rng((SEED, *name.encode()))
    if dtype.kind == "f":
        return generator.random(shape, np.float32).astype(dtype)
    whole = np.iinfo(dtype).max + 1 if "NORM" in stored else MOST_RANDOM
    return generator.integers(0, whole, shape).astype(dtype)


def guessed_word(name: str, kind: Type, global_size: Sequence[int], program: Program, entry: Function) -> str:
    """The word for an image or sampler that nobody gave: a texel for each work-item, in a format that the kernel reads."""
    if not isinstance(kind, ImageType):
        return SAMPLER_WORD
    sides = (*global_size, OTHER_SIDE, OTHER_SIDE)[: kind.coordinates]
    order = "r" if kind.depth else "rgba"
    return f"image:{order},{usual_type(name, program, entry).lower()}:{'x'.join(map(str, sides))}"


def usual_type(name: str, program: Program, entry: Function) -> str:
    """The type of channels that the kernel's calls for this image want; for images of other functions, that of any call."""
    found: list[tuple[bool, str]] = []
    for function in called_functions(program, entry.name):
        for call in (each for each in nodes_of(function.body) if isinstance(each, Call)):
            kind = READ_TYPES.get(call.name.partition("_")[2])
            if kind is not None and call.name.startswith(("read_", "write_")) and call.arguments:
                found.append((getattr(call.arguments[0], "name", "") == name, kind))
    return max(found, key=lambda each: each[0], default=(False, "FLOAT"))[1]
