"""What atomic functions of OpenCL C 2.0 and later order: release and acquire, by C11's memory model.

What a work-item did before a release of an atomic object happens before what another does after an acquire that reads the
released value, if the scope holds both. Barriers carry this on to the rest of a group. Relaxed operations order nothing,
unless fences stand beside them. The log is replayed only when two accesses would be a race otherwise.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.atomic_types import (
    ACQUIRE,
    ACQUIRE_RELEASE,
    DEVICE,
    RELAXED,
    RELEASE,
    SEQUENTIAL,
    SUB_GROUP,
    WORK_GROUP,
)
from ..clc.types import Space
from .machine_state import MachineState
from .masks import Mask
from .segments import Offsets, Segment

Lanes = npt.NDArray[np.intp]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Order:
    """The order and scope of an atomic function, by their numbers in clc/atomic_types.py. `stores` says that it only stores,
    `loads` that it only loads; `failure` is the order of a compare-exchange that fails, which only loads."""

    order: int
    scope: int
    stores: bool = False
    loads: bool = False
    failure: int = RELAXED

    @property
    def releases(self) -> bool:
        return self.order in (RELEASE, ACQUIRE_RELEASE, SEQUENTIAL) and not self.loads

    @property
    def acquires(self) -> bool:
        return self.order in (ACQUIRE, ACQUIRE_RELEASE, SEQUENTIAL) and not self.stores

    @property
    def failed(self) -> "Order":
        """What a compare-exchange that fails is."""
        return Order(self.failure, self.scope, loads=True)


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic function: the lanes in their turns, the place of each, and the lanes whose compare-exchange failed."""

    moment: int
    lanes: Lanes
    places: list[Place]
    order: Order
    failed: frozenset[int]


@dataclass(frozen=True, slots=True)
class Fence:
    moment: int
    lanes: Lanes
    order: Order
    spaces: frozenset[Space]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A barrier of the groups, or of the sub-groups, of these lanes."""

    moment: int
    lanes: Lanes
    spaces: frozenset[Space]
    teams: npt.NDArray[np.intp]


@dataclass
class Known:
    """How far one write is known while the log is replayed."""

    lanes: npt.NDArray[np.bool_]  # those whose next accesses come after it
    fenced: npt.NDArray[np.bool_]  # those that knew it at a release fence
    seen: npt.NDArray[np.bool_]  # those that have read a released value, and need a fence to know it
    places: set[Place] = field(default_factory=set)


class Synchronisation:
    """The log of one batch of groups. `active` once the program has an atomic function with an order."""

    def __init__(self, machine: MachineState) -> None:
        self.machine = machine
        self.active = False
        self.now = 0
        self.events: list[Atomic | Fence | Meeting] = []
        self.touched: dict[
            tuple[int, bool], npt.NDArray[np.int64]
        ] = {}  # by segment, atomically or not: each lane's last
        self.answers: dict[tuple[int, int, int, int, Space], npt.NDArray[np.bool_]] = {}

    def begin(self) -> None:
        self.events.clear()
        self.touched.clear()
        self.answers.clear()

    def touch(self, segment: Segment, lanes: Any, atomic: bool = False) -> None:
        """An access of these lanes (None: all)."""
        self.now += 1
        moments = self.touched.get((segment.number, atomic))
        if moments is None:
            moments = self.touched[segment.number, atomic] = np.zeros(self.machine.lanes, np.int64)
        moments[slice(None) if lanes is None else lanes] = self.now

    def atomic(self, segment: Segment, offsets: Offsets, lanes: Lanes, order: Order, failed: Lanes) -> None:
        self.now += 1
        places = [(segment.number, offset) for offset in offsets.tolist()]
        self.events.append(Atomic(self.now, lanes, places, order, frozenset(failed.tolist())))

    def fence(self, mask: Mask, order: Order, spaces: Iterable[Space]) -> None:
        self.now += 1
        self.events.append(Fence(self.now, mask.indices, order, frozenset(spaces)))

    def barrier(self, mask: Mask, spaces: Iterable[Space], teams: npt.NDArray[np.intp]) -> None:
        """`teams` has the number of each lane's group, or of its sub-group."""
        if self.active:
            self.now += 1
            self.events.append(Meeting(self.now, mask.indices, frozenset(spaces), teams))

    def ordered(self, segment: Segment, earlier: int, later: int, atomic: bool) -> bool:
        """Whether all that lane `earlier` did in the segment so far, atomically or not, happens before what lane `later`
        does now."""
        machine, scope = self.machine, DEVICE
        if machine.slot_of_lane[earlier] == machine.slot_of_lane[later]:
            same = machine.sub_groups.team[earlier] == machine.sub_groups.team[later]
            scope = SUB_GROUP if same else WORK_GROUP
        moments = self.touched.get((segment.number, atomic))
        after = 0 if moments is None else int(moments[earlier])
        key = earlier, after, len(self.events), scope, segment.space
        if key not in self.answers:
            self.answers[key] = self._replay(earlier, after, scope, segment.space)
        return bool(self.answers[key][later])

    def _replay(self, lane: int, after: int, scope: int, space: Space) -> npt.NDArray[np.bool_]:
        none = np.zeros(self.machine.lanes, bool)
        known = Known(none, none.copy(), none.copy())
        known.lanes[lane] = True
        for event in self.events:
            if event.moment <= after:
                continue
            if isinstance(event, Meeting):
                if space in event.spaces:
                    teams = np.unique(event.teams[event.lanes[known.lanes[event.lanes]]])
                    known.lanes[event.lanes[np.isin(event.teams[event.lanes], teams)]] = True
            elif event.order.scope < scope:
                continue
            elif isinstance(event, Fence):
                _pass_fence(event, known, space)
            else:
                _pass_atomic(event, known)
        return known.lanes


def _pass_fence(event: Fence, known: Known, space: Space) -> None:
    if space not in event.spaces:
        return
    if event.order.acquires:
        known.lanes[event.lanes] |= known.seen[event.lanes]
    if event.order.releases:
        known.fenced[event.lanes] |= known.lanes[event.lanes]


def _pass_atomic(event: Atomic, known: Known) -> None:
    if not known.places and not known.lanes[event.lanes].any():
        return
    for lane, place in zip(event.lanes.tolist(), event.places, strict=True):
        order = event.order.failed if lane in event.failed else event.order
        if place in known.places and not order.stores:
            known.seen[lane] = True
            if order.acquires:
                known.lanes[lane] = True
        if order.loads:
            continue
        if (order.releases and known.lanes[lane]) or known.fenced[lane]:
            known.places.add(place)
        elif order.stores:
            known.places.discard(place)
