"""Order between work-groups by a counter: the last group adds up what all groups stored.

OpenCL 1.2's memory model does not order groups, so such a kernel formally has a race. Devices that perform fences and atomic
functions in order still compute it correctly, if

* each group's work-items fence what they have written, before an item of the group, which they wait for at a barrier,
  updates the counter;
* the group that reads has updated the counter after those, and its readers have waited for that at a barrier.

This module checks these conditions. A second run in reverse order checks that they hold for other orders of the groups.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.atomic_types import DEVICE
from ..clc.types import Space
from .machine_state import MachineState
from .masks import Mask
from .segments import Offsets, Segment
from .synchronisation import Lanes, Order, Synchronisation

Moments = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Update:
    """One atomic update of a counter: its moment, its lane, and what its group had fenced (segment -> last write)."""

    moment: int
    group: int
    lane: int
    fenced: dict[int, int]


@dataclass
class Ordering:
    """Moments count writes, fences, barriers and updates; `active` once the program has an atomic function."""

    machine: MachineState
    active: bool = False
    now: int = 0
    fences: Moments = field(default_factory=lambda: np.zeros(0, np.int64))
    barriers: Moments = field(default_factory=lambda: np.zeros(0, np.int64))
    writes: dict[int, Moments] = field(default_factory=dict)
    last_writes: dict[tuple[int, int], int] = field(default_factory=dict)
    updates: dict[tuple[int, int], list[Update]] = field(default_factory=dict)
    counting: set[int] = field(default_factory=set)  # lanes that have updated a counter
    fenced_explicitly: bool = False  # by atomic_work_item_fence, which relaxed functions may rely on
    older: bool = False  # whether the program has atomic functions of OpenCL 1.2, which order nothing by themselves

    def __post_init__(self) -> None:
        self.synchronisation = Synchronisation(self.machine)

    def begin(self) -> None:
        """Other groups run now: the lanes are new, but what groups have published stays."""
        self.fences, self.barriers = np.zeros((2, self.machine.lanes), np.int64)
        self.writes.clear()
        self.counting.clear()
        self.synchronisation.begin()

    def group_of(self, lane: int) -> int:
        """The group's number among all that run, as tags have it."""
        machine = self.machine
        return machine.first_item // machine.span + int(machine.slot_of_lane[lane])

    def fence(self, mask: Mask) -> None:
        self.now += 1
        self.fences[mask.indices] = self.now

    def explicit_fence(self, mask: Mask, order: Order, spaces: list[Space]) -> None:
        """atomic_work_item_fence."""
        self.fenced_explicitly = True
        self.synchronisation.fence(mask, order, spaces)
        if order.releases and order.scope >= DEVICE and Space.GLOBAL in spaces:
            self.fence(mask)

    def synchronise(self, segment: Segment, offsets: Offsets, lanes: Lanes, order: Order | None, failed: Lanes) -> None:
        """An atomic function; `order` is None for those of OpenCL 1.2. `failed` are the lanes whose compare-exchange stored
        nothing."""
        if order is not None:
            self.synchronisation.atomic(segment, offsets, lanes, order, failed)
            stored = ~np.isin(lanes, failed)
            offsets, lanes = offsets[stored], lanes[stored]
            if order.scope < DEVICE or not (order.acquires or self.fenced_explicitly):
                return
            if order.releases:
                self.now += 1
                self.fences[lanes] = self.now
        if segment.space is Space.GLOBAL:
            self.update(segment, offsets, lanes, publishes=order is None or not order.loads)

    def barrier(self, mask: Mask) -> None:
        self.now += 1
        self.barriers[mask.indices] = self.now

    def write(self, segment: Segment, lanes: Any) -> None:
        self.now += 1
        lanes = np.arange(self.machine.lanes) if lanes is None else lanes
        self.writes.setdefault(segment.number, np.zeros(self.machine.lanes, np.int64))[lanes] = self.now
        for slot in np.unique(self.machine.slot_of_lane[lanes]).tolist():
            self.last_writes[segment.number, self.group_of(slot * self.machine.items)] = self.now

    def update(self, segment: Segment, offsets: Offsets, lanes: Lanes, publishes: bool) -> None:
        """An atomic function on what may be a counter; one that only loads publishes nothing."""
        self.now += 1
        if not self.fences.any() or len(lanes) > len(self.machine.groups):
            return  # nothing can be ordered by it, or it is no counter of groups
        for offset, lane in zip(offsets.tolist(), lanes.tolist(), strict=True):
            self.counting.add(lane)
            entry = Update(self.now, self.group_of(lane), lane, self._fenced(lane) if publishes else {})
            self.updates.setdefault((segment.number, offset), []).append(entry)

    def _fenced(self, lane: int) -> dict[int, int]:
        """The segments whose writes by this lane's group are fenced and waited for."""
        items = self.machine.items
        own = slice(lane // items * items, lane // items * items + items)
        fences, waited = self.fences[own], self.fences[own] < self.barriers[lane]
        waited[lane % items] = True
        fenced = {}
        for number, moments in self.writes.items():
            wrote = moments[own]
            if wrote.any() and ((wrote == 0) | ((wrote < fences) & waited)).all():
                fenced[number] = int(wrote.max())
        return fenced

    def counter_between(self, segment: Segment, writer: int, reader: int) -> int | None:
        """The segment of the counter that orders the writes of group `writer` to `segment` before the reads of lane `reader`."""
        group, last = self.group_of(reader), self.last_writes.get((segment.number, writer))
        if writer == group and segment.number not in self._fenced(reader):
            return None
        for (counter, _), updates in self.updates.items():
            own = self._last_of(updates, group, reader)
            if own is not None and any(
                each.group == writer and each.fenced.get(segment.number) == last for each in updates[: own + 1]
            ):
                return counter
        return None

    def alike(self, reader: int) -> tuple[int, int, int]:
        """Equal for lanes of which one may stand for all, here."""
        return self.group_of(reader), int(self.barriers[reader]), reader if reader in self.counting else -1

    def is_last(self, segment: Segment, offset: int, lane: int) -> bool:
        """Whether this lane's group updated the counter after all others, and the lane has waited for that."""
        updates = self.updates.get((segment.number, offset), [])
        return self._last_of(updates, self.group_of(lane), lane) == len(updates) - 1

    def _last_of(self, updates: list[Update], group: int, lane: int) -> int | None:
        """The number of the group's last update that this lane made, or waited for at a barrier."""
        known = [
            number
            for number, each in enumerate(updates)
            if each.group == group and (each.lane == lane or self.barriers[lane] > each.moment)
        ]
        return known[-1] if known else None
