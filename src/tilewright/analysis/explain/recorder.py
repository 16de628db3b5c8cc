"""Counts the cost of each access while the interpreter runs: first patterns, then requests, sectors, wavefronts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .clc.lexer import Position
from .clc.types import Space
from .coverage import Coverage, Touched, may_be_followed
from .models.rules import Model, as_rows, blocks_touched, split_access, unique_bytes, wavefronts
from .profile import LineAccess, Phase, Profile, Request
from .simt.compiled_code import Site
from .simt.machine_state import Group, Rows
from .simt.masks import Mask
from .simt.segments import Segment

_PATTERNS_KEPT = 256
_PHASES_KEPT = 48


Offsets = npt.NDArray[np.int64]


def are_shifted(offsets: Offsets) -> bool:
    """Whether all rows are the first one, moved as a whole."""
    steps = np.diff(offsets, axis=0)
    return bool((steps == steps[:, :1]).all())


@dataclass
class _Pattern:
    count: int
    offsets: npt.NDArray[np.int64]
    mask: Mask
    bases: set[int]  # where it began, in whole periods


@dataclass
class _Traffic:
    """The traffic of one site in one segment."""

    site: Site
    segment: Segment
    patterns: dict[tuple[bytes | int, bytes], _Pattern] = field(default_factory=dict)
    requests: int = 0
    cost: int = 0
    ideal: int = 0
    lines: int = 0
    useful: int = 0
    wanted: int = 0
    degree: float = 0.0
    assumed_wide: bool = False
    worst: Request | None = None
    first: Request | None = None
    by_group: dict[Group, list[int]] = field(default_factory=dict)


class TrafficRecorder:
    """Records the accesses of a machine. An access that repeats a pattern, shifted by whole lines and rounds of banks, is only
    counted. So memory use stays small."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.period = model.period
        self.groups: list[Group] = []
        self.seen: list[Group] = []
        self.items = 1
        self.traffic: dict[tuple[int, int], _Traffic] = {}
        self.phases: list[tuple[dict[tuple[int, int], int], int]] = [({}, 0)]
        self.barriers = 0
        self.batches = 0
        self.touched: dict[int, Touched] = {}

    def follow(self, segment: Segment, array: npt.NDArray[Any]) -> None:
        """Start to record which elements of this buffer are read and written."""
        if may_be_followed(segment, array.itemsize):
            self.touched[segment.number] = Touched(segment, array.shape, array.itemsize)

    def begin(self, groups: list[Group], items: int) -> None:
        for traffic in self.traffic.values():
            self.flush(traffic)
        self.batches += 1
        self.groups, self.items = groups, items
        self.seen += groups

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        traffic = self._traffic(site, segment)
        base = int(offsets[0]) // self.period * self.period
        pattern = ((offsets - base).tobytes(), mask.signature)
        known = traffic.patterns.get(pattern)
        if known is None:
            self._keep(traffic, pattern, offsets, mask, base)
        else:
            known.count += 1
            known.bases.add(base)
        self._mark(traffic)

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        """As `record`, if all lanes have one offset."""
        traffic = self._traffic(site, segment)
        within = offset % self.period
        pattern = (within, mask.signature)
        known = traffic.patterns.get(pattern)
        if known is None:
            self._keep(traffic, pattern, np.full(mask.count, offset), mask, offset - within)
        else:
            known.count += 1
            known.bases.add(offset - within)
        self._mark(traffic)

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None:
        """`count` iterations of these loads: counts do not depend on the order in which different loads take turns."""
        for site, segment, offsets, same in loads:
            traffic = self._traffic(site, segment)
            if same or are_shifted(offsets):
                self._record_shifted(traffic, offsets, same, mask, count)
            else:
                for row in offsets:
                    self.record(site, segment, row, mask)

    def _record_shifted(self, traffic: _Traffic, offsets: Offsets, same: bool, mask: Mask, count: int) -> None:
        """Rows that differ only by where they begin: those that begin at one place of a period have one pattern."""
        begins = offsets[:, 0]
        places = begins % self.period
        order = places.argsort(kind="stable")
        places, bases = places[order], (begins - places)[order].tolist()
        ends = [*(np.flatnonzero(np.diff(places)) + 1).tolist(), len(bases)]
        for begin, end in sorted(zip((0, *ends), ends, strict=False), key=lambda span: order[span[0]]):
            row = offsets[order[begin]]
            pattern = (int(places[begin]) if same else (row - bases[begin]).tobytes(), mask.signature)
            if pattern not in traffic.patterns:
                self._keep(traffic, pattern, np.broadcast_to(row, mask.count), mask, bases[begin], 0)
            known = traffic.patterns[pattern]
            known.count += end - begin if len(offsets) > 1 else count
            known.bases.update(bases[begin:end])
        self._mark(traffic, count)

    def _traffic(self, site: Site, segment: Segment) -> _Traffic:
        key = (site.number, segment.number)
        traffic = self.traffic.get(key)
        if traffic is None:
            traffic = self.traffic[key] = _Traffic(site, segment)
        return traffic

    def _keep(
        self, traffic: _Traffic, pattern: tuple[bytes | int, bytes], offsets: Any, mask: Mask, base: int, count: int = 1
    ) -> None:
        if len(traffic.patterns) >= _PATTERNS_KEPT:
            self.flush(traffic)
        traffic.patterns[pattern] = _Pattern(count, offsets, mask, {base})

    def _mark(self, traffic: _Traffic, count: int = 1) -> None:
        if self.batches <= 1:  # the timeline is that of one work-group, as the first ones ran it
            key = (traffic.site.number, traffic.segment.number)
            counts = self.phases[-1][0]
            counts[key] = counts.get(key, 0) + count

    def barrier(self, position: Position) -> None:
        if self.batches > 1:
            return
        self.barriers += 1
        if len(self.phases) < _PHASES_KEPT:
            self.phases[-1] = (self.phases[-1][0], position.line)
            self.phases.append(({}, 0))

    def flush(self, traffic: _Traffic) -> None:
        """Analyse the kept patterns, and forget them."""
        if not traffic.patterns:
            return
        patterns = list(traffic.patterns.values())
        traffic.patterns.clear()
        touched = self.touched.get(traffic.segment.number)
        if touched is not None:
            for pattern in patterns:
                begin = int(pattern.offsets[0]) // self.period * self.period
                touched.enter(traffic.site.operation, pattern.offsets - begin, pattern.bases, traffic.site.size)
        lanes = patterns[0].mask.lanes.size
        addresses = np.zeros((len(patterns), lanes), np.int64)
        active = np.stack([pattern.mask.lanes for pattern in patterns])
        for row, pattern in enumerate(patterns):
            addresses[row, pattern.mask.indices] = pattern.offsets
        width = self.model.lanes
        rows, on = as_rows(addresses, self.items, width), as_rows(active, self.items, width)
        counts = np.repeat(np.array([pattern.count for pattern in patterns])[:, None], rows.shape[1], axis=1)
        place, per_group = np.arange(rows.shape[1]), rows.shape[1] // (lanes // self.items)
        slot = np.broadcast_to(place // per_group, counts.shape)
        first_item = np.broadcast_to(place % per_group * width, counts.shape)
        busy = on.any(axis=2)
        self._count(traffic, rows[busy], on[busy], counts[busy], slot[busy], first_item[busy])

    def _count(self, traffic: _Traffic, rows: Any, active: Any, counts: Any, slots: Any, first_items: Any) -> None:
        size, operation = traffic.site.size, "load" if traffic.site.operation == "load" else "store"
        cost = np.zeros(len(rows), np.int64)
        ideal, lines, useful = cost.copy(), cost.copy(), cost.copy()
        pieces = self._pieces(traffic, rows[active])
        for at, piece in pieces:
            moved = rows + at
            if traffic.segment.space is Space.LOCAL:
                own, least = wavefronts(self.model, moved, active, piece, operation)
            elif traffic.segment.space is Space.IMAGE:  # tiled layouts are not public: only useful bytes are known
                own = least = np.zeros(len(rows), np.int64)
                useful += unique_bytes(moved, active, piece)
            else:
                own = blocks_touched(moved, active, piece, self.model.sector)
                useful_now = unique_bytes(moved, active, piece)
                least = -(-useful_now // self.model.sector)
                lines += blocks_touched(moved, active, piece, self.model.line)
                useful += useful_now
            cost += own
            ideal += least
        worst = int(np.argmax(cost / np.maximum(ideal, 1)))
        degree = float(cost[worst] / max(int(ideal[worst]), 1))
        if traffic.worst is None or degree > traffic.degree:
            traffic.worst = self._request(rows, active, size, slots, first_items, worst)
            traffic.degree = degree
        if traffic.first is None:
            traffic.first = self._request(rows, active, size, slots, first_items, 0)
        traffic.requests += int(counts.sum()) * len(pieces)
        traffic.cost += int((cost * counts).sum())
        traffic.ideal += int((ideal * counts).sum())
        traffic.lines += int((lines * counts).sum())
        traffic.useful += int((useful * counts).sum())
        traffic.wanted += int((active.sum(axis=1) * size * counts).sum())
        for slot in np.unique(slots):
            mine = slots == slot
            entry = traffic.by_group.setdefault(self.groups[int(slot)], [0, 0])
            entry[0] += int(counts[mine].sum()) * len(pieces)
            entry[1] += int((cost[mine] * counts[mine]).sum())

    def _pieces(self, traffic: _Traffic, addresses: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        """The instructions of one access. If only the elements are known to be aligned (vload4), one wide instruction is
        assumed, provided that all addresses allow it."""
        site = traffic.site
        if traffic.segment.space is Space.IMAGE:
            return [(0, site.size)]
        alignment = site.alignment
        wide = 1 << (min(site.size, self.model.widest).bit_length() - 1)
        if alignment < wide and self.model.assumes_alignment and not (addresses % wide).any():
            traffic.assumed_wide = True
            alignment = wide
        return split_access(site.size, max(1, alignment), self.model.widest)

    def _request(self, rows: Any, active: Any, size: int, slots: Any, first_items: Any, index: int) -> Request:
        addresses = tuple(int(a) if on else None for a, on in zip(rows[index], active[index], strict=True))
        return Request(addresses, size, self.groups[int(slots[index])], int(first_items[index]))

    def coverage(self) -> tuple[Coverage, ...]:
        """The coverage of the buffers, in the order of the arguments. Call it after `profile`."""
        return tuple(each.coverage() for each in self.touched.values())

    def profile(self) -> Profile:
        for traffic in self.traffic.values():
            self.flush(traffic)
        accesses = [self._access(traffic) for traffic in self.traffic.values()]
        accesses.sort(key=lambda each: (each.position, each.operation, each.buffer))
        phases = [Phase(self._phase(counts), line) for counts, line in self.phases]
        return Profile(self.model, tuple(self.seen), tuple(accesses), tuple(phases), self.barriers)

    def _phase(self, counts: dict[tuple[int, int], int]) -> tuple[tuple[int, str, str, str, int], ...]:
        out = []
        for key, count in counts.items():
            site, segment = self.traffic[key].site, self.traffic[key].segment
            out.append((site.position.line, site.operation, segment.space.word, segment.name, count))
        return tuple(out)

    def _access(self, traffic: _Traffic) -> LineAccess:
        assert traffic.worst is not None
        assert traffic.first is not None
        return LineAccess(
            position=traffic.site.position,
            operation=traffic.site.operation,
            space=traffic.segment.space.word,
            buffer=traffic.segment.name,
            size=traffic.site.size,
            requests=traffic.requests,
            cost=traffic.cost,
            ideal=traffic.ideal,
            lines=traffic.lines,
            useful_bytes=traffic.useful,
            lane_bytes=traffic.wanted,
            degree=traffic.degree,
            worst=traffic.worst,
            first=traffic.first,
            by_group=tuple((group, entry[0], entry[1]) for group, entry in sorted(traffic.by_group.items())),
            assumed_wide=traffic.assumed_wide,
            sector=self.model.sector,
            row=traffic.segment.row,
        )
