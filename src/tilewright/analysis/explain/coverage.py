"""Which elements of each buffer were read and written. A wrong index often shows as elements that were left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.language import Sentence, translated
from .simt.segments import Segment

_MOST_ELEMENTS = 1 << 26  # of a buffer, above which elements are not followed
_FEW = 8  # places of one pattern, up to which repeated offsets are not removed first
Flags = npt.NDArray[np.bool_]
_ONE = {"column": Sentence("column"), "row": Sentence("row"), "element": Sentence("element")}
_SEVERAL = {"column": Sentence("columns"), "row": Sentence("rows"), "element": Sentence("elements")}


@dataclass(frozen=True)
class Coverage:
    """How many of a buffer's elements the executed groups read and wrote, and how many were written by several work-items
    without a barrier between. `gap` says which elements were never written (or never read, if none was written). An element
    has `itemsize` bytes. `rest` says which elements were left out at the ends of rows or of the whole buffer, "" if none: when
    only some groups were run, these are what no group will reach. `touched_bytes` were read or written, in so many `sectors`,
    `group_bytes` by the first group."""

    buffer: str
    elements: int
    read: int
    written: int
    contested: int
    gap: str
    itemsize: int
    rest: str = ""
    touched_bytes: int = 0
    sectors: int = 0
    group_bytes: int = 0


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

    def coverage(self, sector: int) -> Coverage:
        contested = self.segment.contested
        shared = 0
        if contested is not None:
            room = len(self.read) * self.itemsize
            shared = int(contested[:room].reshape(-1, self.itemsize).any(axis=1).sum())
        written = int(self.written.sum())
        missing = ~(self.written if written else self.read)
        read = int(self.read.sum())
        gap = gap_of(missing, self.shape)
        touched = self.read | self.written
        sectors = np.unique(np.flatnonzero(touched) * self.itemsize // sector).size
        return Coverage(
            self.segment.name, len(self.read), read, written, shared, gap, self.itemsize, rest_of(missing),
            int(touched.sum()) * self.itemsize, sectors, int(self.first_group.sum()) * self.itemsize,
        )  # fmt: skip


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
    rest = rest_of(missing)
    whole = rest.startswith("the last") and missing.mean() < 0.5
    return rest if whole else _stretch("element", np.flatnonzero(missing))


def rest_of(missing: Flags) -> str:
    """`the last 8 of every 40 elements`, or `elements 96 to 99`, if what is missing ends rows that are touched as far as that,
    or the whole buffer. Rows that are missing as a whole do not matter."""
    if missing.all() or not missing[-1:].any():
        return ""
    edges = np.flatnonzero(np.diff(np.concatenate(([True], missing, [True])).astype(np.int8)))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]  # the stretches that are touched
    if len(starts) == 1:
        return "" if starts[0] else _stretch("element", np.flatnonzero(missing))
    row, length = int(np.diff(starts).min()), int(lengths[0])
    regular = not (starts % row).any() and (lengths == length).all() and missing.size % row == 0
    if regular and length < row and starts[-1] + row == missing.size:
        return Sentence("the last {count:,} of every {row:,} elements", count=row - length, row=row)
    return "" if starts[0] else _tail(missing, int(edges[-1]))


def _tail(missing: Flags, end: int) -> str:
    """The elements behind the last one that was touched."""
    return _stretch("element", np.arange(end, missing.size))


def _stretch(name: str, numbers: npt.NDArray[np.int64]) -> str:
    first, last = int(numbers[0]), int(numbers[-1])
    if first == last:
        return Sentence("{name} {first:,}", name=_ONE[name], first=first)
    if last - first + 1 == len(numbers):
        return Sentence("{names} {first:,} to {last:,}", names=_SEVERAL[name], first=first, last=last)
    return Sentence("{name} {first:,} is the first, {last:,} the last", name=_ONE[name], first=first, last=last)


def coverage_notes(coverages: Iterable[Coverage], run: int, count: int, with_last: bool = False) -> list[str]:
    """Sentences about elements that were left out when `run` of `count` groups were run, `with_last` the last one
    among them."""
    lines = []
    for each in coverages:
        if not each.read + each.written:
            continue
        left = each.elements - (each.written or each.read)
        if run == count and left:
            lines.append(_left_out(each, left))
        elif each.written and each.written * count < 0.75 * each.elements * run:
            lines.append(
                translated(
                    "{buffer}: the {run:,} of {count:,} work-groups that were run write {written:,} of its {elements:,} "
                    "elements; if the others write as many, some elements are never written",
                    buffer=each.buffer, run=run, count=count, written=each.written, elements=each.elements,
                )
            )  # fmt: skip
        elif each.rest and run < count and with_last:
            lines.append(_dropped(each, run, count))
        if each.contested:
            lines.append(
                translated(
                    "{buffer}: {count:,} elements are written by more than one work-item",
                    buffer=each.buffer, count=each.contested,
                )
            )  # fmt: skip
    return lines


def _left_out(each: Coverage, left: int) -> str:
    values = {
        "buffer": each.buffer, "share": 100 * (each.elements - left) / each.elements, "elements": each.elements, "left": left,
        "gap": each.gap,
    }  # fmt: skip
    if each.written:
        return translated(
            "{buffer}: {share:.3g}% of its {elements:,} elements are written, {left:,} never: {gap}", **values
        )
    return translated("{buffer}: {share:.3g}% of its {elements:,} elements are read, {left:,} never: {gap}", **values)


def _dropped(each: Coverage, run: int, count: int) -> str:
    values = {"buffer": each.buffer, "run": run, "count": count, "rest": each.rest}
    if each.written:
        return translated(
            "{buffer}: none of the {run:,} of {count:,} work-groups that were run writes {rest}, though the last one is among "
            "them: a rest may be dropped",
            **values,
        )
    return translated(
        "{buffer}: none of the {run:,} of {count:,} work-groups that were run reads {rest}, though the last one is among them: "
        "a rest may be dropped",
        **values,
    )
