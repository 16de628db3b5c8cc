"""Blocks of memory between guard pages and fences of known bytes, and arrays in them."""

import ctypes
import mmap
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .cases import Lie

PAGE = mmap.PAGESIZE
PROT_NONE = 0
NANS = 0xFF  # every float made of such bytes is a NaN: what should not have been read shows
INTEGERS = 0xA5  # -1 is too common a number to stand for "not touched"


@cache
def _protect() -> Any:
    """The C library's mprotect, or None where pages are not guarded: the fences remain."""
    if not sys.platform.startswith("linux"):
        return None
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


def guarded(nbytes: int, poison: int) -> np.ndarray:
    """Whole pages for `nbytes` and more, filled with `poison`; the pages before and behind end whoever touches them."""
    pages = max(1, -(-nbytes // PAGE))
    whole = np.frombuffer(mmap.mmap(-1, (pages + 2) * PAGE), np.uint8)
    address = whole.ctypes.data
    protect = _protect()
    for guard in (address, address + (pages + 1) * PAGE) if protect else ():
        if protect(guard, PAGE, PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect refused to guard a page")
    inner = whole[PAGE : (pages + 1) * PAGE]
    inner[:] = poison
    return inner


@dataclass(frozen=True)
class Geometry:
    """An array's place in bytes: strides, its lowest byte from the first element on (0 or negative), and its span."""

    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...]
    low: int
    span: int

    def view(self, block: np.ndarray, begin: int) -> np.ndarray:
        """The array whose span begins at byte `begin` of `block`, which is its base, as of a caller's views."""
        if 0 in self.shape:
            return np.ndarray(self.shape, self.dtype, block, max(0, min(begin, block.nbytes)), self.strides)
        return np.ndarray(self.shape, self.dtype, block, begin - self.low, self.strides)


def geometry(shape: tuple[int, ...], dtype: np.dtype, lie: Lie) -> Geometry:
    """Where the elements of an array of that shape lie."""
    rank = len(shape)
    steps = [lie.steps[rank - 1 - axis] if rank - 1 - axis < len(lie.steps) else 1 for axis in range(rank)]
    strides, reach = [0] * rank, dtype.itemsize
    for number, axis in enumerate(_nearest_first(rank, lie.order)):
        stride = reach * abs(steps[axis]) + (lie.pad if number == 1 else 0)
        strides[axis] = stride if steps[axis] > 0 else -stride
        if steps[axis] == 0:
            strides[axis] = 0
        else:
            reach = max(reach, stride * max(shape[axis], 1))
    ends = [(side - 1) * stride for side, stride in zip(shape, strides, strict=True)]
    if 0 in shape:
        return Geometry(shape, dtype, tuple(strides), 0, 0)
    low = sum(min(end, 0) for end in ends)
    return Geometry(shape, dtype, tuple(strides), low, sum(map(abs, ends)) + dtype.itemsize)


def _nearest_first(rank: int, order: str) -> list[int]:
    """The axes, the one whose neighbours are nearest in memory first."""
    axes = list(range(rank))[::-1]
    if rank < 2 or order == "rows":
        return axes
    if order == "columns":
        return axes[::-1]
    if order == "swapped":
        return [axes[1], axes[0], *axes[2:]]
    return [axes[-1], *axes[:-1]]


@dataclass
class Block:
    """Bytes that one or two arrays lie in. `data` is what may be touched, `before` what it held when the call began."""

    data: np.ndarray
    origin: int  # where the block begins in `data`: the bytes around it are fences
    before: np.ndarray

    def freeze(self) -> None:
        """Remember what the bytes are now."""
        self.before = self.data.copy()

    def changed(self, now: np.ndarray, allowed: tuple[tuple[Geometry, int], ...]) -> int | None:
        """The first byte that differs in `now`, counted from the block's beginning, those of the elements of the arrays
        aside that begin at these places; None if there is none."""
        bytes_now = now.copy()
        for place, begin in allowed:
            place.view(bytes_now, self.origin + begin)[...] = place.view(self.before, self.origin + begin)
        differing = np.flatnonzero(bytes_now != self.before)
        return int(differing[0]) - self.origin if differing.size else None


def host_block(nbytes: int, poison: int, at_end: bool, shift: int) -> Block:
    """A block against the guard page before it or behind it, `shift` bytes away from that page."""
    data = guarded(nbytes + shift, poison)
    origin = data.nbytes - nbytes - shift if at_end else shift
    return Block(data, origin, data)


DEVICE_FENCE = 512


def device_block(nbytes: int, poison: int) -> Block:
    """The bytes of a device's buffer, with fences on both sides."""
    data = np.full(nbytes + 2 * DEVICE_FENCE, poison, np.uint8)
    return Block(data, DEVICE_FENCE, data)
