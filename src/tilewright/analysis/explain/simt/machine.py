"""The SIMT machine: a batch of work-groups in lockstep, one lane per work-item."""

from collections.abc import Callable, Sequence

import numpy as np

from ....errors import SourceError
from ..clc.lexer import Position
from ..clc.types import Space
from .findings import DIVERGENT
from .machine_state import Group, MachineState, Recorder
from .masks import Mask
from .memory import VirtualMemory
from .ordering import Ordering
from .shadow import ITEM_BITS

LOCAL_FENCE, GLOBAL_FENCE = 1, 2
WATCHED = 64  # steps between two calls of a watcher
Watch = Callable[[int, int], bool]  # gets the steps taken and the work-groups begun; True ends the run


class OutOfSteps(SourceError):
    """A run that needs more steps than it may take."""


def not_watched(steps: int, groups: int) -> bool:
    """Let the run go on."""
    return False


class Machine(MachineState):
    """The lanes of `slots` work-groups of one NDRange, run together to save time. Values and memory of different groups never
    mix."""

    def __init__(
        self,
        global_size: Sequence[int],
        local_size: Sequence[int],
        slots: int,
        recorder: Recorder,
        step_limit: int,
        fill: int = 0,
        watch: Watch = not_watched,
    ) -> None:
        super().__init__(global_size, local_size, slots, recorder, fill)
        self.steps = self.step_limit = step_limit
        self.watch = watch
        self.next_watched = step_limit - WATCHED
        self.groups_begun = 0
        self.ordering = Ordering(self)
        self.memory = VirtualMemory(self, self.ordering)
        self.begin([])

    def begin(self, groups: Sequence[Group]) -> Mask:
        """Starts `groups` with fresh local memory: the mask of their lanes."""
        mask = self.start(groups)
        self.groups_begun += len(groups)
        self.memory.new_batch()
        self.ordering.begin()
        if self.groups:
            self.recorder.begin(self.groups, self.items)
        return mask

    def covers(self, mask: Mask) -> bool:
        """Whether `mask` has every lane that has not returned. Then a variable may be replaced instead of merged."""
        return mask.count == self.live_count

    def leave(self, mask: Mask) -> None:
        """The lanes of `mask` return from the kernel."""
        self.live = self.live & ~mask.lanes
        self.live_count = int(self.live.sum())

    def tick(self, position: Position, mask: Mask) -> None:
        """Count one loop iteration or call. Too many of them stop the run."""
        self.steps -= 1
        self.recorder.iterations(position, mask, 1)
        over = self.steps < 0
        if self.steps < self.next_watched:
            self.next_watched = self.steps - WATCHED
            over = over or self.watch(self.steps_taken, self.groups_begun)
        if over:
            words = (
                f"stopped after {min(self.steps_taken, self.step_limit)} loop iterations and calls; raise the step limit, or run "
                "a smaller problem"
            )
            raise OutOfSteps(position.file, position.line, position.column, words)

    @property
    def steps_taken(self) -> int:
        return self.step_limit - self.steps

    def barrier(self, mask: Mask, fence: int, position: Position) -> None:
        """A barrier of all lanes of a group. Afterwards, memory of the spaces in `fence` is in order."""
        self.check_together(mask, position, "barrier")
        spaces = [space for flag, space in ((LOCAL_FENCE, Space.LOCAL), (GLOBAL_FENCE, Space.GLOBAL)) if fence & flag]
        if fence & GLOBAL_FENCE:
            self.ordering.fence(mask)
        self.ordering.barrier(mask)
        everyone = mask.count == len(self.groups) * self.items
        step = np.int64(1 << ITEM_BITS)
        self.clock += 1
        for space in spaces:
            if everyone:
                self.tags[space] = self.tags[space] + step
                self.synced[space] = self.clock
            else:
                reached = np.bincount(self.slot_of_lane[mask.indices], minlength=self.slots) > 0
                self.tags[space] = self.tags[space] + step * reached[self.slot_of_lane]
        if everyone and Space.LOCAL in spaces:
            self.memory.forget_local_reads()
        self.recorder.barrier(position)

    def check_together(self, mask: Mask, position: Position, what: str) -> None:
        """Finds groups of which only a part executes what all must execute."""
        if mask.count == len(self.groups) * self.items:
            return
        reached = np.bincount(self.slot_of_lane[mask.indices], minlength=self.slots)
        for slot, group in enumerate(self.groups):
            count = int(reached[slot])
            if count in (0, self.items):
                continue
            lanes = slice(slot * self.items, (slot + 1) * self.items)
            missing = int(np.flatnonzero(~mask.lanes[lanes])[0]) + slot * self.items
            gone = "; it has returned already" if not self.live[missing] else ""
            self.findings.add(
                DIVERGENT,
                position,
                f"not all work-items of a group reach this {what}",
                f"{count} of {self.items} do, {self._name(missing % self.items, group)} does not{gone}",
            )
