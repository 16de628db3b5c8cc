"""One launch on one device: run in the interpreter, matched to its machine code, and counted."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from ...errors import Unsupported
from ..explain.explain import PrintedExplanation, explain_source
from ..explain.group_choice import count_groups
from ..explain.models import Model, find_model
from ..explain.simt.launch import LANES_AT_ONCE
from ..explain.simt.launch_arguments import Argument
from ..explain.simt.machine_state import Group
from ..inspect import instruction_kinds as kinds
from ..inspect.machine_code import Instruction, Listing
from ..inspect.occupancy import find_multiprocessor, occupancy
from .constants import Constants
from .executions import AccessMean, Line, Region, SourceCounts, access_means, regions_of, set_times, source_counts
from .facts import DeviceFacts
from .hierarchy import Launches, Traffic, access_uses, traffic_of
from .pipeline import cycles, step_of
from .stream import SECTOR, StreamRecorder
from .terms import LaunchWork
from .work import Instructions, MemoryWork, instructions_of, memory_work, unit_cycles_of

SPREAD_GROUPS = 33  # over the whole NDRange at most, so that counts that depend on data are not those of one place
GOLDEN = 0.6180339887  # steps of this part of a range spread evenly over it
STEPS = 200_000  # loop iterations and calls: minutes
CARVEOUTS = (
    0,
    8,
    16,
    32,
    64,
    100,
    132,
    164,
    196,
    228,
)  # KB that NVIDIA's drivers give local memory, CUDA C++ Programming Guide
WITHOUT_CODE = 8.0  # instructions for each request or pass through a loop, where no machine code is here


@dataclass(frozen=True)
class SourceLaunch:
    """OpenCL C with what a launch gives it. `unset` are buffers without contents."""

    title: str
    source: str
    filename: str
    entry: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Mapping[str, Argument]
    macros: Mapping[str, str | int] | None = None
    unset: Collection[str] = ()
    typed: bool = False  # arrays must have the parameters' types
    standard: str | None = None
    offset: tuple[int, ...] = ()  # of the global ids
    ragged: bool = False  # with smaller work-groups at the edges


@dataclass(frozen=True)
class Code:
    """Machine code of a launch's kernel: the listing (None if no tool makes one), registers and local memory."""

    listing: Listing | None = None
    registers: int = 32
    local_bytes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observed:
    """The work-groups of a launch that ran: their counts and their stream of sectors. `counts` are the groups of each side,
    `resident` those that fit on a multiprocessor."""

    explanation: PrintedExplanation
    stream: StreamRecorder
    groups: tuple[Group, ...]
    weights: Mapping[Group, float]
    counts: Group
    items: int
    resident: int


@dataclass(frozen=True)
class Counted:
    """A counted launch, and the results that a next one may read."""

    work: LaunchWork
    explanation: PrintedExplanation
    l1_hits: float
    irregular: tuple[str, ...]


