"""The 32-bit addresses of local memory that PTX instructions take, and the interpreter's pointers to the same bytes.

Each local array begins at a multiple of 1024 in a window of its own, in the order in which the arrays are first named. That is
the strictest alignment that TMA and wgmma ask for; without it the kernel's own attributes would have to be read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from .compiled_code import Value
from .masks import Mask
from .segments import ORIGIN, SHIFT, Segment, round_up

ALIGNMENT = 1024
_WITHIN = (1 << SHIFT) - 1


class LocalWindow:
    """The places of the local arrays of one machine. 0 is no place."""

    def __init__(self, segments: dict[int, Segment]) -> None:
        self.segments = segments
        self.numbers: list[int] = []  # of the segments, in the order of their places
        self.starts: list[int] = []
        self.end = ALIGNMENT

    def addresses(self, pointers: Value, mask: Mask) -> Value:
        """The 32-bit address of each lane's pointer; 0 for what is no local memory, which no instruction takes."""
        pointers = np.asarray(pointers)
        numbers = pointers >> SHIFT
        out: npt.NDArray[Any] = np.zeros(pointers.shape, np.uint32)
        for number in np.unique(numbers if numbers.ndim == 0 else numbers[mask.indices]).tolist():
            if number in self.segments:
                place = self.start(number) + (pointers & _WITHIN) - ORIGIN
                out = np.where(numbers == number, place, out).astype(np.uint32)
        return out[()]

    def start(self, number: int) -> int:
        """Where a segment begins."""
        if number not in self.numbers:
            self.numbers.append(number)
            self.starts.append(self.end)
            self.end += round_up(self.segments[number].size, ALIGNMENT)
        return self.starts[self.numbers.index(number)]

    def pointers(self, addresses: Value) -> Value:
        """The interpreter's pointer for each address; 0, a wild one, for places of no array."""
        addresses = np.asarray(addresses).astype(np.int64)
        out: npt.NDArray[Any] = np.zeros(addresses.shape, np.int64)
        for number, start in zip(self.numbers, self.starts, strict=True):
            segment = self.segments[number]
            inside = (addresses >= start) & (addresses < start + round_up(segment.size, ALIGNMENT))
            out = np.where(inside, segment.address + addresses - start, out)
        return out[()]
