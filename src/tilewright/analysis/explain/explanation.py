"""The record of an explained kernel: its NDRange, traffic, findings and results."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .clc.lexer import Position
from .coverage import Coverage
from .loop_places import LoopPlace
from .models import Model
from .private_arrays import PrivateArray
from .profile import LineAccess, Profile
from .simt import Finding
from .simt.machine_state import Group
from .source_lines import SourceText


@dataclass(frozen=True)
class Stop:
    """Where a run was ended early, after `steps`: `ended` of the `chosen` work-groups had run to their end."""

    position: Position
    steps: int
    ended: int
    chosen: int


@dataclass(frozen=True)
class Explanation:
    """What a kernel does to memory. `groups` are the executed work-groups; `group_count` is the number of all.

    `stop` says how far a run came that needed too many steps; None if it ended. `rounding` is a sentence about a global
    size that was rounded up, or "".
    """

    name: str
    entry: str
    entry_position: Position
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    macros: Mapping[str, str | int]
    profile: Profile
    findings: tuple[Finding, ...]
    outputs: Mapping[str, np.ndarray]
    source: SourceText
    group_count: int
    seconds: float
    coverage: tuple[Coverage, ...] = ()
    private_arrays: tuple[PrivateArray, ...] = ()
    buffers: Mapping[str, str] = field(default_factory=dict)  # argument -> the plan's buffer, where they differ
    earlier: tuple["Explanation", ...] = ()  # the kernel's launches before this one
    stop: Stop | None = None
    rounding: str = ""
    loops: tuple[LoopPlace, ...] = ()  # that were executed, in the order of the source
    assumed: tuple[str, ...] = ()  # arguments that nobody gave, as options, and how to change them
    why_model: str = ""  # why these rules were chosen, if nobody asked for them

    @property
    def model(self) -> Model:
        return self.profile.model

    @property
    def groups(self) -> tuple[Group, ...]:
        return self.profile.groups

    @property
    def accesses(self) -> tuple[LineAccess, ...]:
        return self.profile.accesses

    @property
    def private_accesses(self) -> tuple[LineAccess, ...]:
        """The accesses of private arrays that lie off-chip."""
        return self.profile.private

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that are errors. Benign races are not among them."""
        return tuple(each for each in self.findings if each.is_fault)
