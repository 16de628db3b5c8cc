"""Records the accesses of a work-group in order, what local memory holds at its barriers, and the products of its warps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..explain.clc.lexer import Position
from ..explain.clc.types import Space
from ..explain.models.rules import Model
from ..explain.recorder import TrafficRecorder
from ..explain.simt.compiled_code import Site
from ..explain.simt.machine_state import Group, Rows
from ..explain.simt.masks import Mask
from ..explain.simt.segments import Segment

Numbers = npt.NDArray[np.int64]
REGISTER_BYTES = 1024  # the most of a private array in registers: longer ones are observed, as memory
MOST_SNAPSHOTS = 12  # of one array: later ones repeat the pattern


@dataclass(frozen=True)
class Access:
    """One access of the source by some work-items of the group. `offsets` are the first bytes in the buffer, one for each of
    `items`. `passes` says how many iterations each loop had begun, and `runs` how many runs of a loop inside another one of
    the same position."""

    position: Position
    site: int
    operation: str
    space: Space
    buffer: str
    size: int
    offsets: Numbers
    items: Numbers
    passes: Mapping[Position, int]
    runs: Mapping[Position, int]
    barriers: int

    @property
    def is_load(self) -> bool:
        return self.operation == "load"


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a local or private array at a moment: after `accesses` accesses. `written` are those that were written."""

    accesses: int
    array: str
    data: npt.NDArray[np.uint8]
    written: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Product:
    """One matrix instruction of the group's warps: the elements of A and B in the registers, (registers, warps, 32, elements of
    a register), and where they lie in the instruction's matrices (`MatrixProduct`)."""

    accesses: int
    layout: Any
    a: npt.NDArray[Any]
    b: npt.NDArray[Any]


class AccessRecorder(TrafficRecorder):
    """Keeps the accesses of one work-group, which is run alone."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.private_room = REGISTER_BYTES
        self.accesses: list[Access] = []
        self.snapshots: list[Snapshot] = []
        self.products: list[Product] = []
        self.arrays: dict[str, Segment] = {}  # local and private arrays
        self.barrier_count = 0
        self._passes: Counter[Position] = Counter()
        self._runs: Counter[Position] = Counter()
        self._begun: Position | None = None  # the loop that began an iteration, with no access since
        self._written: dict[str, npt.NDArray[np.bool_]] = {}
        self._batch: tuple[Position, int] | None = None
        self._together = False

    def begin(self, groups: list[Group], items: int) -> None:
        super().begin(groups, items)
        if len(groups) != 1 or self.batches > 1:
            raise ValueError(f"{len(groups)} work-groups in batch {self.batches}: one is recorded")

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        if self._begun == position:
            self._runs[position] += 1
        self._begun = position
        self._batch = position, self._passes[position]
        self._passes[position] += count

    def barrier(self, position: Position) -> None:
        super().barrier(position)
        self.barrier_count += 1
        self.take_snapshots()

    def take_snapshots(self) -> None:
        """What the arrays hold now."""
        for name, segment in self.arrays.items():
            taken = sum(each.array == name for each in self.snapshots)
            if taken < MOST_SNAPSHOTS:
                data = segment.data[: segment.size].copy()
                self.snapshots.append(Snapshot(len(self.accesses), name, data, self._written[name].copy()))

    def record(self, site: Site, segment: Segment, offsets: Numbers, mask: Mask) -> None:
        super().record(site, segment, offsets, mask)
        if not self._together:
            self._append(site, segment, offsets, mask)

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        super().record_same(site, segment, offset, mask)
        self._append(site, segment, np.full(mask.count, offset), mask)

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None:
        self._together = True  # counts come all at once; accesses have to be in order
        super().record_rows(loads, count, mask)
        self._together = False
        assert self._batch is not None
        position, first = self._batch
        for iteration in range(count):
            self._passes[position] = first + iteration + 1
            for site, segment, offsets, same in loads:
                row = offsets[iteration if len(offsets) > 1 else 0]
                self._append(site, segment, np.broadcast_to(row, mask.count) if same else row, mask)

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None:
        self.products.append(Product(len(self.accesses), product, a.copy(), b.copy()))

    def arrived(self, segment: Segment, offsets: Numbers, size: int) -> None:
        if self.arrays.setdefault(segment.name, segment) is segment:
            self._mark_written(segment, size, offsets)

    def _append(self, site: Site, segment: Segment, offsets: Numbers, mask: Mask) -> None:
        self._begun = None
        if segment.space in (Space.LOCAL, Space.PRIVATE):
            if segment.data.size == 0:  # a private array whose values are kept elsewhere
                return
            known = self.arrays.setdefault(segment.name, segment)
            if known is segment and site.operation != "load":
                self._mark_written(segment, site.size, offsets)
        self.accesses.append(
            Access(
                site.position, site.number, site.operation, segment.space, segment.name, site.size,
                np.array(offsets, np.int64), mask.indices.astype(np.int64), dict(self._passes), dict(self._runs),
                self.barrier_count,
            )
        )  # fmt: skip

    def _mark_written(self, segment: Segment, size: int, offsets: Numbers) -> None:
        written = self._written.setdefault(segment.name, np.zeros(segment.size, bool))
        written[(offsets[:, None] + np.arange(size)).ravel()] = True
