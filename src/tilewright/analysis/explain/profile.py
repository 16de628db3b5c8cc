"""What a kernel's accesses cost, as records: requests, sectors, lines, wavefronts, and the least they could be."""

from dataclasses import dataclass

from .clc.lexer import Position
from .models.rules import Model
from .simt.machine_state import Group


@dataclass(frozen=True)
class Request:
    """One instruction of one sub-group: the byte each lane starts at (None where it does not take part)."""

    addresses: tuple[int | None, ...]
    size: int
    group: Group
    first_item: int  # linear local id of lane 0


@dataclass(frozen=True)
class LineAccess:
    """What one access in the source did in all groups that were run.

    Global and constant memory: `cost` counts sectors, `ideal` the sectors that its different bytes need, `lines` cache
    lines. Local memory: `cost` counts wavefronts, `ideal` the fewest for this width; `lines` is 0. `useful_bytes` are
    different bytes asked for, summed over requests; `lane_bytes` all bytes that lanes asked for. `degree` is the worst
    request's cost over its ideal. `by_group` holds (group, requests, cost).
    """

    position: Position
    operation: str
    space: str
    buffer: str
    size: int
    requests: int
    cost: int
    ideal: int
    lines: int
    useful_bytes: int
    lane_bytes: int
    degree: float
    worst: Request
    first: Request
    by_group: tuple[tuple[Group, int, int], ...]
    assumed_wide: bool = False
    sector: int = 32
    row: tuple[int, int] = (0, 0)  # bytes of a row and of an element, where the buffer is a two-dimensional array

    @property
    def is_local(self) -> bool:
        return self.space == "local"

    @property
    def per_request(self) -> float:
        """Sectors, or wavefronts, per request."""
        return self.cost / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        return self.ideal / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """Global: different bytes asked for over bytes moved. Local: fewest wavefronts over wavefronts."""
        if not self.cost:
            return 1.0
        return self.ideal / self.cost if self.is_local else self.useful_bytes / (self.sector * self.cost)

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond the fewest possible; 0 for global memory."""
        return self.cost - self.ideal if self.is_local else 0


@dataclass(frozen=True)
class Phase:
    """The accesses between two barriers, in the order in which they first happened: (line, operation, space, buffer,
    times). `barrier` is the line of the barrier that ends it, 0 at the end of the kernel."""

    accesses: tuple[tuple[int, str, str, str, int], ...]
    barrier: int


@dataclass(frozen=True)
class Profile:
    """The traffic of the groups that were run, access by access in the order of the source."""

    model: Model
    groups: tuple[Group, ...]
    accesses: tuple[LineAccess, ...]
    phases: tuple[Phase, ...]
    barriers: int
