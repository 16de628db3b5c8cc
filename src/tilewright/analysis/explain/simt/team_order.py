"""Order within a sub-group: `sub_group_barrier` orders the work-items of one sub-group, and no others.

Tags (shadow.py) count epochs from both kinds of barriers. Two items of one sub-group race in one epoch. Items of different
sub-groups race in all epochs since the last barrier of their work-group, whose first tag is the floor.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ITEM_BITS = 40
ITEM = np.int64((1 << ITEM_BITS) - 1)
Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Floors:
    """The epoch that each lane's work-group began with its last barrier, in the place where tags have epochs. `span` is the
    number of items in a work-group's tags, `width` that in a sub-group."""

    epochs: Int64s
    span: int
    width: int

    def of(self, lanes: npt.NDArray[np.intp]) -> "Floors":
        return Floors(self.epochs[lanes], self.span, self.width)

    def same(self, tags: Int64s, others: Int64s) -> Bools:
        """Whether both tags are of one sub-group."""
        same: Bools = self._number(tags) == self._number(others)
        return same

    def _number(self, tags: Int64s) -> Any:
        group, item = np.divmod((tags & ITEM) - 1, self.span)
        own = np.where(item == self.span - 1, self.span, item // self.width)  # async copies stand by themselves
        return group * (self.span + 1) + own

    def since(self, tags: Int64s, others: Int64s) -> Int64s:
        """The tag above which an access of `others` is not ordered before `tags`."""
        return np.where(self.same(tags, others), tags & ~ITEM, np.broadcast_to(self.epochs, tags.shape))


class WideReaders:
    """The highest and the lowest item that read each cell, by the epochs of work-groups. If another sub-group read a cell,
    one of both is of another sub-group, since sub-groups are consecutive items."""

    def __init__(self, highest: Int64s, lowest: Int64s) -> None:
        self.highest, self.lowest = highest.copy(), lowest.copy()

    def refine(self, factor: int) -> None:
        self.highest, self.lowest = self.highest.repeat(factor), self.lowest.repeat(factor)

    def insert(self, places: npt.NDArray[np.intp]) -> None:
        self.highest, self.lowest = np.insert(self.highest, places, 0), np.insert(self.lowest, places, 0)

    def add(self, cells: Int64s, tags: Int64s) -> None:
        np.maximum.at(self.highest, cells, tags)
        np.maximum.at(self.lowest, cells, tags ^ ITEM)

    def others(self, cells: Int64s, tags: Int64s, floors: Floors) -> tuple[Bools, Int64s, Bools, Int64s]:
        """Whether another sub-group's item read these cells since the last barrier: (by the highest, its tag, by the lowest,
        its tag)."""
        high, low = self.highest[cells], self.lowest[cells] ^ ITEM
        floor = np.broadcast_to(floors.epochs, tags.shape)
        by_high = (high > floor) & ~floors.same(tags, high)
        by_low = ((low ^ ITEM) > floor) & ~floors.same(tags, low)
        return by_high, high, by_low, low
