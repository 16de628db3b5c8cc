"""Which elements of each buffer were read and written. A wrong index often shows as elements that were left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .simt.segments import Segment

_MOST_ELEMENTS = 1 << 26  # of a buffer, above which elements are not followed
_FEW = 8  # places of one pattern, up to which repeated offsets are not removed first
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Coverage:
    """How many of a buffer's elements the executed groups read and wrote, and how many were written by several work-items
    without a barrier between. `gap` says which elements were never written (or never read, if none was written). An element
    has `itemsize` bytes."""

    buffer: str
    elements: int
    read: int
    written: int
    contested: int
    gap: str
    itemsize: int


class Touched:
    """The elements of one buffer that were read and written so far."""

    def __init__(self, segment: Segment, shape: tuple[int, ...], itemsize: int) -> None:
        self.segment, self.shape, self.itemsize = segment, shape, itemsize
        elements = segment.size // itemsize
        self.read, self.written = np.zeros(elements, bool), np.zeros(elements, bool)
        self.first_group = np.zeros(elements, bool)

    def enter(self, operation: str, offsets: npt.NDArray[np.int64], bases: Iterable[int], size: int) -> None:
        """An access of `size` bytes at each of `offsets` beyond each of `bases`."""
        starts = np.fromiter(bases, np.int64)
        if len(starts) > _FEW:
            offsets = np.unique(offsets)
        first = (offsets + starts[:, None]).ravel()
        flags = [self.read] * (operation != "store") + [self.written] * (operation != "load")
        for at in (*range(0, size, self.itemsize), size - 1):
            elements = (first + at) // self.itemsize
            for each in flags:
                each[elements] = True

    def enter_first_group(self, offsets: npt.NDArray[np.int64], bases: Iterable[int], size: int) -> None:
        """As `enter`, for the first work-group that is run."""
        starts = np.fromiter(bases, np.int64)
        first = (np.unique(offsets) + starts[:, None]).ravel()
        for at in (*range(0, size, self.itemsize), size - 1):
            self.first_group[(first + at) // self.itemsize] = True

    def coverage(self) -> Coverage:
        contested = self.segment.contested
        shared = 0
        if contested is not None:
            room = len(self.read) * self.itemsize
            shared = int(contested[:room].reshape(-1, self.itemsize).any(axis=1).sum())
        written = int(self.written.sum())
        missing = ~(self.written if written else self.read)
        read = int(self.read.sum())
        gap = gap_of(missing, self.shape)
        return Coverage(self.segment.name, len(self.read), read, written, shared, gap, self.itemsize)


def may_be_followed(segment: Segment, itemsize: int) -> bool:
    return 0 < segment.size // itemsize <= _MOST_ELEMENTS


def gap_of(missing: Flags, shape: tuple[int, ...]) -> str:
    """`columns 96 to 99`, `rows 3 to 4`, or the first element that is missing; empty if none is."""
    if not missing.any():
        return ""
    if len(shape) == 2 and missing.size == shape[0] * shape[1]:
        table: Any = missing.reshape(shape)
        for name, whole in (("column", table.all(axis=0)), ("row", table.all(axis=1))):
            if whole.any() and table.sum() == whole.sum() * (table.size // whole.size):
                return _stretch(name, np.flatnonzero(whole))
    return _stretch("element", np.flatnonzero(missing))


def _stretch(name: str, numbers: npt.NDArray[np.int64]) -> str:
    first, last = int(numbers[0]), int(numbers[-1])
    if first == last:
        return f"{name} {first:,}"
    if last - first + 1 == len(numbers):
        return f"{name}s {first:,} to {last:,}"
    return f"{name} {first:,} is the first, {last:,} the last"


def coverage_notes(coverages: Iterable[Coverage], run: int, count: int) -> list[str]:
    """Sentences about elements that were left out when `run` of `count` groups were run."""
    lines = []
    for each in coverages:
        if not each.read + each.written:
            continue
        left = each.elements - (each.written or each.read)
        verb = "written" if each.written else "read"
        if run == count and left:
            share = 100 * (each.elements - left) / each.elements
            lines.append(
                f"{each.buffer}: {share:.3g}% of its {each.elements:,} elements are {verb}, {left:,} never: {each.gap}"
            )
        elif each.written and each.written * count < 0.75 * each.elements * run:
            lines.append(
                f"{each.buffer}: the {run:,} of {count:,} work-groups that were run write {each.written:,} of its "
                f"{each.elements:,} elements; if the others write as many, some elements are never written"
            )
        if each.contested:
            lines.append(f"{each.buffer}: {each.contested:,} elements are written by more than one work-item")
    return lines
