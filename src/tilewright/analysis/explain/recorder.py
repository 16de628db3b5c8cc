"""Counts the cost of each access while the interpreter runs: first patterns, then requests, sectors, wavefronts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .clc.lexer import Position
from .clc.types import Space
from .coverage import Coverage, Touched, may_be_followed
from .models.rules import Model, as_rows
from .profile import Phase, Profile, Request
from .simt.compiled_code import Site
from .simt.machine_state import Group, Rows
from .simt.masks import Mask
from .simt.segments import Segment
from .site_traffic import Pattern, Traffic, costs_of, line_access, pieces_of

_PATTERNS_KEPT = 256
_PHASES_KEPT = 48


Offsets = npt.NDArray[np.int64]


def are_shifted(offsets: Offsets) -> bool:
    """Whether all rows are the first one, moved as a whole."""
    steps = np.diff(offsets, axis=0)
    return bool((steps == steps[:, :1]).all())


class TrafficRecorder:
    """Records the accesses of a machine. An access that repeats a pattern, shifted by whole lines and rounds of banks, is only
    counted. So memory use stays small."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.period = model.period
        self.lanes, self.private_room = model.lanes, model.private_room
        self.groups: list[Group] = []
        self.seen: list[Group] = []
        self.items = 1
        self.traffic: dict[tuple[int, int], Traffic] = {}
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
            traffic.cool()
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
        self._arrive(traffic, offsets[None, :], mask)
        if site.operation == "atomic":
            groups = mask.indices // self.items if segment.space is Space.LOCAL else 0
            traffic.warm(offsets, groups)
        self._mark(traffic)

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        """As `record`, if all lanes have one offset."""
        traffic = self._traffic(site, segment)
        within = offset % self.period
        pattern = (within, mask.signature)
        known = traffic.patterns.get(pattern)
        if known is None:
            self._keep(traffic, pattern, np.full(mask.count, offset, np.int64), mask, offset - within)
        else:
            known.count += 1
            known.bases.add(offset - within)
        self._arrive(traffic, np.array([[offset]]), mask)
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

    def _record_shifted(self, traffic: Traffic, offsets: Offsets, same: bool, mask: Mask, count: int) -> None:
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
        self._arrive(traffic, offsets, mask)
        self._mark(traffic, count)

    def _arrive(self, traffic: Traffic, offsets: Offsets, mask: Mask) -> None:
        """On a CPU a work-item's own accesses follow each other: those that stay in a cache line are cheap."""
        if self.model.is_cpu and traffic.segment.space is Space.GLOBAL:
            traffic.arrive(offsets // self.model.line, mask)

    def _traffic(self, site: Site, segment: Segment) -> Traffic:
        key = (site.number, segment.number)
        traffic = self.traffic.get(key)
        if traffic is None:
            traffic = self.traffic[key] = Traffic(site, segment)
        return traffic

    def _keep(
        self, traffic: Traffic, pattern: tuple[bytes | int, bytes], offsets: Any, mask: Mask, base: int, count: int = 1
    ) -> None:
        if len(traffic.patterns) >= _PATTERNS_KEPT:
            self.flush(traffic)
        traffic.patterns[pattern] = Pattern(count, offsets, mask, {base})

    def _mark(self, traffic: Traffic, count: int = 1) -> None:
        # The timeline is that of one work-group, as the first ones ran it. Off-chip private arrays are not in it.
        if self.batches <= 1 and traffic.segment.space is not Space.PRIVATE:
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

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        """Loops are not counted here."""

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None:
        """Products are not counted here."""

    def arrived(self, segment: Segment, offsets: Offsets, size: int) -> None:
        """TMA's writes are no requests."""

    def flush(self, traffic: Traffic) -> None:
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
                if self.batches == 1:
                    first = pattern.offsets[pattern.mask.indices < self.items]
                    touched.enter_first_group(first - begin, pattern.bases, traffic.site.size)
        lanes = patterns[0].mask.lanes.size
        addresses = np.zeros((len(patterns), lanes), np.int64)
        active = np.stack([pattern.mask.lanes for pattern in patterns])
        for row, pattern in enumerate(patterns):
            addresses[row, pattern.mask.indices] = pattern.offsets
        width = self.model.lanes
        rows, on = as_rows(addresses, self.items, width), as_rows(active, self.items, width)
        counts = np.repeat(np.array([pattern.count for pattern in patterns], np.int64)[:, None], rows.shape[1], axis=1)
        place, per_group = np.arange(rows.shape[1]), rows.shape[1] // (lanes // self.items)
        slot = np.broadcast_to(place // per_group, counts.shape)
        first_item = np.broadcast_to(place % per_group * width, counts.shape)
        busy = on.any(axis=2)
        self._count(traffic, rows[busy], on[busy], counts[busy], slot[busy], first_item[busy])

    def _count(self, traffic: Traffic, rows: Any, active: Any, counts: Any, slots: Any, first_items: Any) -> None:
        size = traffic.site.size
        pieces = pieces_of(self.model, traffic, rows[active])
        found = costs_of(self.model, traffic, rows, active, pieces)
        worth = found.turns if traffic.is_atomic else found.cost / np.maximum(found.ideal, 1)
        worst = int(np.argmax(worth))
        degree = float(found.cost[worst] / max(int(found.ideal[worst]), 1))
        if traffic.worst is None or degree > traffic.degree:
            traffic.worst = self._request(rows, active, size, slots, first_items, worst)
            traffic.degree = degree
        if traffic.first is None:
            traffic.first = self._request(rows, active, size, slots, first_items, 0)
        traffic.requests += int(counts.sum()) * len(pieces)
        traffic.cost += int((found.cost * counts).sum())
        traffic.ideal += int((found.ideal * counts).sum())
        traffic.lines += int((found.lines * counts).sum())
        traffic.useful += int((found.useful * counts).sum())
        traffic.turns += int((found.turns * counts).sum())
        traffic.contention = max(traffic.contention, int(found.turns.max()))
        traffic.wanted += int((active.sum(axis=1) * size * counts).sum())
        for slot in np.unique(slots):
            mine = slots == slot
            entry = traffic.by_group.setdefault(self.groups[int(slot)], [0, 0])
            entry[0] += int(counts[mine].sum()) * len(pieces)
            entry[1] += int((found.cost[mine] * counts[mine]).sum())

    def _request(self, rows: Any, active: Any, size: int, slots: Any, first_items: Any, index: int) -> Request:
        addresses = tuple(int(a) if on else None for a, on in zip(rows[index], active[index], strict=True))
        return Request(addresses, size, self.groups[int(slots[index])], int(first_items[index]))

    def coverage(self) -> tuple[Coverage, ...]:
        """The coverage of the buffers, in the order of the arguments. Call it after `profile`."""
        return tuple(each.coverage(self.model.sector) for each in self.touched.values())

    def profile(self) -> Profile:
        for traffic in self.traffic.values():
            self.flush(traffic)
        found = [line_access(traffic, self.model) for traffic in self.traffic.values()]
        found.sort(key=lambda each: (each.position, each.operation, each.buffer))
        accesses = tuple(each for each in found if not each.is_private)
        private = tuple(each for each in found if each.is_private)
        phases = [Phase(self._phase(counts), line) for counts, line in self.phases]
        return Profile(self.model, tuple(self.seen), accesses, tuple(phases), self.barriers, private)

    def _phase(self, counts: dict[tuple[int, int], int]) -> tuple[tuple[int, str, str, str, int], ...]:
        out = []
        for key, count in counts.items():
            site, segment = self.traffic[key].site, self.traffic[key].segment
            out.append((site.position.line, site.operation, segment.space.word, segment.name, count))
        return tuple(out)
