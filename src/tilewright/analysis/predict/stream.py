"""Records the stream of sectors while the interpreter runs, and feeds the L1 of one multiprocessor with it.

The interpreter runs work-groups in lockstep: each access of the source is made by all of them before the next. That is close to
the order in which the groups that are resident on a multiprocessor reach its L1.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
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
from .cache import SectoredCache, Sectors

SECTOR, LINE = 32, 128
OFF_CHIP = (Space.GLOBAL, Space.CONSTANT)
_BIAS = 1 << 30


@dataclass(frozen=True)
class Pattern:
    """One access relative to its first byte's line: the sectors of each request, those of the first group, and how far the
    other groups' bytes lie from the first group's (None where they are no shift of it)."""

    sectors: Sectors  # of all requests on the simulated multiprocessor: a sector once for each request
    requests: Sectors  # whose they are
    first_group: Sectors
    shifts: tuple[tuple[int, int | None], ...]


@dataclass
class SiteTraffic:
    """What one access of the source asks of L1: sectors, and those that were there."""

    line: tuple[str, int]
    operation: str
    sectors: int = 0
    hits: int = 0
    requests: int = 0
    late: int = 0  # requests that wait for L2, also for a sector that another one has just asked for

    @property
    def late_rate(self) -> float:
        return self.late / self.requests if self.requests else 0.0


@dataclass(frozen=True)
class Touch:
    """One access of the first group, for the simulation of L2."""

    segment: int
    site: int
    store: bool
    base: int  # sectors
    sectors: Sectors


@dataclass
class Layout:
    """Where buffers lie in one space of sectors."""

    starts: dict[int, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    end: int = 0

    def start(self, segment: Segment) -> int:
        known = self.starts.get(segment.number)
        if known is None:
            known = self.starts[segment.number] = self.end
            self.sizes[segment.number] = -(-segment.size // SECTOR)
            self.names[segment.number] = segment.name
            self.end += -(-segment.size // 256) * 8 + 8
        return known


class StreamRecorder(TrafficRecorder):
    """Also simulates L1 for the `resident` groups, and keeps the accesses of the first group. Loops' iterations are counted in
    warps."""

    def __init__(self, model: Model, resident: tuple[Group, ...], cache_bytes: int) -> None:
        super().__init__(model)
        self.on_chip, self.cache_bytes = resident, cache_bytes
        self.layout = Layout()
        self.sites: dict[int, SiteTraffic] = {}
        self.touches: list[Touch] = []
        self.shifts: dict[tuple[int, int, int], Counter[int | None]] = {}  # by segment, site and place of the group
        self.loops: dict[tuple[str, int], Counter[Group]] = {}
        self.unknown: set[str] = set()  # units of the device that took part, and whose time is not modelled
        self._patterns: dict[tuple[int, bytes, bytes], Pattern] = {}
        self._cache: SectoredCache | None = None
        self._slots: list[int] = []
        self.warps_of_group = 1
        self._together = False

    def begin(self, groups: list[Group], items: int) -> None:
        super().begin(groups, items)
        self.warps_of_group = -(-items // self.model.lanes)
        self._slots = [slot for slot, group in enumerate(groups) if group in self.on_chip] if self.batches == 1 else []
        self._patterns.clear()

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        counts = self.loops.setdefault((position.file, position.line), Counter())
        if mask.everyone:
            counts.update(dict.fromkeys(self.groups, self.warps_of_group * count))
            return
        slots, warps = np.unique(np.unique(self._warps(mask.indices)) // self.warps_of_group, return_counts=True)
        counts.update({self.groups[slot]: int(number) * count for slot, number in zip(slots, warps, strict=True)})

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None:
        self.unknown.add("tensor cores")

    def arrived(self, segment: Segment, offsets: npt.NDArray[np.int64], size: int) -> None:
        self.unknown.add("TMA")

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        super().record(site, segment, offsets, mask)
        if not self._together:
            self._follow_stream(site, segment, offsets, mask)

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None:
        self._together = True  # counts come all at once; the stream has to be in order
        super().record_rows(loads, count, mask)
        self._together = False
        for iteration in range(count):
            for site, segment, offsets, same in loads:
                row = offsets[iteration if len(offsets) > 1 else 0]
                self._follow_stream(site, segment, np.broadcast_to(row, mask.count) if same else row, mask)

    def _follow_stream(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        if segment.space in OFF_CHIP and self._slots:
            base = int(offsets[0]) // LINE * LINE
            key = (site.number, (offsets - base).tobytes(), mask.signature)
            pattern = self._patterns.get(key)
            if pattern is None:
                if len(self._patterns) > 4096:
                    self._patterns.clear()
                pattern = self._patterns[key] = self._analyse(offsets - base, mask, site.size)
            self._enter(site, segment, base // SECTOR, pattern)

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        super().record_same(site, segment, offset, mask)
        self._follow_stream(site, segment, np.full(mask.count, offset), mask)

    def _warps(self, lanes: Any) -> Any:
        return lanes // self.items * self.warps_of_group + lanes % self.items // self.model.lanes

    def _analyse(self, offsets: Any, mask: Mask, size: int) -> Pattern:
        """The pattern of one access, `offsets` being relative to its line."""
        lanes = mask.indices
        slots = lanes // self.items
        first, last = offsets // SECTOR, (offsets + size - 1) // SECTOR
        most = int((last - first).max()) + 1
        each = first[:, None] + np.arange(most)
        valid = each <= last[:, None]
        requests = np.repeat(self._warps(lanes), most).reshape(-1, most)
        simulated = valid & np.isin(slots, self._slots)[:, None]
        pairs = np.unique((requests[simulated] << 32) + each[simulated] + _BIAS)
        first_group = np.unique(each[valid & (slots == 0)[:, None]])
        return Pattern((pairs & 0xFFFFFFFF) - _BIAS, pairs >> 32, first_group, self._shifts(offsets, slots))

    def _shifts(self, offsets: Any, slots: Any) -> tuple[tuple[int, int | None], ...]:
        counts = np.bincount(slots, minlength=len(self.groups))
        ends = np.cumsum(counts)
        own = offsets[: counts[0]]
        found: list[tuple[int, int | None]] = []
        for slot in range(1, len(counts)):
            if not counts[slot] or not counts[0]:
                continue
            other = offsets[ends[slot] - counts[slot] : ends[slot]]
            shift = None
            if counts[slot] == counts[0]:
                apart = other - own
                shift = int(apart[0]) if (apart == apart[0]).all() else None
            found.append((slot, shift))
        return tuple(found)

    def _enter(self, site: Site, segment: Segment, base: int, pattern: Pattern) -> None:
        start = self.layout.start(segment) + base
        store = site.operation != "load"
        traffic = self.sites.get(site.number)
        if traffic is None:
            place = (site.position.file, site.position.line)
            traffic = self.sites[site.number] = SiteTraffic(place, site.operation)
        traffic.sectors += len(pattern.sectors)
        if len(pattern.sectors) and not store:
            different = np.unique(pattern.sectors)
            there = self._l1(start + different)
            traffic.hits += len(pattern.sectors) - len(different) + int(there.sum())
            traffic.requests += len(np.unique(pattern.requests))
            if not there.all():
                waiting = np.isin(pattern.sectors, different[~there])
                traffic.late += len(np.unique(pattern.requests[waiting]))
        if len(pattern.first_group):
            self.touches.append(Touch(segment.number, site.number, store, start, pattern.first_group))
        for slot, shift in pattern.shifts:
            self.shifts.setdefault((segment.number, site.number, slot), Counter())[shift] += 1

    def _l1(self, sectors: Sectors) -> Any:
        if self._cache is None:
            self._cache = SectoredCache(self.cache_bytes, 1 << 16)
        highest = int(sectors.max()) // 4 + 2
        if highest > len(self._cache.used):
            grown = max(highest, 2 * len(self._cache.used)) - len(self._cache.used)
            self._cache.used = np.concatenate((self._cache.used, np.full(grown, -1, np.int32)))
            self._cache.valid = np.concatenate((self._cache.valid, np.zeros(grown, np.uint8)))
        return self._cache.touch(np.maximum(sectors, 0))
