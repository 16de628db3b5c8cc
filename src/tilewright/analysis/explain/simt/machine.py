"""The SIMT machine: a batch of work-groups in lockstep, one lane per work-item."""

from collections.abc import Callable, Sequence

import numpy as np

from ....core.language import Sentence
from ....errors import SourceError
from ..clc.lexer import Position
from ..clc.types import Space
from ..terms import term
from .findings import DIVERGENT, Finding
from .machine_state import Group, MachineState, Recorder
from .masks import Mask
from .memory import VirtualMemory
from .ordering import Ordering
from .pending_copies import PendingCopies
from .team_order import ITEM, ITEM_BITS, Floors
from .teams import Teams
from .transaction_barriers import TransactionBarriers

LOCAL_FENCE, GLOBAL_FENCE, IMAGE_FENCE = 1, 2, 4
_SPACES = ((LOCAL_FENCE, Space.LOCAL), (GLOBAL_FENCE, Space.GLOBAL), (IMAGE_FENCE, Space.IMAGE))
FAULTS_NAMED = 3  # in the message of a run that ended too early
WATCHED = 64  # steps between two calls of a watcher
Watch = Callable[[int, int], bool]  # gets the steps taken and the work-groups begun; True ends the run


class OutOfSteps(SourceError):
    """A run that needs more steps than it may take. `findings` are those that it had by then: they may say why."""

    findings: tuple[Finding, ...] = ()

    def with_findings(self, findings: tuple[Finding, ...]) -> "OutOfSteps":
        """The same with what was found before; the message names the faults, the first one first."""
        faults = sorted((each for each in findings if each.is_fault), key=lambda each: each.order)
        said = "; ".join(f"{each.kind} at line {each.position.line}: {each.text}" for each in faults[:FAULTS_NAMED])
        more = f"; and {len(faults) - FAULTS_NAMED} more" if len(faults) > FAULTS_NAMED else ""
        reason = f"{self.reason}. Before that, and perhaps the cause: {said}{more}" if faults else self.reason
        told = OutOfSteps(self.file, self.line, self.column, reason)
        told.findings = findings
        return told


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
        offset: Sequence[int] = (),
        sub_group: int = 32,
    ) -> None:
        super().__init__(global_size, local_size, slots, recorder, fill, offset, sub_group)
        self.steps = self.step_limit = step_limit
        self.watch = watch
        self.next_watched = step_limit - WATCHED
        self.groups_begun = 0
        self.iterations: dict[Position, int] = {}  # of each loop, by sub-group
        self.ordering = Ordering(self)
        self.memory = VirtualMemory(self, self.ordering)
        self.pending_copies = PendingCopies()
        self.transactions = TransactionBarriers()
        self.matrix_addresses: dict[int, int] = {}  # of tensor maps, by the map's own address
        self.begin([])

    def begin(self, groups: Sequence[Group]) -> Mask:
        """Starts `groups` with fresh local memory: the mask of their lanes."""
        mask = self.start(groups)
        self.groups_begun += len(groups)
        self.memory.new_batch()
        self.pending_copies.begin()
        self.transactions.begin()
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

    def tick(self, position: Position) -> None:
        """Count one loop iteration or call. Too many of them stop the run."""
        self.steps -= 1
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

    def count_iterations(self, position: Position, mask: Mask, count: int = 1) -> None:
        """The sub-groups with a lane in `mask` run `count` iterations of the loop at this position."""
        active = self.sub_group_count if mask.everyone else np.unique(self.sub_group_of_lane[mask.indices]).size
        self.iterations[position] = self.iterations.get(position, 0) + count * active
        self.recorder.iterations(position, mask, count)

    @property
    def steps_taken(self) -> int:
        return self.step_limit - self.steps

    def barrier(self, mask: Mask, fence: int, position: Position) -> None:
        """A barrier of all lanes of a group. Afterwards, memory of the spaces in `fence` is in order."""
        self.check_together(mask, position, "barrier")
        spaces = fenced_spaces(fence)
        if fence & GLOBAL_FENCE:
            self.ordering.fence(mask)
        self.ordering.barrier(mask)
        self.ordering.synchronisation.barrier(mask, spaces, self.slot_of_lane)
        everyone = mask.count == self.whole_count
        step = np.int64(1 << ITEM_BITS)
        self.clock += 1
        for space in spaces:
            self.join_sub_groups(space, mask)
            if everyone:
                self.tags[space] = self.tags[space] + step
                self.synced[space] = self.clock
            else:
                reached = (
                    np.bincount(self.slot_of_lane[mask.indices].astype(np.intp, copy=False), minlength=self.slots) > 0
                )
                self.tags[space] = self.tags[space] + step * reached[self.slot_of_lane]
        if everyone and Space.LOCAL in spaces:
            self.memory.forget_local_reads()
        self.last_barrier = position.line
        self.recorder.barrier(position)

    def sub_group_barrier(self, mask: Mask, fence: int, position: Position) -> None:
        """A barrier of all lanes of a sub-group. Afterwards, what they did in the spaces of `fence` is in order for them, and
        for nobody else."""
        self.check_together(mask, position, "sub_group_barrier", self.sub_groups)
        reached = self.sub_groups.reached(mask)[self.sub_groups.team] > 0
        self.ordering.synchronisation.barrier(mask, fenced_spaces(fence), self.sub_groups.team)
        for space in fenced_spaces(fence):
            if space not in self.floors:
                self.floors[space] = Floors(self.tags[space] & ~ITEM, self.span, self.sub_group)
            self.tags[space] = self.tags[space] + (reached.astype(np.int64) << ITEM_BITS)

    def join_sub_groups(self, space: Space, mask: Mask) -> None:
        """The work-groups of `mask` meet at a barrier: their lanes have one epoch again, later than all before."""
        floors = self.floors.get(space)
        if floors is None:
            return
        reached = self.work_groups.reached(mask)[self.slot_of_lane] > 0
        epochs = (self.tags[space] & ~ITEM).reshape(self.slots, self.items).max(axis=1)[self.slot_of_lane]
        self.tags[space] = np.where(reached, epochs | (self.tags[space] & ITEM), self.tags[space])
        after = epochs + (1 << ITEM_BITS)
        self.floors[space] = Floors(np.where(reached, after, floors.epochs), self.span, self.sub_group)
        if reached[: len(self.groups) * self.items].all():
            del self.floors[space]

    def check_together(
        self, mask: Mask, position: Position, what: str, teams: Teams | None = None, kind: str = DIVERGENT
    ) -> None:
        """Finds groups (or other `teams`) of which only a part executes what all must execute."""
        if mask.count == self.whole_count:
            return
        teams = teams or self.work_groups
        reached = teams.reached(mask)
        for team in np.flatnonzero((reached > 0) & (reached < teams.reached(self.begun))).tolist():
            members = teams.members[team][teams.exists[team]]
            members = members[self.begun.lanes[members]]
            missing = int(members[~mask.lanes[members]][0])
            text = Sentence("not all work-items of a {team} reach this {what}", team=term(teams.name), what=term(what))
            self.findings.add(kind, position, text, self._missing(int(reached[team]), len(members), missing))

    def _missing(self, reached: int, members: int, missing: int) -> Sentence:
        """How many members of a team came, and one that did not."""
        item = self.item_name(missing)
        if self.live[missing]:
            return Sentence("{some} of {all} do, {item} does not", some=reached, all=members, item=item)
        return Sentence(
            "{some} of {all} do, {item} does not; it has returned already", some=reached, all=members, item=item
        )


def fenced_spaces(fence: int) -> list[Space]:
    """The spaces that the flags of a fence name."""
    return [space for flag, space in _SPACES if fence & flag]
