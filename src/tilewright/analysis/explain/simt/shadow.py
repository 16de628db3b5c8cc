"""Shadow memory: the last writer and the last readers of each cell. It finds races and unset reads.

A tag names one work-item in one epoch (the time between two barriers): epoch << ITEM_BITS | item. Two accesses to a cell
race if different items of a group make them in one epoch, or items of different groups at any time, and one writes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .readers import Readers, Touch, complement
from .team_order import ITEM, Bools, Int64s

_PENDING_LIMIT = 1 << 22


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

    def settle(self, touch: Touch) -> None:
        """Marks what was written as written before all epochs: in order for the writer's group, and for no other."""
        cells = self.cells(touch)
        self.writer[cells] = np.broadcast_to(touch.tags & ITEM, cells.shape)
