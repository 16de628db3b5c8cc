"""Shadow memory: the last writer and the last readers of each cell. It finds races and unset reads.

A tag names one work-item in one epoch (the time between two barriers): epoch << ITEM_BITS | item. Two accesses to a cell
race if different items of a group make them in one epoch, or items of different groups at any time, and one writes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .compiled_code import Site
from .team_order import ITEM, Bools, Floors, Int64s, WideReaders

_PENDING_LIMIT = 1 << 22


@dataclass(slots=True)
class Touch:
    """One access of many lanes: byte offsets in the shadowed bytes (lanes,), bytes of each, and the largest power of two that
    divides them all. Reads of many iterations have a row of offsets for each."""

    offsets: Int64s
    size: int
    unit: int
    tags: Int64s
    site: Site
    lanes: npt.NDArray[np.intp] | None
    floors: Floors | None = None  # where barriers of sub-groups have been met since the last one of the work-group

    def since(self, tags: Int64s, others: Int64s) -> Int64s:
        """The tag above which an access of `others` is not ordered before `tags`."""
        return tags & ~ITEM if self.floors is None else self.floors.since(tags, others)


@dataclass(slots=True)
class Conflict:
    """A race: the kind and position of the earlier access, both tags, the byte, and whether it is between groups. `own` and
    `rivals` are the tags of all conflicts; of several readers of a cell those with the highest and the lowest number."""

    earlier: str
    site: int
    own_tag: int
    other_tag: int
    offset: int
    between_groups: bool
    count: int
    which: Bools
    own: Int64s
    rivals: tuple[Int64s, ...]


class Readers:
    """The lowest and highest tag (and group) that read each cell. They show whether another item read it."""

    def __init__(self, cells: int) -> None:
        self.highest = np.zeros(cells, np.int64)
        self.lowest = np.zeros(cells, np.int64)  # item complemented, so that both are maxima and start at 0
        self.group_high = np.zeros(cells, np.int32)
        self.group_low = np.zeros(cells, np.int32)
        self.site = np.zeros(cells, np.int32)
        self.wide: WideReaders | None = None

    def refine(self, factor: int) -> None:
        self.highest, self.lowest = self.highest.repeat(factor), self.lowest.repeat(factor)
        self.group_high, self.group_low = self.group_high.repeat(factor), self.group_low.repeat(factor)
        self.site = self.site.repeat(factor)
        if self.wide is not None:
            self.wide.refine(factor)

    def enter(self, touch: Touch, cells: Int64s, group_items: int) -> None:
        """Records an access. `group_items` is 0 for memory that groups do not share."""
        tags = _spread(touch.tags, cells)
        if touch.floors is not None and self.wide is None:
            self.wide = WideReaders(self.highest, self.lowest)
        if self.wide is not None:
            epochs = None if touch.floors is None else _spread(touch.floors.epochs, cells)
            self.wide.add(cells.ravel(), tags if epochs is None else epochs | (tags & ITEM))
        self.add(cells.ravel(), tags, touch.site.number, group_items)

    def add(self, cells: Int64s, tags: Int64s, site: int, group_items: int) -> None:
        np.maximum.at(self.highest, cells, tags)
        np.maximum.at(self.lowest, cells, complement(tags))
        if group_items:
            groups = (((tags & ITEM) - 1) // group_items + 1).astype(np.int32)
            np.maximum.at(self.group_high, cells, groups)
            np.maximum.at(self.group_low, cells, np.int32(2**31 - 1) - groups)
        self.site[cells] = site

    def _items(self, cells: Int64s, tags: Int64s, floors: Floors | None) -> tuple[Bools, Int64s, Bools, Int64s]:
        """Whether another item read these cells since the last barrier that orders both: (by the highest item, its tag, by
        the lowest, its tag)."""
        base = tags & ~ITEM
        high, low = self.highest[cells], complement(self.lowest[cells])
        by_high = (high > base) & (high != tags)
        by_low = (complement(low) > base) & (low != tags)
        if floors is None:
            return by_high, high, by_low, low
        if self.wide is None:
            self.wide = WideReaders(self.highest, self.lowest)
        wide_by_high, wide_high, wide_by_low, wide_low = self.wide.others(cells, tags, floors)
        by_high, by_low = by_high & floors.same(tags, high), by_low & floors.same(tags, low)
        high, low = np.where(wide_by_high, wide_high, high), np.where(wide_by_low, wide_low, low)
        return by_high | wide_by_high, high, by_low | wide_by_low, low

    def others(
        self, cells: Int64s, tags: Int64s, group_items: int, floors: Floors | None = None
    ) -> tuple[Bools, Int64s, Int64s, Bools]:
        """Cells that another item read: (cells, its tag, that of another such item, whether only another group read)."""
        by_high, high, by_low, low = self._items(cells, tags, floors)
        if not group_items:
            return (
                by_high | by_low,
                np.where(by_high, high, low),
                np.where(by_low, low, high),
                np.zeros(high.shape, bool),
            )
        own = (tags & ITEM) - 1
        own_group = own // group_items + 1
        by_high &= ((high & ITEM) - 1) // group_items + 1 == own_group
        by_low &= ((low & ITEM) - 1) // group_items + 1 == own_group
        last, first = self.group_high[cells], np.int32(2**31 - 1) - self.group_low[cells]
        between = (last != 0) & ((last != own_group) | (first != own_group))
        tag = np.where(by_high, high, np.where(by_low, low, 0))
        foreign = np.where(last != own_group, last, first)
        tag = np.where(tag == 0, (foreign.astype(np.int64) - 1) * group_items + 1, tag)
        other = np.where(by_low, low, tag)
        return by_high | by_low | between, tag, other, between & ~by_high & ~by_low


def complement(tags: Int64s) -> Int64s:
    """The tag with its item complemented, so that the lowest item has the highest number."""
    return tags ^ ITEM


class Shadow:
    """The shadow of one segment. `group_items` is the group size if a group shares the bytes, else 0."""

    def __init__(self, size: int, group_items: int, initialised: bool) -> None:
        self.size = size
        self.granule = 16
        self.group_items = group_items
        self.initialised = initialised
        cells = -(-size // self.granule)
        self.writer = np.zeros(cells, np.int64)
        self.writer_site = np.zeros(cells, np.int32)
        self.readers: Readers | None = None
        self.atomics: Readers | None = None  # who updated atomically
        self.atomic_loads: Readers | None = None
        self.pending: list[Touch] = []
        self.pending_items = 0
        self.last_write = -1
        self.complete = initialised

    def cells(self, touch: Touch) -> Int64s:
        """The cells of each lane: like the offsets, or with one more dimension before theirs, the cells of an access."""
        if touch.unit < self.granule:
            self._refine(touch.unit)
        first = touch.offsets // self.granule
        count = touch.size // self.granule
        if count <= 1:
            return first
        return first + np.arange(count, dtype=np.int64).reshape(-1, *[1] * first.ndim)

    def _refine(self, unit: int) -> None:
        factor = self.granule // unit
        self.granule = unit
        self.writer, self.writer_site = self.writer.repeat(factor), self.writer_site.repeat(factor)
        for readers in (self.readers, self.atomics, self.atomic_loads):
            if readers is not None:
                readers.refine(factor)

    def unset(self, cells: Int64s) -> Bools | None:
        """The cells that have not been written yet; None if all have been."""
        if self.complete:
            return None
        unset = self.writer[cells] == 0
        if not unset.any():
            return None
        if self.atomics is not None:
            unset &= self.atomics.highest[cells] == 0
        return unset if unset.any() else None

    def defer_read(self, touch: Touch) -> None:
        """Keeps a plain read for later, since most cells that are read are not written before the next barrier."""
        self.pending.append(touch)
        self.pending_items += touch.offsets.size
        if self.pending_items > _PENDING_LIMIT:
            self.absorb()

    def forget_reads(self) -> None:
        self.pending.clear()
        self.pending_items = 0

    def absorb(self) -> None:
        """Records the reads that were kept."""
        for touch in self.pending:
            cells = self.cells(touch)
            if self.readers is None:
                self.readers = Readers(self.writer.size)
            self.readers.enter(touch, cells, self.group_items)
        self.forget_reads()

    def conflicts_with_write(self, touch: Touch, cells: Int64s) -> Conflict | None:
        """Whether another item wrote these cells in this epoch (or another group at any time)."""
        earlier = self.writer[cells]
        tags = np.broadcast_to(touch.tags, cells.shape)
        base = touch.since(tags, earlier)
        if self.group_items:
            other = (earlier != 0) & ((earlier ^ tags) & ITEM != 0)
            if not other.any():
                return None
            between = ((earlier & ITEM) - 1) // self.group_items != ((tags & ITEM) - 1) // self.group_items
            which = other & (between | (earlier > base))
        else:
            if earlier.max(initial=0) <= int(base.min(initial=0)):
                return None
            which = (earlier > base) & (earlier != tags)
            between = np.zeros(which.shape, bool)
        return self._conflict("write", which, touch, cells, (earlier,), between, self.writer_site)

    def conflicts_with_readers(self, touch: Touch, cells: Int64s, kind: str) -> Conflict | None:
        """Whether another item made an access of this kind: "read", "atomic update" or "atomic load"."""
        readers = {"read": self.readers, "atomic update": self.atomics, "atomic load": self.atomic_loads}[kind]
        if readers is None:
            return None
        tags = np.ascontiguousarray(np.broadcast_to(touch.tags, cells.shape))
        which, other, another, between = readers.others(cells, tags, self.group_items, touch.floors)
        return self._conflict(kind, which, touch, cells, (other, another), between, readers.site)

    def _conflict(
        self,
        kind: str,
        which: Bools,
        touch: Touch,
        cells: Int64s,
        others: tuple[Int64s, ...],
        between: Bools,
        sites: Any,
    ) -> Conflict | None:
        if not which.any():
            return None
        at = tuple(np.argwhere(which)[0])
        tags = np.broadcast_to(touch.tags, cells.shape)
        return Conflict(
            kind,
            int(sites[cells[at]]),
            int(tags[at]),
            int(others[0][at]),
            int(cells[at]) * self.granule,
            bool(between[at]),
            int(which.any(axis=0).sum() if which.ndim == 2 else which.sum()),
            which,
            tags[which],
            tuple(each[which] for each in others),
        )

    def write(self, touch: Touch, cells: Int64s, clock: int) -> Bools | None:
        """Records a plain write. Returns the lanes whose cell another lane wrote in the same instruction."""
        tags = np.broadcast_to(touch.tags, cells.shape)
        self.writer[cells] = tags
        self.writer_site[cells] = touch.site.number
        self.last_write = clock
        lost = self.writer[cells] != tags
        return lost if lost.any() else None

    @property
    def updated(self) -> bool:
        """Whether any cell was updated atomically."""
        return self.atomics is not None

    def update(self, touch: Touch, cells: Int64s, loads: bool) -> None:
        """Records an atomic update, or an atomic load."""
        self.atomics = self.atomics or (None if loads else Readers(self.writer.size))
        self.atomic_loads = self.atomic_loads or (Readers(self.writer.size) if loads else None)
        readers = self.atomic_loads if loads else self.atomics
        assert readers is not None
        readers.enter(touch, cells, self.group_items)

    def release(self, touch: Touch) -> None:
        """Removes a read: its reader has finished, and all lanes know that."""
        for index, pending in enumerate(self.pending):
            if pending is touch:
                del self.pending[index]
                self.pending_items -= touch.offsets.size
                return
        if self.readers is not None:
            cells = self.cells(touch)
            mine = np.broadcast_to(touch.tags, cells.shape)
            self.readers.highest[cells] = np.where(self.readers.highest[cells] == mine, 0, self.readers.highest[cells])
            low = self.readers.lowest[cells]
            self.readers.lowest[cells] = np.where(low == complement(mine), 0, low)

    def settle(self, cells: Int64s) -> None:
        """Marks these cells as written before the present epoch, by no particular item."""
        self.writer[cells] = 1


def _spread(tags: Int64s, cells: Int64s) -> Int64s:
    return tags if cells.ndim == 1 else np.ascontiguousarray(np.broadcast_to(tags, cells.shape)).ravel()
