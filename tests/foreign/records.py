"""What the tables of foreign-style kernels are made of: a kernel with its launch, and makers of its arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilewright.analysis.explain import LocalMemory

Maker = Callable[[np.random.Generator], np.ndarray]
Given = Maker | np.ndarray | LocalMemory | np.generic | int | float | tuple[float, ...]


@dataclass(frozen=True)
class Foreign:
    """A kernel in the file `name`.cl. `entry` is `name` if left out. Of the arguments, a plain int is an `int` and a plain
    float a `float`; a maker makes a buffer; a NumPy array is a structure or vector by value. `faults` has the kinds of faults
    that the kernel truly has; `needs` names a part of the language that not every driver and interpreter has."""

    name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Mapping[str, Given]
    macros: Mapping[str, str | int] = field(default_factory=dict)
    entry: str = ""
    faults: frozenset[str] = frozenset()
    needs: str = ""


def floats(count: int, low: float = -1.0, high: float = 1.0, dtype: str = "float32") -> Maker:
    """Random floating-point numbers."""
    return lambda random: random.uniform(low, high, count).astype(dtype)


def integers(count: int, low: int = 0, high: int = 100, dtype: str = "int32") -> Maker:
    """Random integers from low to high - 1."""
    return lambda random: random.integers(low, high, count, np.int64).astype(dtype)


def words(count: int, dtype: str = "uint32") -> Maker:
    """Random bits."""
    return lambda random: random.integers(0, 256, count * np.dtype(dtype).itemsize, np.uint8).view(dtype)


def zeros(count: int, dtype: str = "float32") -> Maker:
    return lambda random: np.zeros(count, dtype)


def filled(count: int, value: float, dtype: str = "float32") -> Maker:
    return lambda random: np.full(count, value, dtype)


def known(values: Any, dtype: str) -> Maker:
    return lambda random: np.array(values, dtype)


def as_bytes(maker: Maker) -> Maker:
    """What another maker makes, for a parameter `char*`."""
    return lambda random: maker(random).view("int8")


def structures(count: int, dtype: np.dtype, **fields: Maker) -> Maker:
    """An array of structures, each field by its maker; the rest is 0."""

    def make(random: np.random.Generator) -> np.ndarray:
        array = np.zeros(count, dtype)
        for name, maker in fields.items():
            array[name] = maker(random).reshape(array[name].shape)
        return array

    return make


def local(count: int, dtype: str = "float32") -> LocalMemory:
    """Local memory for so many elements."""
    return LocalMemory(count * np.dtype(dtype).itemsize)


def uint(value: int) -> np.uint32:
    return np.uint32(value)


def double(value: float) -> np.float64:
    return np.float64(value)


def ulong(value: int) -> np.uint64:
    return np.uint64(value)


def long(value: int) -> np.int64:
    return np.int64(value)
