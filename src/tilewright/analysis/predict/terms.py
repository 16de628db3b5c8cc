"""The time of a launch as the largest of several terms, each of which is a bound by itself.

Throughput of a multiprocessor against latency is the interval model of Volkov, "Understanding Latency Hiding on GPUs" (2016):
with few resident warps, a warp's own time counts, with many what the units can deliver.
"""

from dataclasses import dataclass

from ..explain.models import find_model
from .constants import Constants
from .facts import DeviceFacts
from .hierarchy import Traffic
from .prediction import Term
from .work import Instructions, MemoryWork

SECTOR = 32


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


def unit_cycles(work: LaunchWork, facts: DeviceFacts) -> dict[str, float]:
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
        "starts of warps": warps * facts.warp_start_cycles.value,
    }


def terms_of(work: LaunchWork, facts: DeviceFacts, constants: Constants) -> tuple[Term, ...]:
    """The terms of one launch, without the launch's own cost.

    A multiprocessor runs its groups in waves. In each wave, the units' cycles and a warp's own time compete:
    (units^p + latency^p)^(1/p). The last wave has what is left.
    """
    count = int(facts.multiprocessors.value)
    second = facts.cycles_per_second
    units = unit_cycles(work, facts)
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


def combined(terms: tuple[Term, ...], constants: Constants) -> float:
    """Seconds: units and latency by one power mean, then memory beside them by another, so that the largest counts most."""
    own = [each.seconds for each in terms if each.name not in ("L2", "memory", "atomic updates", "latency")]
    inside = power_sum((max(own), next(e.seconds for e in terms if e.name == "latency")), constants.overlap)
    beside = [each.seconds for each in terms if each.name in ("L2", "memory", "atomic updates")]
    return power_sum((inside, *beside), constants.memory_overlap)


def power_sum(values: tuple[float, ...], power: float) -> float:
    """(sum of value^power)^(1/power): their sum at 1, the largest at infinity."""
    largest = max(values)
    if largest <= 0:
        return 0.0
    return float(largest * sum((each / largest) ** power for each in values) ** (1.0 / power))
