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
MOST_TOUCHES = 8_000_000  # sectors entered into L2: a few seconds
REGULAR = 0.8  # of the accesses must be shifted by the same constant
DENSE = 0.5  # of the sectors between the first and last that a group touches
SHARED = 1.5  # groups for each sector, from which on a buffer counts as shared
ONCE = 1.2  # a buffer that all groups together touch at most so often is cut among them


Use = tuple[int, int]  # a segment, and an access of the source


@dataclass(frozen=True)
class AccessUse:
    """How groups make one access: bytes that it shifts by for each step in x, y and z; None if irregular. `blocks` says that an
    irregular one cuts its buffer among the groups. `own` are the different sectors that one group touches."""

    step: tuple[float, float, float] | None
    blocks: bool
    own: Any


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


def access_uses(recorder: StreamRecorder, groups: Sequence[Group], total: int) -> dict[Use, AccessUse]:
    """How each access is made, from the shifts between the executed groups. `total` groups are launched."""
    touched: dict[Use, list[Any]] = {}
    for each in recorder.touches:
        touched.setdefault((each.segment, each.site), []).append(each.base + each.sectors)
    found = {}
    for use, parts in touched.items():
        own = np.unique(np.concatenate(parts))
        dense = len(own) > DENSE * (own[-1] - own[0] + 1)
        once = total * len(own) <= ONCE * recorder.layout.sizes[use[0]]
        found[use] = AccessUse(step_of_groups(recorder.shifts, use, groups), bool(dense or once), own)
    return found


def step_of_groups(
    shifts: dict[tuple[int, int, int], Counter[int | None]], use: Use, groups: Sequence[Group]
) -> tuple[float, float, float] | None:
    """Bytes for each step of a group's coordinates, by least squares; None if the shifts are no such thing."""
    rows, values, seen = [], [], 0
    for slot in range(1, len(groups)):
        counts = shifts.get((*use, slot))
        if counts is None:
            continue
        seen += 1
        shift, times = counts.most_common(1)[0]
        if shift is not None and times >= REGULAR * counts.total():
            rows.append([a - b for a, b in zip(groups[slot], groups[0], strict=True)])
            values.append(shift)
    if not rows or len(rows) < REGULAR * seen:
        return None if seen else (0.0, 0.0, 0.0)
    solved = np.linalg.lstsq(np.array(rows, float), np.array(values, float), rcond=None)[0]
    if np.abs(np.array(rows) @ solved - np.array(values)).max() > SECTOR:
        return None
    whole: Any = np.round(solved)
    return float(whole[0]), float(whole[1]), float(whole[2])


class Launches:
    """The accesses of all groups of a launch, made from those of one."""

    def __init__(
        self, touches: Sequence[Touch], uses: dict[Use, AccessUse], layout: Layout, first: Group, counts: Group
    ) -> None:
        self.touches, self.uses, self.layout, self.first, self.counts = touches, uses, layout, first, counts
        self.total = counts[0] * counts[1] * counts[2]
        self.chance = np.random.default_rng(1)

    def shifts(self, use: Use, numbers: Any) -> Any:
        """In sectors, for the groups of these numbers (x fastest)."""
        how, size = self.uses[use], self.layout.sizes[use[0]]
        if how.step is None:
            if how.blocks:
                return numbers * size // self.total
            return self.chance.integers(0, max(size, 1), len(numbers))
        x, y = numbers % self.counts[0], numbers // self.counts[0] % self.counts[1]
        z = numbers // (self.counts[0] * self.counts[1])
        steps = zip((x, y, z), self.first, how.step, strict=True)
        return np.floor_divide(sum((at - first) * step for at, first, step in steps), SECTOR).astype(np.int64)

    def sectors(self, use: Use, own: Any, numbers: Any) -> Any:
        """The different sectors that these groups touch, if the first one touches `own`."""
        start, size = self.layout.starts[use[0]], self.layout.sizes[use[0]]
        whole = (own[None, :] - start + np.unique(self.shifts(use, numbers))[:, None]).ravel()
        if self.uses[use].step is None:
            whole %= max(size, 1)
        else:
            whole = whole[(whole >= 0) & (whole < size)]
        seen = np.zeros(size, bool)
        seen[whole] = True
        return start + np.flatnonzero(seen)

    def is_shared(self, segment: int, size: int) -> bool:
        """Whether more than one group touches a sector, on average, of the `size` ones that are touched."""
        most = max(len(how.own) for (own, _), how in self.uses.items() if own == segment)
        return self.total * most > SHARED * size

    def footprint(self, segment: int, store: bool) -> int:
        """Different sectors of a buffer that all groups load, or store."""
        size, numbers = self.layout.sizes[segment], np.arange(self.total)
        seen, largest = np.zeros(size, bool), 0
        irregular: list[AccessUse] = []
        for site in {each.site for each in self.touches if each.segment == segment and each.store == store}:
            how = self.uses[segment, site]
            if how.step is None:
                irregular.append(how)
                continue
            shifts = np.unique(self.shifts((segment, site), numbers))
            if len(shifts) * len(how.own) > MOST_TOUCHES:
                largest = max(largest, min(size, len(shifts) * len(how.own)))
            else:
                seen[self.sectors((segment, site), how.own, numbers) - self.layout.starts[segment]] = True
        if irregular:
            share = self.total * len(np.unique(np.concatenate([each.own for each in irregular]))) / size
            cut = all(each.blocks for each in irregular)
            largest = max(largest, round(size * (min(1.0, share) if cut else -np.expm1(-share))))
        return max(largest, int(seen.sum()))


def traffic_of(launches: Launches, cache_bytes: int, at_once: int, copies: float) -> Traffic:
    """What L2 of `cache_bytes` fetches and writes, `at_once` groups being resident on the device.

    What several groups read lies in L2 `copies` times, once in each half that serves a part of the multiprocessors. Of what is
    stored, L2 still holds a share at the end: as much of its capacity as stores have of all that is touched.
    """
    segments = {segment for segment, _ in launches.uses}
    loads = {segment: launches.footprint(segment, False) for segment in segments}
    stores = {segment: launches.footprint(segment, True) for segment in segments}
    sizes = {segment: max(loads[segment], stores[segment]) for segment in segments}
    loaded, stored, both = sum(loads.values()), sum(stores.values()), sum(sizes.values())
    shared = sum(size for segment, size in sizes.items() if launches.is_shared(segment, size))
    effective = round(cache_bytes * both / max(both + (copies - 1) * shared, 1))
    missed, fetched = simulated(launches, effective, at_once)
    if both <= effective // SECTOR:
        return Traffic(loaded, stored, min(missed, loaded), loaded, 0, 0, 0, 0)
    held = round(cache_bytes / copies / SECTOR * stored / max(both, 1))
    if 0 < fetched < loaded:  # irregular accesses, put where they overlap
        missed, fetched = round(missed * loaded / fetched), loaded
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
            for (use, store), own in part.items():
                sectors = launches.sectors(use, own, numbers)
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


def sliced(touches: Sequence[Touch]) -> list[dict[tuple[Use, bool], Any]]:
    """The accesses of one group in slices of time: the different sectors of each buffer."""
    found = []
    bounds = np.linspace(0, len(touches), min(SLICES, max(1, len(touches))) + 1).astype(int)
    for first, last in pairwise(bounds):
        parts: dict[tuple[Use, bool], list[Any]] = {}
        for each in touches[first:last]:
            parts.setdefault(((each.segment, each.site), each.store), []).append(each.base + each.sectors)
        found.append({key: np.unique(np.concatenate(values)) for key, values in parts.items()})
    return found
