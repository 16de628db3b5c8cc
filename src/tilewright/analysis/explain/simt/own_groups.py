"""What the items of one group did to bytes that groups share. Of such bytes, the shadow's cells may know another group alone.

Accesses are only kept, which costs little, until another group's access to the same byte asks what a group itself did.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from .readers import Readers, Touch
from .team_order import ITEM, Bools, Int64s

_CELL_BITS = 36
_CELL = np.int64((1 << _CELL_BITS) - 1)
_LIMIT = 1 << 22  # lanes of kept accesses; the oldest go first


class OwnGroups:
    """Accesses of one kind to one segment by the groups that run at once. A key names a group and a cell; `entered` has a
    cell for each key, in their order."""

    def __init__(self, group_items: int, cells_of: Callable[[Touch], Int64s]) -> None:
        self._group_items = group_items
        self._cells_of = cells_of
        self.clear()

    def clear(self) -> None:
        """Other groups run now."""
        self._kept: deque[Touch] = deque()
        self._kept_items = 0
        self._keys = np.zeros(0, np.int64)
        self._entered = Readers(0)

    def keep(self, touch: Touch) -> None:
        self._kept.append(touch)
        self._kept_items += touch.offsets.size
        while self._kept_items > _LIMIT:
            self._kept_items -= self._kept.popleft().offsets.size

    def refine(self, factor: int) -> None:
        """A cell is now `factor` cells."""
        first = (self._keys & ~_CELL) | (self._keys & _CELL) * factor
        self._keys = (first[:, None] + np.arange(factor)).ravel()
        self._entered.refine(factor)

    def forget(self, touch: Touch) -> None:
        """Removes an access that has finished, as all lanes know."""
        for index, each in enumerate(self._kept):
            if each is touch:
                del self._kept[index]
                self._kept_items -= touch.offsets.size
                return
        cells = self._cells_of(touch)
        known, rows = self._rows(cells, touch.tags)
        self._entered.remove(rows[known], np.broadcast_to(touch.tags, cells.shape)[known])

    def others(self, touch: Touch, cells: Int64s, tags: Int64s) -> tuple[Bools, Int64s, Int64s, Int64s]:
        """Cells that another item of the lane's group accessed since the last barrier that orders both: (cells, its tag, that
        of another such item, the number of the site)."""
        self._enter_all()
        if not self._keys.size:
            nothing = np.zeros(cells.shape, np.int64)
            return np.zeros(cells.shape, bool), nothing, nothing, nothing
        known, rows = self._rows(cells, tags)
        which, other, another = self._entered.others(rows, tags, touch.floors)
        return which & known, other, another, self._entered.site[rows].astype(np.int64)

    def _rows(self, cells: Int64s, tags: Int64s) -> tuple[Bools, Int64s]:
        """Which of these are known, and where; 0 for others."""
        keys = self._key(cells, tags)
        rows = np.searchsorted(self._keys, keys)
        known = (
            self._keys[np.minimum(rows, len(self._keys) - 1)] == keys if self._keys.size else np.zeros(keys.shape, bool)
        )
        return known, np.where(known, rows, 0)

    def _key(self, cells: Int64s, tags: Int64s) -> Int64s:
        return (((tags & ITEM) - 1) // self._group_items << _CELL_BITS) | cells

    def _enter_all(self) -> None:
        if not self._kept:
            return
        found = [self._cells_of(touch) for touch in self._kept]
        keys = [self._key(cells, touch.tags).ravel() for touch, cells in zip(self._kept, found, strict=True)]
        new = np.setdiff1d(np.concatenate(keys), self._keys)
        places = np.searchsorted(self._keys, new)
        self._keys = np.insert(self._keys, places, new)
        self._entered.insert(places)
        for touch, cells in zip(self._kept, found, strict=True):
            self._entered.enter(touch, self._rows(cells, touch.tags)[1], 0)
        self._kept.clear()
        self._kept_items = 0
