"""The traffic of one access of the source in one segment: what the recorder adds up."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .clc.types import Space
from .models.rules import Int64s, Model, blocks_touched, split_access, unique_bytes, wavefronts
from .profile import ADDRESSES, NOTHING, SECTORS, WAVEFRONTS, LineAccess, Request
from .simt.compiled_code import Site
from .simt.machine_state import Group
from .simt.masks import Mask
from .simt.segments import Segment
from .space_rules import atomic_passes, atomic_sectors, constant_passes, private_pieces, turns


@dataclass
class Pattern:
    """The offsets of one access of many lanes, and how often they came, each time shifted by one of `bases`."""

    count: int
    offsets: npt.NDArray[np.int64]
    mask: Mask
    bases: set[int]  # where it began, in whole periods


@dataclass
class Traffic:
    """The traffic of one site in one segment."""

    site: Site
    segment: Segment
    patterns: dict[tuple[bytes | int, bytes], Pattern] = field(default_factory=dict)
    requests: int = 0
    cost: int = 0
    ideal: int = 0
    lines: int = 0
    useful: int = 0
    wanted: int = 0
    degree: float = 0.0
    turns: int = 0
    contention: int = 0
    assumed_wide: bool = False
    worst: Request | None = None
    first: Request | None = None
    by_group: dict[Group, list[int]] = field(default_factory=dict)
    heat: dict[tuple[int, int], int] = field(default_factory=dict)  # (group or 0, place) -> atomic updates
    hottest: int = 0
    at_line: Int64s | None = None  # the cache line that each work-item touched last, on CPUs
    new_lines: int = 0

    @property
    def is_atomic(self) -> bool:
        return self.site.operation == "atomic"

    def warm(self, offsets: Int64s, groups: Any) -> None:
        """Count atomic updates of each place. `groups` is the group of each lane where each has its own copy, else 0."""
        both = np.stack([np.broadcast_to(groups, offsets.shape), offsets])
        places, counts = np.unique(both, axis=1, return_counts=True)
        for group, place, count in zip(*places.tolist(), counts.tolist(), strict=True):
            self.heat[group, place] = self.heat.get((group, place), 0) + count

    def arrive(self, lines: Int64s, mask: Mask) -> None:
        """Count how often work-items touch another cache line than they touched here before. `lines` has a row for each
        iteration, and in it a line for each work-item, or one for all."""
        if self.at_line is None:
            self.at_line = np.full(mask.lanes.size, -1, np.int64)
        items_of_each = mask.count // lines.shape[1]
        self.new_lines += int(np.count_nonzero(lines[0] != self.at_line[mask.indices]))
        self.new_lines += int(np.count_nonzero(np.diff(lines, axis=0))) * items_of_each
        self.at_line[mask.indices] = lines[-1]

    def cool(self) -> None:
        """Keep the most updates of one place; the copies and the work-items of these groups are gone."""
        self.at_line = None
        self.hottest = max(self.hottest, max(self.heat.values(), default=0))
        if self.segment.space is Space.LOCAL:
            self.heat.clear()


@dataclass
class Costs:
    """The costs of requests, one number for each."""

    cost: Int64s
    ideal: Int64s
    lines: Int64s
    useful: Int64s
    turns: Int64s


def costs_of(model: Model, traffic: Traffic, rows: Int64s, active: Any, pieces: list[tuple[int, int]]) -> Costs:
    """What requests at the byte addresses `rows` (requests, lanes) cost, by the rules of their memory."""
    space, atomic = traffic.segment.space, traffic.is_atomic
    nothing = np.zeros(len(rows), np.int64)
    found = Costs(nothing, nothing, nothing, nothing, turns(rows, active) if atomic else nothing)
    operation = "load" if traffic.site.operation == "load" else "store"
    for at, piece in pieces:
        moved = rows + at
        if space is Space.IMAGE:  # tiled layouts are not public: only useful bytes are known
            own = least = lines = nothing
            useful = unique_bytes(moved, active, piece)
        elif space is Space.PRIVATE:
            own, least, lines, useful = private_pieces(model, moved, active, piece)
        elif space is Space.LOCAL:
            passes = atomic_passes(model, moved, active, piece) if atomic else None
            own, least = passes or wavefronts(model, moved, active, piece, operation)
            lines, useful = nothing, unique_bytes(moved, active, piece)
        else:
            useful = unique_bytes(moved, active, piece)
            lines = blocks_touched(moved, active, piece, model.line)
            if unit_of(model, space) == ADDRESSES:
                own, least = constant_passes(moved, active, piece)
            else:
                own, least = blocks_touched(moved, active, piece, model.sector), -(-useful // model.sector)
                if atomic and model.sector_per_update:
                    own = atomic_sectors(moved, active, model.sector)
        found = Costs(found.cost + own, found.ideal + least, found.lines + lines, found.useful + useful, found.turns)
    return found


def unit_of(model: Model, space: Space) -> str:
    """What the cost of an access to this memory counts."""
    if space in (Space.LOCAL, Space.IMAGE):
        return WAVEFRONTS if space is Space.LOCAL else NOTHING
    return ADDRESSES if space is Space.CONSTANT and model.serial_constants else SECTORS


def pieces_of(model: Model, traffic: Traffic, addresses: Int64s) -> list[tuple[int, int]]:
    """The instructions of one access. If only the elements are known to be aligned (vload4), one wide instruction is
    assumed, provided that all addresses allow it."""
    site = traffic.site
    if traffic.segment.space is Space.IMAGE or site.bulk:
        return [(0, site.size)]
    alignment = site.alignment
    wide = 1 << (min(site.size, model.widest).bit_length() - 1)
    if alignment < wide and model.assumes_alignment and not (addresses % wide).any():
        traffic.assumed_wide = True
        alignment = wide
    return split_access(site.size, max(1, alignment), model.widest)


def line_access(traffic: Traffic, model: Model) -> LineAccess:
    """The record of what was added up."""
    assert traffic.worst is not None
    assert traffic.first is not None
    traffic.cool()
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
        sector=model.sector,
        line=model.line,
        row=traffic.segment.row,
        unit=unit_of(model, traffic.segment.space),
        turns=traffic.turns,
        contention=traffic.contention,
        hottest=traffic.hottest,
        new_lines=traffic.new_lines,
    )