def observe(launch: SourceLaunch, code: Code, facts: DeviceFacts) -> Observed:
    """Run some work-groups of a launch in the interpreter. Unsupported for a kernel that reads or writes images."""
    counts = count_groups(launch.global_size, launch.local_size)
    total, items, multiprocessors = prod(counts), prod(launch.local_size), int(facts.multiprocessors.value)
    resident = min(resident_groups(code, facts, items), max(1, -(-total // multiprocessors)))
    groups, on_chip, weights = chosen_groups(counts, items, resident, multiprocessors)
    recorders: list[StreamRecorder] = []

    def recorder(model: Model) -> StreamRecorder:
        recorders.append(StreamRecorder(model, on_chip, l1_bytes(code, facts, resident)))
        return recorders[-1]

    found = explain_source(
        launch.source, filename=launch.filename, entry=launch.entry, macros=launch.macros, global_size=launch.global_size,
        local_size=launch.local_size, arguments=launch.arguments, groups=groups, model=find_model(facts.rules),
        unset=launch.unset, typed=launch.typed, standard=launch.standard, step_limit=STEPS, partial=True, recorder=recorder,
        offset=launch.offset, ragged=launch.ragged,
    )  # fmt: skip
    if unknown := sorted(recorders[0].unknown):
        raise Unsupported(
            f"the kernel works with {' and '.join(unknown)}, whose time predict does not know; measure it on the device"
        )
    if any(each.is_image for each in found.accesses):
        raise Unsupported(
            f"{launch.title} reads or writes images: how texels lie in memory is not public, so its time cannot be predicted"
        )
    return Observed(found, recorders[0], tuple(groups), weights, counts, items, resident)


def count(launch: SourceLaunch, code: Code, facts: DeviceFacts, constants: Constants) -> Counted:
    """Run some work-groups of a launch, and count what all of it asks of the device."""
    return assess(observe(launch, code, facts), code, facts, constants)


def assess(seen: Observed, code: Code, facts: DeviceFacts, constants: Constants) -> Counted:
    """From the work-groups that ran to the whole launch."""
    found, stream, total = seen.explanation, seen.stream, prod(seen.counts)
    warps_of_group = -(-seen.items // found.model.lanes)
    accesses = access_means(found.accesses, seen.weights)
    source = source_counts(accesses, seen.stream.loops, seen.weights, warps_of_group)
    regions = timed_regions(code, source)
    memory = memory_work(accesses, total, warps_of_group, regions, facts)
    uses = access_uses(stream, seen.groups[: LANES_AT_ONCE // seen.items], total)
    launches = Launches(stream.touches, uses, stream.layout, seen.groups[0], seen.counts)
    at_once = seen.resident * int(facts.multiprocessors.value)
    traffic = traffic_of(launches, int(facts.l2_bytes.value), at_once, constants.l2_copies)
    loads = [each for each in stream.sites.values() if each.operation == "load"]
    sectors = sum(each.sectors for each in loads)
    hits = sum(each.hits for each in loads) / sectors if sectors else 0.0
    asked = total * sum(each.cost for each in accesses if each.operation == "load" and not each.is_local)
    misses = max(asked * (1 - hits), float(min(traffic.loaded, asked)))
    instructions = instructions_of(regions) if regions else bare_instructions(memory, total * warps_of_group, source)
    work = LaunchWork(total, warps_of_group, seen.resident, 0.0, instructions, memory, misses, traffic)
    latency = latency_cycles(regions, accesses, stream, work, facts)
    irregular = tuple(sorted({stream.layout.names[segment] for (segment, _), use in uses.items() if use.step is None}))
    return Counted(replace(work, latency_cycles=latency), found, hits, irregular)


def resident_groups(code: Code, facts: DeviceFacts, items: int) -> int:
    """Work-groups that fit on a multiprocessor."""
    return max(1, occupancy(find_multiprocessor(facts.arch), items, code.registers, code.local_bytes).groups)


def l1_bytes(code: Code, facts: DeviceFacts, resident: int) -> int:
    """What local memory leaves of the store that it shares with L1, if it shares one."""
    chip = find_multiprocessor(facts.arch)
    if chip.family != "nvidia":
        return int(facts.l1_bytes.value)
    used = resident * (code.local_bytes + chip.reserved_local) if code.local_bytes else 0
    carved = next((kb << 10 for kb in CARVEOUTS if kb << 10 >= used), used)
    return max(16 << 10, int(facts.l1_bytes.value) - carved)


def chosen_groups(
    counts: Group, items: int, resident: int, multiprocessors: int
) -> tuple[list[Group], tuple[Group, ...], dict[Group, float]]:
    """The groups to run, and those that share a multiprocessor: a first one from the middle of the first wave, its neighbours,
    which show how accesses shift from group to group, and the ones that come to the same multiprocessor. Others are spread
    over the whole NDRange. Weights make a mean of all: the first ones, which are near each other, count as one."""
    total = prod(counts)
    number = min(multiprocessors // 2, (total - 1) // 2)

    def group(at: int) -> Group:
        return at % counts[0], at // counts[0] % counts[1], at // (counts[0] * counts[1])

    middle = group(number)
    inner = [
        max(min(at, size - 2), min(1, size - 1)) for at, size in zip(middle, counts, strict=True)
    ]  # no border, if it can be
    first = (inner[0], inner[1], inner[2])
    place = first[0] + counts[0] * (first[1] + counts[1] * first[2])
    beside = [neighbour(first, side, counts) for side in range(3) if counts[side] > 1]
    sharing = [
        first,
        *(
            group(place + step * multiprocessors)
            for step in range(1, resident)
            if place + step * multiprocessors < total
        ),
    ]
    most = max(1, LANES_AT_ONCE // items)
    near = list(dict.fromkeys((first, *beside, *sharing)))[:most]
    apart = int(total * GOLDEN) | 1
    others = [group((place + step * apart) % total) for step in range(1, SPREAD_GROUPS)]
    chosen = list(dict.fromkeys((*near, *others)))[: max(len(near), min(most, total))]
    weights = {each: 1.0 / len(near) for each in near} | dict.fromkeys(chosen[len(near) :], 1.0)
    whole = sum(weights.values())
    return chosen, tuple(each for each in sharing if each in near), {each: own / whole for each, own in weights.items()}


def neighbour(group: Group, side: int, counts: Group) -> Group:
    """The next group along one side, or the one before at the end."""
    moved = list(group)
    moved[side] += 1 if group[side] + 1 < counts[side] else -1
    return moved[0], moved[1], moved[2]


def timed_regions(code: Code, source: SourceCounts) -> list[Region]:
    if code.listing is None:
        return []
    regions = regions_of(code.listing)
    set_times(regions, source)
    return regions


def bare_instructions(memory: MemoryWork, warps: int, source: SourceCounts) -> Instructions:
    """A guess without machine code: some instructions for each request, or for each pass through a loop if those are more."""
    requests = (memory.requests + memory.local_wavefronts) / warps
    return Instructions(issued=WITHOUT_CODE * max(requests, sum(source.loops.values())))


def latency_cycles(
    regions: list[Region], accesses: Sequence[AccessMean], stream: StreamRecorder, work: LaunchWork, facts: DeviceFacts
) -> float:
    """Cycles of one warp alone."""
    if not regions:
        average = memory_latency(work.miss_sectors / max(work.memory.load_sectors, 1.0), work, facts)
        return work.memory.requests / max(work.warps, 1) * average / 4
    late, served = late_rates(stream), served_cycles(accesses, facts)
    total = 0.0
    for region in regions:
        for code, times in pieces_of(region):
            latency = load_latencies(code, late, served, work, facts)
            total += times * cycles((step_of(each, latency) for each in code), region.depth > 0) if times else 0.0
    return total


def late_rates(stream: StreamRecorder) -> dict[Line, float]:
    """For each line, the part of its requests that wait for L2: of several loads in flight together, the slowest counts."""
    found: dict[Line, float] = {}
    for each in stream.sites.values():
        if each.operation == "load":
            found[each.line] = max(found.get(each.line, 0.0), each.late_rate)
    return found


def served_cycles(accesses: Sequence[AccessMean], facts: DeviceFacts) -> dict[tuple[Line, bool], float]:
    """For each line and kind of memory, the cycles that the load-store unit needs for one request."""
    found: dict[tuple[Line, bool], float] = {}
    for each in accesses:
        if each.operation == "load" and each.requests:
            own = (each.cost if each.is_local else unit_cycles_of(each, facts)) / each.requests
            found[each.line, each.is_local] = max(own, found.get((each.line, each.is_local), 1.0))
    return found


def load_latencies(
    code: Sequence[Instruction],
    late: Mapping[Line, float],
    served: Mapping[tuple[Line, bool], float],
    work: LaunchWork,
    facts: DeviceFacts,
) -> Callable[[Instruction], float]:
    """The latency of each load in a piece of code. Copies of one load, as unrolling makes them, wait together: if any is late,
    all are. A request that keeps the unit busy for many cycles is that much later."""
    copies = Counter(each.place for each in code if each.effects and each.effects[0].kind == kinds.GLOBAL_LOAD)

    def latency(instruction: Instruction) -> float:
        kind, place = instruction.effects[0].kind, instruction.place
        if kind in (kinds.LOCAL_LOAD, kinds.PRIVATE_LOAD):
            return facts.local_latency.value + served.get((place, True), 1.0) - 1.0
        if kind == kinds.ATOMIC:
            return facts.l2_latency.value
        any_late = 1.0 - (1.0 - late.get(place, 1.0)) ** max(1, copies[place])
        return memory_latency(any_late, work, facts) + served.get((place, False), 1.0) - 1.0

    return latency


def pieces_of(region: Region) -> list[tuple[tuple[Instruction, ...], float]]:
    """The code that runs as often as the region in one piece, and each rarer block."""
    common = tuple(each for number, block in enumerate(region.blocks) if number not in region.rare for each in block)
    return [(common, region.times), *((region.blocks[number], times) for number, times in region.rare.items())]


def memory_latency(late: float, work: LaunchWork, facts: DeviceFacts) -> float:
    """Mean cycles of a load of which the part `late` waits for L2."""
    beyond = min(1.0, work.traffic.missed / work.miss_sectors) if work.miss_sectors else 0.0
    far = facts.l2_latency.value + beyond * (facts.dram_latency.value - facts.l2_latency.value)
    return (1.0 - late) * facts.l1_latency.value + late * far


def dram_bytes(traffic: Traffic) -> tuple[int, int, int]:
    """Bytes read and written when the launch is repeated, and read when caches are empty."""
    return SECTOR * traffic.fetched, SECTOR * traffic.written, SECTOR * traffic.cold_fetched
