"""Records of the cost of a kernel's accesses: requests, sectors, lines, wavefronts, and the least possible."""

from dataclasses import dataclass

from .clc.lexer import Position
from .models.rules import Model
from .simt.machine_state import Group

SECTORS, WAVEFRONTS, ADDRESSES, NOTHING = "sectors", "wavefronts", "addresses", "none"


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

    `unit` says what `cost` counts. It is addresses in constant memory of devices whose constant cache serves one address
    of a request after the other. Private arrays that lie off-chip are counted in sectors.

    Atomic functions: `turns` is the largest number of lanes on one place, summed over requests, `contention` the largest of
    all requests, and `hottest` the updates of the most updated place: by all executed groups, or by one group in local
    memory.

    `new_lines`, on CPUs: how often a work-item touched another cache line of global memory than it had touched here before.
    Neighbours in time that are neighbours in memory share one.
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
    line: int = 128
    row: tuple[int, int] = (0, 0)  # bytes of a row and of an element, where the buffer is a two-dimensional array
    unit: str = SECTORS
    turns: int = 0
    contention: int = 0
    hottest: int = 0
    new_lines: int = 0

    @property
    def is_local(self) -> bool:
        return self.space == "local"

    @property
    def is_image(self) -> bool:
        """Texels of an image: requests and useful bytes are counted, but no sectors, since tiled layouts are not public."""
        return self.space == "image"

    @property
    def is_private(self) -> bool:
        return self.space == "private"

    @property
    def is_atomic(self) -> bool:
        return self.operation == "atomic"

    @property
    def updates(self) -> int:
        """Atomic updates by work-items."""
        return self.lane_bytes // self.size if self.is_atomic else 0

    @property
    def slots(self) -> int:
        """Passes through the load and store unit, in which costs of all kinds of memory can be added: wavefronts, addresses
        of the constant cache, or for sectors one pass for each line, for each line's worth of sectors and for each request at
        least; an atomic function makes its turns one by one."""
        if self.unit != SECTORS:
            return max(self.requests, self.cost)
        return max(self.requests, self.lines, self.turns, -(-self.cost * self.sector // self.line))

    @property
    def per_request(self) -> float:
        """Sectors, wavefronts or addresses per request."""
        return self.cost / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        return self.ideal / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """Different bytes asked for, over bytes moved; fewest over all where wavefronts or addresses are counted."""
        if not self.cost:
            return 1.0
        return self.ideal / self.cost if self.unit != SECTORS else self.useful_bytes / (self.sector * self.cost)

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond the fewest possible, of loads and stores of local memory."""
        return self.cost - self.ideal if self.is_local and not self.is_atomic else 0


@dataclass(frozen=True)
class Phase:
    """The accesses between two barriers, in the order of their first execution: (line, operation, space, buffer, times).
    `barrier` is the line of the barrier at the end, 0 at the end of the kernel."""

    accesses: tuple[tuple[int, str, str, str, int], ...]
    barrier: int


@dataclass(frozen=True)
class Profile:
    """The traffic of the executed groups, access by access in source order. `private` are accesses of private arrays that lie
    off-chip; the timeline of `phases` leaves them out."""

    model: Model
    groups: tuple[Group, ...]
    accesses: tuple[LineAccess, ...]
    phases: tuple[Phase, ...]
    barriers: int
    private: tuple[LineAccess, ...] = ()
