"""Shadow memory: the last writer and the last readers of each cell. It finds races and unset reads.

A tag names one work-item in one epoch (the time between two barriers): epoch << ITEM_BITS | item. Two accesses to a cell
race if different items of a group make them in one epoch, or items of different groups at any time, and one writes.
"""

import numpy as np

from .conflicts import Conflict, Opposing, conflict_of
from .own_groups import OwnGroups
from .readers import Readers, Touch
from .team_order import ITEM, Bools, Int64s

_PENDING_LIMIT = 1 << 22


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
        self.own_groups: dict[str, OwnGroups] = {}  # by the kind of access, of bytes that groups share
        self.changed: Bools | None = None  # cells in which a race between groups that run at once left another value

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
        for own in self.own_groups.values():
            own.refine(factor)
        self.changed = None if self.changed is None else self.changed.repeat(factor)

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
            self._keep("read", touch)
        self.forget_reads()

    def new_batch(self) -> None:
        """Other groups run now."""
        self.changed = None
        for own in self.own_groups.values():
            own.clear()

    def _keep(self, kind: str, touch: Touch) -> None:
        if self.group_items:
            if kind not in self.own_groups:
                self.own_groups[kind] = OwnGroups(self.group_items, self.cells)
            self.own_groups[kind].keep(touch)

    def conflicts_with_write(self, touch: Touch, cells: Int64s) -> tuple[Conflict, ...]:
        """Whether another item wrote these cells in this epoch (or another group at any time)."""
        earlier = self.writer[cells]
        tags = np.broadcast_to(touch.tags, cells.shape)
        if not self.group_items:
            base = touch.since(tags, earlier)
            if earlier.max(initial=0) <= int(base.min(initial=0)):
                return ()
            which = (earlier > base) & (earlier != tags)
            return self._conflicts("write", touch, cells, Opposing(which, (earlier,), self.writer_site[cells]))
        other = (earlier != 0) & ((earlier ^ tags) & ITEM != 0)
        if not other.any():
            return ()
        sites = self.writer_site[cells]
        foreign = other & (((earlier & ITEM) - 1) // self.group_items != ((tags & ITEM) - 1) // self.group_items)
        own = Opposing(other & ~foreign & (earlier > touch.since(tags, earlier)), (earlier, earlier), sites)
        return self._conflicts("write", touch, cells, own, Opposing(foreign, (earlier,), sites))

    def conflicts_with_readers(self, touch: Touch, cells: Int64s, kind: str) -> tuple[Conflict, ...]:
        """Whether another item made an access of this kind: "read", "atomic update" or "atomic load"."""
        readers = {"read": self.readers, "atomic update": self.atomics, "atomic load": self.atomic_loads}[kind]
        if readers is None:
            return ()
        tags = np.ascontiguousarray(np.broadcast_to(touch.tags, cells.shape))
        sites = readers.site[cells]
        if not self.group_items:
            which, *others = readers.others(cells, tags, touch.floors)
            return self._conflicts(kind, touch, cells, Opposing(which, tuple(others), sites))
        which, *others = readers.others_of_group(cells, tags, self.group_items, touch.floors)
        foreign, foreign_tags = readers.other_groups(cells, tags, self.group_items)
        own = Opposing(which, tuple(others), sites)
        return self._conflicts(kind, touch, cells, own, Opposing(foreign, (foreign_tags,), sites))

    def _conflicts(
        self, kind: str, touch: Touch, cells: Int64s, own: Opposing, foreign: Opposing | None = None
    ) -> tuple[Conflict, ...]:
        """The conflicts inside groups, and those between groups, as far as there are any."""
        if foreign is not None and kind in self.own_groups and foreign.which.any():
            tags = np.ascontiguousarray(np.broadcast_to(touch.tags, cells.shape))
            own = own.or_those(Opposing.of(*self.own_groups[kind].others(touch, cells, tags)), foreign.which)
        found = [
            (opposing, opposing is foreign)
            for opposing in (own, foreign)
            if opposing is not None and opposing.which.any()
        ]
        return tuple(conflict_of(kind, touch, cells, self.granule, *each) for each in found)

    def mark_changed(self, cells: Int64s) -> None:
        """A race between groups left other values in these cells."""
        if self.changed is None:
            self.changed = np.zeros(self.writer.size, bool)
        self.changed[cells] = True

    def write(self, touch: Touch, cells: Int64s, clock: int) -> Bools | None:
        """Records a plain write. Returns the lanes whose cell another lane wrote in the same instruction."""
        tags = np.broadcast_to(touch.tags, cells.shape)
        self.writer[cells] = tags
        self.writer_site[cells] = touch.site.number
        self.last_write = clock
        self._keep("write", touch)
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
        self._keep("atomic load" if loads else "atomic update", touch)

    def release(self, touch: Touch) -> None:
        """Removes a read: its reader has finished, and all lanes know that."""
        for index, pending in enumerate(self.pending):
            if pending is touch:
                del self.pending[index]
                self.pending_items -= touch.offsets.size
                return
        if self.readers is not None:
            cells = self.cells(touch)
            self.readers.remove(cells, np.broadcast_to(touch.tags, cells.shape))
        if "read" in self.own_groups:
            self.own_groups["read"].forget(touch)

    def settle(self, touch: Touch) -> None:
        """Marks what was written as written before all epochs: in order for the writer's group, and for no other."""
        cells = self.cells(touch)
        self.writer[cells] = np.broadcast_to(touch.tags & ITEM, cells.shape)
        if "write" in self.own_groups:
            self.own_groups["write"].forget(touch)
