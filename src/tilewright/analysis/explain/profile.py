"""Records of the cost of a kernel's accesses: requests, sectors, lines, wavefronts, and the least possible."""

from dataclasses import dataclass

from .clc.lexer import Position
from .models.rules import Model
from .simt.machine_state import Group


@dataclass(frozen=True)
class Request:
    """One instruction of one sub-group: the first byte of each lane's access, None if the lane does not take part."""

    addresses: tuple[int | None, ...]
    size: int
    group: Group
    first_item: int  # linear local id of lane 0


@dataclass(frozen=True)
class LineAccess:
    """The cost of one access in the source, over all executed groups.

    Global and constant memory: `cost` counts sectors, `ideal` the sectors that its different bytes need, `lines` cache
    lines. Local memory: `cost` counts wavefronts, `ideal` the fewest for this width; `lines` is 0. `useful_bytes` are
    different bytes asked for, summed over requests; `lane_bytes` all bytes that lanes asked for. `degree` is the worst
    request's cost over its ideal. Images have no cost. `by_group` holds (group, requests, cost).
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
    def is_image(self) -> bool:
        """Texels of an image: requests and useful bytes are counted, but no sectors, since tiled layouts are not public."""
        return self.space == "image"

    @property
    def per_request(self) -> float:
        """Sectors, or wavefronts, per request."""
        return self.cost / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        return self.ideal / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """Global memory: different bytes asked for, over bytes moved. Local memory: fewest wavefronts, over wavefronts."""
        if not self.cost:
            return 1.0
        return self.ideal / self.cost if self.is_local else self.useful_bytes / (self.sector * self.cost)

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond the fewest possible; 0 for global memory."""
        return self.cost - self.ideal if self.is_local else 0


@dataclass(frozen=True)
class Phase:
    """The accesses between two barriers, in the order of their first execution: (line, operation, space, buffer, times).
    `barrier` is the line of the barrier at the end, 0 at the end of the kernel."""

    accesses: tuple[tuple[int, str, str, str, int], ...]
    barrier: int


@dataclass(frozen=True)
class Profile:
    """The traffic of the executed groups, access by access in source order."""

    model: Model
    groups: tuple[Group, ...]
    accesses: tuple[LineAccess, ...]
    phases: tuple[Phase, ...]
    barriers: int
