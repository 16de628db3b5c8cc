"""Reads kernel arguments from the command line's words: buffers, numbers, vectors, local memory."""

import re

import numpy as np

from ..errors import InvalidInput
from .simt import Argument, LocalMemory

_BUFFER = re.compile(r"(?P<dtype>u?int(?:8|16|32|64)|float(?:16|32|64))\[(?P<shape>\d+(?:[x,]\d+)*)\]$")
_HELP = "such as A=float32[64x64], n=64, alpha=1.5, v=(1,2,3,4) or tile=local:1024"


def read_argument(text: str, seed: int = 0) -> tuple[str, Argument]:
    """`name=value` as (name, argument). Buffers are filled with numbers that hide no mistake: floats uniform in
    [-0.5, 0.5), small integers that differ."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name.isidentifier() or not value:
        raise InvalidInput(f"{text!r} is no argument: name=value, {_HELP}")
    buffer = _BUFFER.match(value)
    if buffer is not None:
        shape = tuple(int(size) for size in re.split("[x,]", buffer["shape"]))
        return name, _filled(np.dtype(buffer["dtype"]), shape, seed)
    if value.startswith("local:") and value[6:].isdigit():
        return name, LocalMemory(int(value[6:]))
    if value.startswith("(") and value.endswith(")"):
        return name, [_number(text, each) for each in value[1:-1].split(",")]
    return name, _number(text, value)


def _number(text: str, value: str) -> float | int:
    for kind in (lambda word: int(word, 0), float):
        try:
            number: float | int = kind(value.strip())
            return number
        except ValueError:
            continue
    raise InvalidInput(f"{text!r}: {value!r} is neither a number nor a buffer; {_HELP}")


def _filled(dtype: "np.dtype[np.generic]", shape: tuple[int, ...], seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if dtype.kind == "f":
        return (generator.random(shape) - 0.5).astype(dtype)
    return (np.arange(int(np.prod(shape))) % 101).astype(dtype).reshape(shape)
