"""What a launch makes a multiprocessor do, as counts: instructions by unit, wavefronts, tags, sectors."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..explain.profile import LineAccess
from ..inspect import instruction_kinds as kinds
from ..inspect.machine_code import Instruction
from .executions import Line, Region, anchor_of
from .facts import DeviceFacts

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
    contended: float = 1.0


def memory_work(
    accesses: Sequence[LineAccess], scale: float, regions: Sequence[Region], facts: DeviceFacts
) -> MemoryWork:
    """`scale` is all work-groups over the executed ones. Where the compiler merged reads of neighbouring words, local memory
    needs fewer wavefronts."""
    widths = widths_of(regions)
    local = requests = tags = loads = stores = lanes = cycles = 0.0
    for each in accesses:
        if each.is_local:
            wavefronts = merged_wavefronts(each, widths) / facts.local_wavefronts.value
            local, cycles = local + wavefronts, cycles + wavefronts
            continue
        requests, tags = requests + each.requests, tags + each.lines
        cycles += max(
            each.requests * facts.request_cycles.value,
            each.lines / facts.l1_tags.value,
            each.cost / facts.l1_sectors.value,
        )
        if each.operation == "load":
            loads += each.cost
        else:
            stores += each.cost
            lanes += each.lane_bytes / each.size if each.operation == "atomic" else 0.0
    return MemoryWork(*(scale * each for each in (local, requests, tags, loads, stores, lanes, cycles)))


def widths_of(regions: Sequence[Region]) -> Mapping[tuple[Line, str], float]:
    """The mean bytes of a lane in the loads and stores of each line, as they run."""
    moved: dict[tuple[Line, str], float] = defaultdict(float)
    count: dict[tuple[Line, str], float] = defaultdict(float)
    for region in regions:
        for block, times in region.weighted():
            for each in block:
                anchor = anchor_of(each)
                if anchor is not None and times:
                    moved[anchor[0], anchor[1]] += times * anchor[2]
                    count[anchor[0], anchor[1]] += times
    return {key: moved[key] / count[key] for key in moved}


def merged_wavefronts(access: LineAccess, widths: Mapping[tuple[Line, str], float]) -> float:
    """Wavefronts of an access of local memory, as the compiler made it."""
    if access.operation != "load":
        return access.cost
    width = widths.get(((access.position.file, access.position.line), kinds.LOCAL_LOAD), access.size)
    if width <= access.size:
        return access.cost
    different = len({each for each in access.first.addresses if each is not None})
    merged = max(1.0, different * width / BANKED)  # of one wide load
    return min(access.cost, merged * access.requests * access.size / width)
