"""The state shared by all lanes of a batch of work-groups: sizes, ids, names, tags, findings."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..clc.lexer import Position
from ..clc.types import Space
from .compiled_code import Site
from .findings import Findings
from .masks import Mask
from .segments import Segment
from .shadow import ITEM_BITS

Group = tuple[int, int, int]


class Recorder(Protocol):
    """An observer of the memory traffic."""

    def begin(self, groups: list[Group], items: int) -> None:
        """These groups of `items` work-items run next."""

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        """`offsets` are bytes in the segment, one for each lane of `mask`."""

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        """All lanes of `mask` access one place."""

    def follow(self, segment: Segment, array: npt.NDArray[Any]) -> None:
        """A buffer that was made of `array`."""

    def barrier(self, position: Position) -> None: ...

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        """The lanes of `mask` begin `count` iterations of the loop there, or one call."""


class MachineState:
    """The lanes of `slots` work-groups that run together. Memory, ordering and checks look at this; Machine drives it."""

    def __init__(
        self,
        global_size: Sequence[int],
        local_size: Sequence[int],
        slots: int,
        recorder: Recorder,
        fill: int = 0,
    ) -> None:
        self.work_dim = len(tuple(global_size))
        self.global_size = _three(global_size)
        self.local_size = _three(local_size)
        self.items = int(np.prod(self.local_size))
        self.span = self.items + 1  # item numbers of a group: one each, and one for the group's async copies
        self.slots = slots
        self.lanes = slots * self.items
        self.findings = Findings()
        self.fill = fill  # the value of every byte that was never set
        self.recorder = recorder
        lane = np.arange(self.lanes)
        self.slot_of_lane = lane // self.items
        item = lane % self.items
        x, y, _ = self.local_size
        self._local = [item % x, item // x % y, item // (x * y)]
        self.local_id: list[Any] = [_uniform(each.astype(np.uint64)) for each in self._local]
        self.groups: list[Group] = []
        self.launched = 0

    def start(self, groups: Sequence[Group]) -> Mask:
        """Make `groups` (at most one for each slot) the next ones to run, and return the mask of their lanes."""
        self.groups = list(groups)
        filled = [*self.groups, *([(0, 0, 0)] * (self.slots - len(self.groups)))]
        ids = np.array(filled, dtype=np.int64).reshape(self.slots, 3)
        self.group_id: list[Any] = []
        self.global_id: list[Any] = []
        for dimension in range(3):
            group = ids[:, dimension][self.slot_of_lane]
            self.group_id.append(_uniform(group.astype(np.uint64)))
            own = group * self.local_size[dimension] + self._local[dimension]
            self.global_id.append(_uniform(own.astype(np.uint64)))
        self.live = np.arange(self.lanes) < len(self.groups) * self.items
        self.live_count = int(self.live.sum())
        self.first_item = self.launched
        self.launched += self.slots * self.span
        tags = self.first_item + 1 + self.slot_of_lane * self.span + np.arange(self.lanes) % self.items
        self.tags = dict.fromkeys((Space.LOCAL, Space.GLOBAL), tags + (1 << ITEM_BITS))
        self.synced = {Space.LOCAL: 0, Space.GLOBAL: 0}
        self.clock = 1
        return Mask(self.live.copy())

    def item_name(self, lane: int) -> str:
        """The name of a work-item, such as `work-item (3,0) of group (1,2)`, with the dimensions of the NDRange."""
        return self._name(lane % self.items, self.groups[lane // self.items])

    def tag_name(self, tag: int) -> str:
        """As `item_name`, for an item of this or an earlier batch by its tag."""
        slot, item = divmod((tag & ((1 << ITEM_BITS) - 1)) - 1 - self.first_item, self.span)
        if not 0 <= slot < len(self.groups):
            return "a work-item of another group"
        if item == self.items:
            return "an async copy"
        return self._name(item, self.groups[slot])

    def async_tags(self, space: Space) -> npt.NDArray[np.int64]:
        """For each lane, the tag of its group's async copies."""
        return self.tags[space] + (self.items - np.arange(self.lanes) % self.items)

    def _name(self, item: int, group: Group) -> str:
        dimensions = self.work_dim
        own = ",".join(str(int(self._local[d][item])) for d in range(dimensions))
        return f"work-item ({own}) of group ({','.join(map(str, group[:dimensions]))})"


def _three(size: Sequence[int]) -> Group:
    filled = [int(each) for each in size] + [1, 1]
    return filled[0], filled[1], filled[2]


def _uniform(values: npt.NDArray[np.uint64]) -> Any:
    """One NumPy scalar where all lanes agree."""
    if values.size and (values == values[0]).all():
        return values[0]
    return values
