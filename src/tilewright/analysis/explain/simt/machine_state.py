"""The state shared by all lanes of a batch of work-groups: sizes, ids, names, tags, findings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.types import Space
from .compiled_code import Site
from .findings import Findings
from .masks import Mask
from .segments import Segment
from .team_order import ITEM_BITS, Floors
from .teams import Teams

Group = tuple[int, int, int]

# A load of many iterations: a row of offsets for each, or one row for all; and whether all lanes have one offset.
Rows = tuple[Site, Segment, npt.NDArray[np.int64], bool]


class Recorder(Protocol):
    """An observer of the memory traffic, of sub-groups of `lanes` work-items. `private_room` is the most bytes of a private
    array in registers; None if private memory is not observed."""

    lanes: int
    private_room: int | None

    def begin(self, groups: list[Group], items: int) -> None:
        """These groups of `items` work-items run next."""

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        """`offsets` are bytes in the segment, one for each lane of `mask`."""

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        """All lanes of `mask` access one place."""

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None:
        """`count` iterations of these loads, one after the other."""

    def follow(self, segment: Segment, array: npt.NDArray[Any]) -> None:
        """A buffer that was made of `array`."""

    def barrier(self, position: Position) -> None: ...

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        """The lanes of `mask` begin `count` iterations of the loop there."""

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None:
        """Warps multiply matrices by one instruction, of the kind `product`: the elements of `a` and `b` as their registers hold
        them, (registers, warps, 32, elements of a register)."""

    def arrived(self, segment: Segment, offsets: npt.NDArray[np.int64], size: int) -> None:
        """TMA wrote `size` bytes of local memory at each of `offsets`, without a request of a warp."""


class _NoRecorder:
    """Forgets all traffic."""

    lanes = 1
    private_room: int | None = None

    def begin(self, groups: list[Group], items: int) -> None: ...

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None: ...

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None: ...

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None: ...

    def follow(self, segment: Segment, array: npt.NDArray[Any]) -> None: ...

    def barrier(self, position: Position) -> None: ...

    def iterations(self, position: Position, mask: Mask, count: int) -> None: ...

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None: ...

    def arrived(self, segment: Segment, offsets: npt.NDArray[np.int64], size: int) -> None: ...


class MachineState:
    """The lanes of `slots` work-groups that run together. Memory, ordering and checks look at this; Machine drives it."""

    def __init__(
        self,
        global_size: Sequence[int],
        local_size: Sequence[int],
        slots: int,
        recorder: Recorder,
        fill: int = 0,
        offset: Sequence[int] = (),
        sub_group: int = 32,
    ) -> None:
        self.work_dim = len(tuple(global_size))
        self.global_size = _three(global_size)
        self.local_size = _three(local_size)
        self.offset = (*(int(each) for each in offset), 0, 0, 0)[:3]
        self.ragged = any(size % own for size, own in zip(self.global_size, self.local_size, strict=True))
        self.items = prod(self.local_size)
        self.span = self.items + 1  # item numbers of a group: one each, and one for the group's async copies
        self.slots = slots
        self.lanes = slots * self.items
        self.findings = Findings()
        self.fill = fill  # the value of every byte that was never set
        self.recorder = recorder
        self.request_lanes = recorder.lanes  # work-items whose accesses are one request
        lane = np.arange(
            self.lanes, dtype=np.int64
        )  # tags and ids exceed 32 bits, also where NumPy's own integers do not
        self.slot_of_lane = lane // self.items
        self.sub_group = sub_group
        self.work_groups = Teams("group", self.lanes, self.items, self.items)
        self.sub_groups = Teams("sub-group", self.lanes, self.items, sub_group)
        item = lane % self.items
        per_group = -(-self.items // recorder.lanes)
        self.sub_group_count = slots * per_group
        self.sub_group_of_lane = self.slot_of_lane * per_group + item // recorder.lanes
        self._item = item
        self._place_items(self.local_size)
        self.own_size: list[Any] = [np.uint64(each) for each in self.local_size]  # what get_local_size gives
        self.present = np.full(slots, self.items, np.int64)  # work-items of each slot's group
        self.groups: list[Group] = []
        self.launched = 0
        self.last_barrier = 0  # the line of the barrier before what is executed now, 0 before the first one

    def start(self, groups: Sequence[Group]) -> Mask:
        """Make `groups` (at most one for each slot) the next ones to run, and return the mask of their lanes."""
        self.groups = list(groups)
        filled = [*self.groups, *([(0, 0, 0)] * (self.slots - len(self.groups)))]
        ids = np.array(filled, dtype=np.int64).reshape(self.slots, 3)
        if self.ragged:
            self._start_ragged(ids)
        self.group_id: list[Any] = []
        self.global_id: list[Any] = []
        for dimension in range(3):
            group = ids[:, dimension][self.slot_of_lane]
            self.group_id.append(_uniform(group.astype(np.uint64)))
            own = group * self.local_size[dimension] + self._local[dimension] + self.offset[dimension]
            self.global_id.append(_uniform(own.astype(np.uint64)))
        self.live = (self.slot_of_lane < len(self.groups)) & (self._item < self.present[self.slot_of_lane])
        self.live_count = int(self.live.sum())
        self.first_item = self.launched
        self.launched += self.slots * self.span
        tags = self.first_item + 1 + self.slot_of_lane * self.span + self._item
        self.tags = dict.fromkeys((Space.LOCAL, Space.GLOBAL, Space.IMAGE), tags + (1 << ITEM_BITS))
        self.floors: dict[Space, Floors] = {}  # of the spaces in which barriers of sub-groups have been met
        self.synced = {Space.LOCAL: 0, Space.GLOBAL: 0, Space.IMAGE: 0}
        self.clock = 1
        self.last_barrier = 0
        self.begun = Mask(self.live.copy())
        return self.begun

    def _place_items(self, sizes: Sequence[Any]) -> None:
        """The local ids of all lanes: x first, in groups of these sizes."""
        x, y, _ = sizes
        self._local = [self._item % x, self._item // x % y, self._item // (x * y)]
        self.local_id: list[Any] = [_uniform(each.astype(np.uint64)) for each in self._local]

    def _start_ragged(self, ids: npt.NDArray[np.int64]) -> None:
        """Groups at the edges of an NDRange that is no multiple of the group are smaller; their work-items come first."""
        whole, own = np.array(self.global_size, np.int64), np.array(self.local_size, np.int64)
        sizes = np.minimum(own, whole - ids * own)
        self.present = sizes.prod(axis=1)
        per_lane = [sizes[:, dimension][self.slot_of_lane] for dimension in range(3)]
        self.own_size = [_uniform(each.astype(np.uint64)) for each in per_lane]
        self._place_items(per_lane)

    @property
    def whole_count(self) -> int:
        """The work-items of all groups that run now."""
        return int(self.present[: len(self.groups)].sum())

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """What happens inside is no traffic of the kernel."""
        recorder, self.recorder = self.recorder, _NoRecorder()
        try:
            yield
        finally:
            self.recorder = recorder

    def item_name(self, lane: int) -> str:
        """The name of a work-item, such as `work-item (3,0) of group (1,2)`, with the dimensions of the NDRange."""
        if not self.groups:
            return Sentence("before the kernel starts")  # in the initialiser of a variable at program scope
        return self._name(lane, self.groups[lane // self.items])

    def tag_name(self, tag: int) -> str:
        """As `item_name`, for an item of this or an earlier batch by its tag."""
        slot, item = divmod((tag & ((1 << ITEM_BITS) - 1)) - 1 - self.first_item, self.span)
        if not 0 <= slot < len(self.groups):
            return Sentence("a work-item of another group")
        if item == self.items:
            return Sentence("an async copy")
        return self._name(slot * self.items + item, self.groups[slot])

    def async_tags(self, space: Space) -> npt.NDArray[np.int64]:
        """For each lane, the tag of its group's async copies."""
        return self.tags[space] + (self.items - self._item)

    def _name(self, lane: int, group: Group) -> str:
        dimensions = self.work_dim
        own = ",".join(str(int(self._local[d][lane])) for d in range(dimensions))
        of = ",".join(map(str, group[:dimensions]))
        return Sentence("work-item ({item}) of group ({group})", item=own, group=of)


def _three(size: Sequence[int]) -> Group:
    filled = [int(each) for each in size] + [1, 1]
    return filled[0], filled[1], filled[2]


def _uniform(values: npt.NDArray[np.uint64]) -> Any:
    """One NumPy scalar where all lanes agree."""
    if values.size and (values == values[0]).all():
        return values[0]
    return values
