"""From one work-group's accesses to those of all: footprint, and what L2 must fetch from memory.

Most kernels' groups make the same accesses, shifted by constants for each step along a dimension of the NDRange. Where that
holds, the accesses of any group follow from those of one. Where it does not (indices from data), a buffer that a group reads in
one piece is taken to be cut among the groups in order, and any other to be read at random.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..explain.simt.machine_state import Group
from .cache import SectoredCache
from .stream import SECTOR, Layout, StreamRecorder, Touch

SLICES = 48  # pieces of a group's life
MOST_TOUCHES = 12_000_000  # sectors entered into L2: a few seconds
REGULAR = 0.8  # of the accesses must be shifted by the same constant
DENSE = 0.5  # of the sectors between the first and last that a group touches


@dataclass(frozen=True)
class BufferUse:
    """How groups use one buffer: bytes that one group's accesses shift by for each step in x, y and z; None if irregular.
    `blocks` says that an irregular buffer is cut among the groups in order."""

    step: tuple[float, float, float] | None
    blocks: bool
    own: int  # different sectors that one group touches


@dataclass(frozen=True)
class Traffic:
    """Sectors of a whole launch: different ones loaded and stored; loads that hit in L2, fetched from memory and written back,
    when L2 begins empty (`cold`) and as the same launch left it."""

    loaded: int
    stored: int
    cold_missed: int
    cold_fetched: int
    cold_written: int
    missed: int
    fetched: int
    written: int

    @property
    def footprint(self) -> int:
        return self.loaded + self.stored


def buffer_uses(recorder: StreamRecorder, groups: Sequence[Group]) -> dict[int, BufferUse]:
    """How each buffer is used, from the shifts between the executed groups."""
    touched: dict[int, list[Any]] = {}
    for each in recorder.touches:
        touched.setdefault(each.segment, []).append(each.base + each.sectors)
    found = {}
    for segment, parts in touched.items():
        own = np.unique(np.concatenate(parts))
        step = _step(recorder.shifts, segment, groups)
        dense = len(own) > DENSE * (own[-1] - own[0] + 1)
        found[segment] = BufferUse(step, bool(dense), len(own))
    return found


def _step(
    shifts: dict[tuple[int, int], Counter[int | None]], segment: int, groups: Sequence[Group]
) -> tuple[float, float, float] | None:
    """Bytes for each step of a group's coordinates, by least squares; None if the shifts are no such thing."""
    rows, values = [], []
    for slot in range(1, len(groups)):
        counts = shifts.get((segment, slot))
        if counts is None:
            continue
        shift, times = counts.most_common(1)[0]
        if shift is None or times < REGULAR * counts.total():
            continue
        rows.append([a - b for a, b in zip(groups[slot], groups[0], strict=True)])
        values.append(shift)
    seen = sum((segment, slot) in shifts for slot in range(1, len(groups)))
    if not rows or len(rows) < REGULAR * seen:
        return None if seen else (0.0, 0.0, 0.0)
    solved = np.linalg.lstsq(np.array(rows, float), np.array(values, float), rcond=None)[0]
    if np.abs(np.array(rows) @ solved - np.array(values)).max() > SECTOR:
        return None
    return float(solved[0]), float(solved[1]), float(solved[2])


