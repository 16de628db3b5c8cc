"""Who has read each cell of shadow memory: of many readers, the lowest and the highest show whether another item read it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .compiled_code import Site
from .team_order import ITEM, Bools, Floors, Int64s, WideReaders


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
            groups = (_group(tags, group_items) + 1).astype(np.int32)
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

    def others(self, cells: Int64s, tags: Int64s, floors: Floors | None = None) -> tuple[Bools, Int64s, Int64s]:
        """Cells that another item read since the last barrier: (cells, its tag, that of another such item)."""
        by_high, high, by_low, low = self._items(cells, tags, floors)
        return by_high | by_low, np.where(by_high, high, low), np.where(by_low, low, high)

    def others_of_group(
        self, cells: Int64s, tags: Int64s, group_items: int, floors: Floors | None = None
    ) -> tuple[Bools, Int64s, Int64s]:
        """The same, if the item is of the same group. Another group's items may hide it."""
        by_high, high, by_low, low = self._items(cells, tags, floors)
        own = _group(tags, group_items)
        by_high &= _group(high, group_items) == own
        by_low &= _group(low, group_items) == own
        return by_high | by_low, np.where(by_high, high, low), np.where(by_low, low, high)

    def other_groups(self, cells: Int64s, tags: Int64s, group_items: int) -> tuple[Bools, Int64s]:
        """Cells that another group read at any time: (cells, the tag of one that did, or of its group's first item)."""
        own = _group(tags, group_items) + 1
        last, first = self.group_high[cells], np.int32(2**31 - 1) - self.group_low[cells]
        foreign = np.where(last != own, last, first)
        which = (last != 0) & (foreign != own)
        if not which.any():
            return which, tags
        tag = (foreign.astype(np.int64) - 1) * group_items + 1
        low, high = self.lowest[cells], self.highest[cells]
        for known, exists in ((complement(low), low != 0), (high, high != 0)):
            tag = np.where(exists & (_group(known, group_items) + 1 != own), known, tag)
        return which, tag

    def remove(self, cells: Int64s, tags: Int64s) -> None:
        """Forgets these readers, where they are the highest or lowest."""
        self.highest[cells] = np.where(self.highest[cells] == tags, 0, self.highest[cells])
        low = self.lowest[cells]
        self.lowest[cells] = np.where(low == complement(tags), 0, low)

    def insert(self, places: npt.NDArray[np.intp]) -> None:
        """Adds cells that nobody has read before those at `places`."""
        self.highest, self.lowest = np.insert(self.highest, places, 0), np.insert(self.lowest, places, 0)
        self.group_high, self.group_low = np.insert(self.group_high, places, 0), np.insert(self.group_low, places, 0)
        self.site = np.insert(self.site, places, 0)
        if self.wide is not None:
            self.wide.insert(places)


def complement(tags: Int64s) -> Int64s:
    """The tag with its item complemented, so that the lowest item has the highest number."""
    return tags ^ ITEM


def _spread(tags: Int64s, cells: Int64s) -> Int64s:
    return tags if cells.ndim == 1 else np.ascontiguousarray(np.broadcast_to(tags, cells.shape)).ravel()


def _group(tags: Int64s, group_items: int) -> Int64s:
    return ((tags & ITEM) - 1) // group_items
