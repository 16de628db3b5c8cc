"""How often each part of the machine code runs: the source's counted accesses and loops, matched to instructions by line.

A loop of the source may be unrolled, and its remainder may stand beside it. So a loop of the machine code runs as often as its
loads and stores must, to move what its lines of the source moved. A loop without any is matched to the source's loop by line.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ..explain.profile import LineAccess
from ..explain.simt.machine_state import Group
from ..inspect import instruction_kinds as kinds
from ..inspect.loops import basic_blocks, dominators, natural_loops
from ..inspect.machine_code import Instruction, Listing

Line = tuple[str, int]
Anchor = tuple[Line, str]  # a line of the source, and a kind of access
Places = Mapping[Anchor, Mapping[int, float]]  # the bytes of a lane that each region's copies of it move
ANCHORS = {
    kinds.GLOBAL_LOAD: ("load", False),
    kinds.GLOBAL_STORE: ("store", False),
    kinds.LOCAL_LOAD: ("load", True),
    kinds.LOCAL_STORE: ("store", True),
    kinds.ATOMIC: ("atomic", None),
}
_STEP = re.compile(r"\bR(\d+), R\1(?:\.reuse)?, (-?0x[0-9a-f]+)")
_COMPARED = re.compile(r"\bR(\d+)\b")


@dataclass
class Region:
    """Instructions that run equally often: the own code of a loop, or what lies outside of loops. `times` is for each warp."""

    instructions: tuple[Instruction, ...]
    depth: int
    blocks: tuple[tuple[Instruction, ...], ...]
    parent: int | None = None
    times: float = 1.0
    known: bool = False
    rare: dict[int, float] = field(default_factory=dict)  # blocks that run less often than the rest

    def weighted(self) -> list[tuple[tuple[Instruction, ...], float]]:
        """Its blocks, and how often each runs."""
        return [(block, self.rare.get(number, self.times)) for number, block in enumerate(self.blocks)]


@dataclass(frozen=True)
class SourceCounts:
    """What one warp does on average: bytes of each lane moved by a line, by (operation, local), and iterations of the loops."""

    moved: Mapping[Line, Mapping[tuple[str, bool], float]]
    loops: Mapping[Line, float]


@dataclass(frozen=True)
class AccessMean:
    """One access of the source, as one work-group makes it on average. Fields as in `LineAccess`."""

    line: Line
    operation: str
    is_local: bool
    size: int
    requests: float
    cost: float
    lines: float
    lane_bytes: float
    useful_bytes: float
    different: int  # addresses of its first request


def access_means(accesses: Sequence[LineAccess], weights: Mapping[Group, float]) -> list[AccessMean]:
    """The mean over the executed work-groups by their `weights`, which add up to 1."""
    found = []
    for each in accesses:
        if each.space == "private":
            continue  # the compiler decides where those arrays lie
        requests = sum(weights.get(group, 0.0) * count for group, count, _ in each.by_group)
        cost = sum(weights.get(group, 0.0) * own for group, _, own in each.by_group)
        scale = cost / each.cost if each.cost else 0.0
        different = len({address for address in each.first.addresses if address is not None})
        found.append(
            AccessMean(
                (each.position.file, each.position.line), each.operation, each.is_local, each.size, requests, cost,
                scale * each.lines, scale * each.lane_bytes, scale * each.useful_bytes, different,
            )
        )  # fmt: skip
    return found


def source_counts(
    accesses: Sequence[AccessMean],
    loops: Mapping[Line, Mapping[Group, int]],
    weights: Mapping[Group, float],
    warps: int,
) -> SourceCounts:
    """The counts of one warp of a work-group of `warps`. No instruction moves more than 16 bytes of a lane."""
    moved: dict[Line, dict[tuple[str, bool], float]] = defaultdict(lambda: defaultdict(float))
    for each in accesses:
        moved[each.line][each.operation, each.is_local] += each.requests * min(each.size, 16) / warps
    iterations = {
        line: sum(weights.get(group, 0.0) * count for group, count in own.items()) for line, own in loops.items()
    }
    return SourceCounts(moved, {line: count / warps for line, count in iterations.items()})


def regions_of(listing: Listing) -> list[Region]:
    """The code outside of loops first, then each loop's own code, outer loops before inner ones."""
    blocks = basic_blocks(listing)
    loops = natural_loops(blocks)
    inside = [[other for other in loops if other is not each and other.blocks < each.blocks] for each in loops]
    reached = {number for number, nearest in enumerate(dominators(blocks)) if nearest >= 0}  # padding is not
    outside = reached.difference(*(each.blocks for each in loops))

    def region(numbers: set[int], depth: int, parent: int | None) -> Region:
        parts = tuple(tuple(listing.instructions[blocks[at].first : blocks[at].last]) for at in sorted(numbers))
        return Region(tuple(each for part in parts for each in part), depth, parts, parent)

    found = [region(outside, 0, None)]
    for each, inner in zip(loops, inside, strict=True):
        around = [at for at, other in enumerate(loops) if each.blocks < other.blocks]
        parent = 1 + max(around, key=lambda at: loops[at].depth) if around else 0
        found.append(region(set(each.blocks.difference(*(other.blocks for other in inner))), each.depth, parent))
    return [each for each in found if each.depth == 0 or len(each.instructions) > 1]