class Launches:
    """The accesses of all groups of a launch, made from those of one."""

    def __init__(
        self, touches: Sequence[Touch], uses: dict[int, BufferUse], layout: Layout, first: Group, counts: Group
    ) -> None:
        self.touches, self.uses, self.layout, self.first, self.counts = touches, uses, layout, first, counts
        self.total = counts[0] * counts[1] * counts[2]
        self.chance = np.random.default_rng(1)

    def shifts(self, segment: int, numbers: Any) -> Any:
        """In sectors, for the groups of these numbers (x fastest)."""
        use, size = self.uses[segment], self.layout.sizes[segment]
        if use.step is None:
            if use.blocks:
                return (numbers - self.total // 2) * max(1, size // max(self.total, 1))
            return self.chance.integers(0, max(size, 1), len(numbers))
        x, y, z = (
            numbers % self.counts[0],
            numbers // self.counts[0] % self.counts[1],
            numbers // (self.counts[0] * self.counts[1]),
        )
        own = (x - self.first[0]) * use.step[0] + (y - self.first[1]) * use.step[1] + (z - self.first[2]) * use.step[2]
        return np.floor_divide(own, SECTOR).astype(np.int64)

    def sectors(self, segment: int, own: Any, numbers: Any) -> Any:
        """The different sectors that these groups touch, if the first one touches `own`."""
        start, size = self.layout.starts[segment], self.layout.sizes[segment]
        shifts = np.unique(self.shifts(segment, numbers))
        whole = (own[None, :] - start + shifts[:, None]).ravel()
        if self.uses[segment].step is None:
            whole %= max(size, 1)
        else:
            whole = whole[(whole >= 0) & (whole < size)]
        seen = np.zeros(size, bool)
        seen[whole] = True
        return start + np.flatnonzero(seen)

    def footprint(self, segment: int, store: bool) -> int:
        """Different sectors of a buffer that all groups load, or store."""
        parts = [each.base + each.sectors for each in self.touches if each.segment == segment and each.store == store]
        if not parts:
            return 0
        own, size, use = np.unique(np.concatenate(parts)), self.layout.sizes[segment], self.uses[segment]
        if use.step is None:
            if use.blocks:
                return int(min(size, len(own) * self.total))
            return int(size * -np.expm1(self.total * np.log1p(-min(len(own) / size, 0.999999))))
        numbers = np.arange(self.total)
        shifts = np.unique(self.shifts(segment, numbers))
        if len(shifts) * len(own) <= MOST_TOUCHES:
            return len(self.sectors(segment, own, numbers))
        return int(min(size, len(shifts) * len(own)))


def traffic_of(launches: Launches, cache_bytes: int, at_once: int) -> Traffic:
    """What L2 of `cache_bytes` fetches and writes, `at_once` groups being resident on the device.

    Of what is stored, L2 still holds a share at the end: as much of its capacity as stores have of all that is touched.
    """
    loads = {segment: launches.footprint(segment, False) for segment in launches.uses}
    stores = {segment: launches.footprint(segment, True) for segment in launches.uses}
    both = sum(max(loads[each], stores[each]) for each in loads)
    loaded, stored = sum(loads.values()), sum(stores.values())
    capacity = cache_bytes // SECTOR
    missed, fetched = simulated(launches, cache_bytes, at_once)
    if both <= capacity:
        return Traffic(loaded, stored, min(missed, loaded), loaded, 0, 0, 0, 0)
    held = capacity * stored // max(both, 1)
    fetched = max(fetched, loaded)
    return Traffic(loaded, stored, missed, fetched, max(0, stored - held), missed, fetched, stored)


def simulated(launches: Launches, cache_bytes: int, at_once: int) -> tuple[int, int]:
    """Sectors of loads that L2 does not have, and those that it fetches for them, in pairs: the groups run in waves, and all
    groups of a wave are equally far."""
    cache = SectoredCache(cache_bytes, launches.layout.end, pairs=True)
    slices = sliced(launches.touches)
    missed = fetched = entered = done = 0
    for first in range(0, launches.total, at_once):
        numbers = np.arange(first, min(first + at_once, launches.total))
        for part in slices:
            for (segment, store), own in part.items():
                sectors = launches.sectors(segment, own, numbers)
                hits = cache.touch(sectors)
                entered += len(sectors)
                if not store:
                    missing = sectors[~hits]
                    missed += len(missing)
                    fetched += 2 * len(np.unique(missing // 2))
        done += len(numbers)
        if entered > MOST_TOUCHES:
            break
    scale = launches.total / max(done, 1)
    return round(missed * scale), round(fetched * scale)


def sliced(touches: Sequence[Touch]) -> list[dict[tuple[int, bool], Any]]:
    """The accesses of one group in slices of time: the different sectors of each buffer."""
    found = []
    bounds = np.linspace(0, len(touches), min(SLICES, max(1, len(touches))) + 1).astype(int)
    for first, last in pairwise(bounds):
        parts: dict[tuple[int, bool], list[Any]] = {}
        for each in touches[first:last]:
            parts.setdefault((each.segment, each.store), []).append(each.base + each.sectors)
        found.append({key: np.unique(np.concatenate(values)) for key, values in parts.items()})
    return found
