"""The time of a launch as the largest of several terms, each of which is a bound by itself.

Throughput of a multiprocessor against latency is the interval model of Volkov, "Understanding Latency Hiding on GPUs" (2016):
with few resident warps, a warp's own time counts, with many what the units can deliver.
"""

from dataclasses import dataclass

from ..explain.models import find_model
from ..inspect.occupancy import find_multiprocessor
from .constants import Constants
from .facts import DeviceFacts
from .hierarchy import Traffic
from .prediction import Term
from .stream import SECTOR
from .work import Instructions, MemoryWork

# Terms that are no unit of a multiprocessor.
OUTSIDE = ("starts of warps", "latency", "L2", "memory", "atomic updates")


@dataclass(frozen=True)
class LaunchWork:
    """One launch, ready to be timed. `latency_cycles` is the time of a warp alone. `resident` groups fit on a multiprocessor."""

    groups: int
    warps_of_group: int
    resident: int
    latency_cycles: float
    instructions: Instructions
    memory: MemoryWork
    miss_sectors: float  # loads that L1 does not have
    traffic: Traffic

    @property
    def warps(self) -> int:
        return self.groups * self.warps_of_group


def unit_cycles(work: LaunchWork, facts: DeviceFacts, constants: Constants) -> dict[str, float]:
    """Cycles of all multiprocessors together that each unit needs for the launch:

    issue: instructions / those issued a clock; arithmetic: instructions x lanes of a warp / lanes of the unit; load-store unit:
    wavefronts of local memory, and for each access of global memory the largest of its requests, tags and sectors over their
    rates; starts: warps x cycles between two starts.
    """
    lanes, own, warps = float(find_model(facts.rules).lanes), work.instructions, float(work.warps)
    return {
        "instruction issue": warps * own.issued / facts.issue.value,
        "multiply-adds": warps * own.floats * lanes / facts.multiply_adds.value,
        "integer arithmetic": warps * max(own.integers, own.integer_multiplies) * lanes / facts.integers.value,
        "special functions": warps * own.special * lanes / facts.special.value,
        "double precision": warps * own.doubles * lanes / facts.double_multiply_adds.value,
        "load-store units": work.memory.unit_cycles + warps * own.shuffles,
        "starts of warps": warps * constants.starts * facts.warp_start_cycles.value,
    }


def terms_of(work: LaunchWork, facts: DeviceFacts, constants: Constants) -> tuple[Term, ...]:
    """The terms of one launch, without the launch's own cost.

    Units: the cycles of the groups of the busiest multiprocessor. Latency: waves of groups x the time of a warp alone. L2:
    sectors that L1 lacks, and stored ones, over their rates. Memory: bytes fetched and written back over the rate of a copy.
    """
    count = int(facts.multiprocessors.value)
    second = facts.cycles_per_second
    units = unit_cycles(work, facts, constants)
    slots = count * work.resident
    full, rest = divmod(work.groups, slots)
    per_group = {name: value / work.groups for name, value in units.items()}
    busiest = full * work.resident + -(-rest // count)  # groups of the busiest multiprocessor
    waves = full + (1 if rest else 0)
    terms = [Term(name, busiest * value / second) for name, value in per_group.items()]
    terms.append(Term("latency", constants.latency * waves * work.latency_cycles / second))
    l2_loads = SECTOR * work.miss_sectors / (facts.l2_gbs.value * 1e9)
    l2_stores = SECTOR * work.memory.store_sectors / (facts.l2_store_gbs.value * 1e9)
    terms.append(Term("L2", l2_loads + l2_stores))
    moved = SECTOR * (work.traffic.fetched + work.traffic.written)
    terms.append(Term("memory", moved / (facts.dram_gbs.value * 1e9)))
    if work.memory.atomic_lanes:
        terms.append(Term("atomic updates", work.memory.atomic_lanes / (facts.atomic_gops.value * 1e9)))
    return tuple(terms)


def combined(terms: tuple[Term, ...], work: LaunchWork, facts: DeviceFacts, constants: Constants) -> float:
    """Seconds: the units by one power mean, whose exponent grows with the warps that are there to fill gaps; L2 and memory by
    another; and both, with starts and latency, by a third. So the largest counts most."""
    seconds = {each.name: each.seconds for each in terms}
    units = tuple(value for name, value in seconds.items() if name not in OUTSIDE)
    warps = min(1.0, work.resident * work.warps_of_group / find_multiprocessor(facts.arch).waves)
    inside = power_sum(units, constants.units + constants.units_full * warps)
    beyond = power_sum((seconds["L2"], seconds["memory"]), constants.memory)
    others = (seconds["starts of warps"], seconds["latency"], seconds.get("atomic updates", 0.0))
    return power_sum((inside, beyond, *others), constants.beside)


def power_sum(values: tuple[float, ...], power: float) -> float:
    """(sum of value^power)^(1/power): their sum at 1, the largest at infinity."""
    largest = max(values)
    if largest <= 0:
        return 0.0
    return float(largest * sum((each / largest) ** power for each in values) ** (1.0 / power))
