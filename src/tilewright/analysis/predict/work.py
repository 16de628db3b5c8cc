"""What a launch makes a multiprocessor do, as counts: instructions by unit, wavefronts, tags, sectors."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..inspect import instruction_kinds as kinds
from ..inspect.machine_code import Instruction
from .executions import AccessMean, Line, Region, anchor_of
from .facts import DeviceFacts

KEPT = 0.95  # of what the source asks for: below it, the compiler has dropped accesses
WIDEST = 16  # bytes of a lane in one instruction, at most
MERGED = 1.5  # times the source's width, from which on reads count as merged
BANKED = 128  # bytes that local memory delivers in one wavefront
FLOAT_ON_ALU = ("FSETP", "FSET", "FSEL", "FMNMX", "FCHK")
DOUBLES = ("DFMA", "DADD", "DMUL", "DSETP", "DMNMX")
CONVERSION_SHARE = 0.25  # of a special function's time: 64 lanes a clock, where those have 16


@dataclass(frozen=True)
class Instructions:
    """Instructions of one warp, by the unit that runs them."""

    issued: float = 0.0
    floats: float = 0.0  # multiply-adds and other arithmetic of single precision, and integer multiply-adds
    integer_multiplies: float = 0.0
    integers: float = 0.0
    special: float = 0.0
    doubles: float = 0.0
    shuffles: float = 0.0


def instructions_of(regions: Sequence[Region]) -> Instructions:
    """The instructions that one warp runs."""
    sums: dict[str, float] = defaultdict(float)
    for region in regions:
        for block, times in region.weighted():
            for each in block:
                sums["issued"] += times
                for unit, share in units_of(each):
                    sums[unit] += times * share
    return Instructions(**sums)


def units_of(instruction: Instruction) -> list[tuple[str, float]]:
    """The units that an instruction keeps busy, and for what part of its time."""
    name = instruction.opcode.split(".")[0]
    kind = instruction.effects[0].kind if instruction.effects else kinds.OTHER
    if name in DOUBLES or "_f64" in name:
        return [("doubles", 1.0)]
    if name == "MUFU" or kind == kinds.CONVERT:
        return [("special", 1.0 if name == "MUFU" else CONVERSION_SHARE)]
    if name == "IMAD" and "MOV" not in instruction.opcode:
        return [("integer_multiplies", 1.0), ("floats", 1.0)]
    if kind == kinds.FMA or (kind == kinds.FLOAT and name not in FLOAT_ON_ALU):
        return [("floats", 1.0)]
    if kind == kinds.SHUFFLE:
        return [("shuffles", 1.0)]
    if kind in (kinds.INTEGER, kinds.FLOAT) and not name.startswith(("U", "s_")):
        return [("integers", 1.0)]
    return []


@dataclass(frozen=True)
class MemoryWork:
    """What a whole launch asks of local memory and of L1. `unit_cycles` are those of the load-store units, all together."""

    local_wavefronts: float
    requests: float
    tags: float
    load_sectors: float
    store_sectors: float
    atomic_lanes: float
    unit_cycles: float


def memory_work(
    accesses: Sequence[AccessMean], groups: int, warps_of_group: int, regions: Sequence[Region], facts: DeviceFacts
) -> MemoryWork:
    """The work of `groups` work-groups. The compiler drops accesses whose values it keeps in registers, and where it merged reads
    of neighbouring words, local memory needs fewer wavefronts."""
    widths, moved = widths_of(regions)
    asked: dict[tuple[Line, str], float] = defaultdict(float)
    for each in accesses:
        asked[each.line, kind_of(each)] += each.requests * min(each.size, 16) / warps_of_group
    local = requests = tags = loads = stores = lanes = cycles = 0.0
    for each in accesses:
        key = each.line, kind_of(each)
        own = as_compiled(each, moved.get(key, 0.0) / asked[key] if asked[key] else 0.0, widths.get(key, each.size))
        if own.is_local:
            wavefronts = merged_wavefronts(own, widths) / facts.local_wavefronts.value
            local, cycles = local + wavefronts, cycles + wavefronts
            continue
        requests, tags = requests + own.requests, tags + own.lines
        cycles += unit_cycles_of(own, facts)
        if own.operation == "load":
            loads += own.cost
        else:
            stores += each.cost * min(1.0, own.cost / each.cost) if each.cost else 0.0  # narrow stores meet again in L1
            lanes += own.lane_bytes / own.size if own.operation == "atomic" else 0.0
    return MemoryWork(*(groups * each for each in (local, requests, tags, loads, stores, lanes, cycles)))


def unit_cycles_of(access: AccessMean, facts: DeviceFacts) -> float:
    """Cycles of a load-store unit for an access of global memory: its requests, tags or sectors, whatever takes longest."""
    return max(
        access.requests * facts.request_cycles.value,
        access.lines / facts.l1_tags.value,
        access.cost / facts.l1_sectors.value,
    )


def kind_of(access: AccessMean) -> str:
    """The kind of instruction that makes this access."""
    if access.operation == "load":
        return kinds.LOCAL_LOAD if access.is_local else kinds.GLOBAL_LOAD
    if access.operation == "store":
        return kinds.LOCAL_STORE if access.is_local else kinds.GLOBAL_STORE
    return kinds.ATOMIC


def as_compiled(access: AccessMean, kept: float, width: float) -> AccessMean:
    """What the compiler made of an access: it may keep only a part of what the source asks for, and split a wide vector whose
    alignment it does not know into loads or stores of `width` bytes, each of which touches about the same sectors."""
    if access.operation == "atomic" or not kept:
        return access
    factor = min(1.0, kept) if kept < KEPT else 1.0
    if not access.is_local and width < KEPT * min(access.size, WIDEST):
        factor *= min(access.size, WIDEST) / width
    return replace(
        access, requests=factor * access.requests, cost=factor * access.cost, lines=factor * access.lines,
        lane_bytes=factor * access.lane_bytes, useful_bytes=factor * access.useful_bytes,
    )  # fmt: skip


def widths_of(regions: Sequence[Region]) -> tuple[dict[tuple[Line, str], float], dict[tuple[Line, str], float]]:
    """The mean bytes of a lane in the loads and stores of each line as they run, and all bytes that a warp's lane moves there."""
    moved: dict[tuple[Line, str], float] = defaultdict(float)
    count: dict[tuple[Line, str], float] = defaultdict(float)
    for region in regions:
        for block, times in region.weighted():
            for each in block:
                anchor = anchor_of(each)
                if anchor is not None and times:
                    moved[anchor[0], anchor[1]] += times * anchor[2]
                    count[anchor[0], anchor[1]] += times
    return {key: moved[key] / count[key] for key in moved}, dict(moved)


def merged_wavefronts(access: AccessMean, widths: Mapping[tuple[Line, str], float]) -> float:
    """Wavefronts of an access of local memory, as the compiler made it."""
    width = widths.get((access.line, kinds.LOCAL_LOAD), access.size)
    if access.operation != "load" or width < MERGED * access.size:
        return access.cost
    merged = max(1.0, access.different * width / BANKED)  # of one wide load
    return min(access.cost, merged * access.requests * access.size / width)