def anchor_of(instruction: Instruction) -> tuple[Line, str, int] | None:
    """The line, the kind and the bytes of a lane, if this is a load, a store or an atomic update."""
    for effect in instruction.effects:
        if effect.kind in ANCHORS and instruction.place[1]:
            return instruction.place, effect.kind, effect.bits // 8 or 4
    return None


def set_times(regions: Sequence[Region], counts: SourceCounts) -> None:
    """Set how often each region runs for each warp."""
    places: dict[Anchor, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for number, region in enumerate(regions):
        for instruction in region.instructions:
            anchor = anchor_of(instruction)
            if anchor is not None:
                places[anchor[0], anchor[1]][number] += anchor[2]
    found: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    main: dict[Anchor, int] = {}
    for key, bytes_in in places.items():
        moved = moved_by(counts, *key)
        if moved:
            at = main[key] = max(bytes_in, key=lambda at: (regions[at].depth > 0, bytes_in[at], regions[at].depth))
            found[at].append((moved / bytes_in[at], bytes_in[at], key[1]))
    for number, region in enumerate(regions):
        if number == 0:
            region.known = True
        elif number in found:
            region.times, region.known = least(found[number]), True
    seen = {line for line, _ in places}
    complete = bool(counts.moved) and all(line in seen for line in counts.moved)
    for number, region in enumerate(regions):
        if not region.known:
            # Its loads and stores count in another loop, of which it is the remainder, or were never reached.
            idle = complete and any(number in own for own in places.values())
            region.times = 0.0 if idle else by_loops(regions, number, counts)
        set_rare(region, places, main, number, counts)


def moved_by(counts: SourceCounts, line: Line, kind: str) -> float:
    operation, local = ANCHORS[kind]
    found = counts.moved.get(line, {})
    return sum(value for (own, where), value in found.items() if own == operation and local in (None, where))


def least(values: Sequence[tuple[float, float, str]]) -> float:
    """The least of several estimates, as compilers drop accesses of the source but add none. Those of few bytes do not count, nor
    do atomic updates beside loads and stores, as their instructions stand on others' lines."""
    values = [each for each in values if each[2] != kinds.ATOMIC] or values
    most = max(weight for _, weight, _ in values)
    return min(value for value, weight, _ in values if weight >= most / 4)


def by_loops(regions: Sequence[Region], number: int, counts: SourceCounts) -> float:
    """How often a loop without loads and stores of its own runs: as the source's loop on its lines, over its unrolling. A loop
    whose lines stand in a larger one beside it is the remainder of that, and runs never; one that nobody knows, as its parent."""
    region = regions[number]
    lines = {each.place for each in region.instructions if each.place[1]}
    for other in regions:
        beside = other is not region and other.depth == region.depth and other.parent == region.parent
        if (
            beside
            and len(other.instructions) > len(region.instructions)
            and lines <= {e.place for e in other.instructions}
        ):
            return 0.0
    branches = [each.place for each in region.instructions if each.flow in (kinds.BRANCH, kinds.JUMP)]
    known = next((counts.loops[line] for line in reversed(branches) if line in counts.loops), None)
    if known is None:
        known = max((counts.loops[line] for line in lines if line in counts.loops), default=None)
    if known is not None:
        return known / unrolled(region)
    return regions[region.parent].times if region.parent is not None else 1.0


def unrolled(region: Region) -> int:
    """By how much a loop's counter moves in one iteration: its unrolling, if the source counts by ones."""
    compared = {
        register for each in region.instructions if "ISETP" in each.opcode for register in _COMPARED.findall(each.text)
    }
    steps = []
    for each in region.instructions:
        match = _STEP.search(each.text)
        if match and match[1] in compared and each.opcode.split(".")[0] in ("IADD3", "VIADD", "IADD"):
            step = int(match[2], 16)
            steps.append(abs(step - (1 << 32) if step >> 31 else step))
    return int(median(steps)) if steps and max(steps) <= 64 else 1


def set_rare(region: Region, places: Places, main: Mapping[Anchor, int], number: int, counts: SourceCounts) -> None:
    """Blocks whose loads and stores run less often than the rest of the region. What a line moves is shared by its copies here,
    or by all its copies in the code if most of them stand in another region."""
    for block_number, block in enumerate(region.blocks):
        keys = {(line, kind) for line, kind, _ in filter(None, map(anchor_of, block))}
        times = [
            moved_by(counts, *key) / (places[key][number] if main.get(key) == number else sum(places[key].values()))
            for key in keys
            if key[0] in counts.moved
        ]
        if times and max(times) < 0.9 * region.times:
            region.rare[block_number] = max(times)
