"""Causes in how the work is handed out: few work-groups, a tail wave, occupancy, idle lanes, the launch itself."""

from math import ceil, prod

from ...analysis.explain.clc.lexer import Position
from ...analysis.explain.profile import LineAccess
from ...core.numbers import figure
from .. import rungs
from ..cause import Cause
from ..evidence import Evidence, present

IDLE = 0.3  # the part of idle lanes from which on they are said
TAIL = 1.1  # how much longer than full waves the last one makes a launch, from which on it is said
LOW_OCCUPANCY = 0.25  # below this, few waves are there to hide the latency of memory
FEW_WAVES = 16  # sub-groups of a GPU's compute unit that hide most latency: a quarter of what it can hold
LAUNCH = 1.3  # wall time over the device's time, from which on the launch is said
LAUNCH_S = 0.001  # a longer kernel does not notice its launch


def few_groups(evidence: Evidence) -> list[Cause]:
    """Fewer work-groups than compute units.

    now = the time; least = time x work-groups / compute units, if the same work is spread over all units.
    """
    groups, units = evidence.group_count, evidence.info.compute_units
    if not groups or groups >= units or units < 2:
        return []
    one = f"{groups:,} work-group{'s' if groups > 1 else ''} for {units:,} compute units"
    cause = evidence.cause(
        "too few work-groups", f"{one}: {units - groups:,} do nothing", _entry(evidence), evidence.seconds,
        evidence.seconds * groups / units, "units",
        "Divide the work into more work-groups: smaller tiles, a smaller local size, or parts of K for each",
    )  # fmt: skip
    return present([cause])


def few_items(evidence: Evidence) -> list[Cause]:
    """Fewer sub-groups than hide the latency of a GPU's memory, in a kernel that is far from its bounds.

    now = the time; least = time x sub-groups of a compute unit / 16. As coarse as that of `low_occupancy`.
    """
    groups, units = evidence.group_count, evidence.info.compute_units
    if evidence.is_cpu or groups < units or units < 2 or evidence.is_near or not evidence.measured:
        return []
    waves = groups * ceil(evidence.group_items / evidence.model.lanes) / units
    if waves >= FEW_WAVES:
        return []
    items = groups * evidence.group_items
    word = evidence.model.sub_group
    cause = evidence.cause(
        "too few work-items", f"{items:,} work-items are {figure(waves)} {word}s for each of {units:,} compute units",
        _entry(evidence), evidence.seconds, evidence.seconds * waves / FEW_WAVES, "latency",
        f"Give each work-item less work, so that each compute unit has {FEW_WAVES} {word}s or more",
        rungs.rung_for(rungs.COALESCED, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


def tail_wave(evidence: Evidence) -> list[Cause]:
    """A last wave of work-groups that does not fill the device.

    waves = work-groups / (compute units x work-groups that one holds); now = time x the part that full waves would not
    need, (whole waves - waves) / whole waves; least = 0.
    """
    groups, units = evidence.group_count, evidence.info.compute_units
    if not evidence.resident or units < 2 or groups <= units * evidence.resident:
        return []
    waves = groups / (units * evidence.resident)
    if ceil(waves) / waves < TAIL:
        return []
    now = evidence.seconds * (ceil(waves) - waves) / ceil(waves)
    counted = (
        f"{groups:,} work-groups on {units:,} compute units that hold {evidence.resident} each: the last of "
        f"{ceil(waves)} waves is {100 * (waves % 1):.0f}% full"
    )
    cause = evidence.cause(
        "tail wave", counted, _entry(evidence), now, 0.0, "tail",
        "Choose tiles whose number is a multiple of what runs at once, or split the last ones along K",
    )  # fmt: skip
    return present([cause])


def low_occupancy(evidence: Evidence) -> list[Cause]:
    """Few waves at once, in a kernel that is far from its bounds.

    least = time x occupancy / 25%: latency is hidden in proportion to the waves, until other bounds hold. The formula is
    coarse: independent instructions hide latency, too. So nothing is said of kernels that reach half of their bound.
    """
    found = evidence.inspection.occupancy if evidence.inspection is not None else None
    if found is None or found.part >= LOW_OCCUPANCY or evidence.is_near or not evidence.measured:
        return []
    remedies = {
        "registers": "Use fewer registers: fewer results per work-item, or smaller private arrays",
        "local memory": "Use less local memory per work-group: smaller or shallower tiles",
    }
    cause = evidence.cause(
        "low occupancy", f"occupancy {found}", _entry(evidence), evidence.seconds,
        evidence.seconds * found.part / LOW_OCCUPANCY, "latency",
        remedies.get(found.limiter, "Choose another work-group size, such as 256 work-items"),
    )  # fmt: skip
    return present([cause])


def idle_lanes(evidence: Evidence) -> list[Cause]:
    """Lanes of sub-groups that do nothing: groups that do not fill them, and branches that part of them takes.

    now = time x idle lanes / lanes, over all requests for memory; least = 0. Requests stand for all instructions.
    On CPUs see `vectors`.
    """
    last = evidence.last
    if last is None or evidence.is_cpu:
        return []
    requests = [each for each in evidence.accesses if each.requests]
    lanes = evidence.model.lanes
    slots = sum(each.requests * lanes for each in requests)
    active = sum(_active(evidence, each) for each in requests)
    if not slots or 1 - active / slots < IDLE:
        return []
    items = prod(last.local_size)
    worst = [each for each in requests if _active(evidence, each) < (1 - IDLE) * each.requests * lanes]
    narrow = items % lanes != 0 and items / (ceil(items / lanes) * lanes) < 1 - IDLE
    word = evidence.model.sub_group
    counted = f"{figure(100 * (1 - active / slots))}% of the lanes of a {word} are idle when memory is accessed"
    remedy = f"Let all work-items of a {word} take the same branch: decide by whole {word}s of {lanes}"
    if narrow:
        counted = f"a work-group of {items} work-items leaves lanes of its {lanes}-wide {word}s idle; {counted}"
        remedy = f"Make the local size a multiple of {lanes}"
    cause = evidence.cause(
        "idle lanes", counted, [each.position for each in worst], evidence.seconds * (1 - active / slots), 0.0, "lanes",
        remedy, rungs.rung_for(rungs.COALESCED, evidence.is_cpu) if narrow else "",
    )  # fmt: skip
    return present([cause])


def _active(evidence: Evidence, access: LineAccess) -> float:
    """Lanes that take part, summed over all requests. An access wider than an instruction is several requests."""
    parts = ceil(access.size / evidence.model.widest)
    return min(access.lane_bytes / access.size * parts, access.requests * evidence.model.lanes)


def launch_overhead(evidence: Evidence) -> list[Cause]:
    """A launch that takes longer than the kernel's work.

    gain = wall time / time on the device: what a caller would win if launches cost nothing.
    """
    wall, own = evidence.wall_seconds, evidence.measured_seconds
    if not own or own > LAUNCH_S or wall < LAUNCH * own:
        return []
    counted = f"a call takes {figure(wall * 1e6)} us, and the device works {figure(own * 1e6)} us of it"
    return [
        Cause(
            "launch overhead", counted, (), wall - own, (wall - own) / wall, wall / own,
            "Give one launch more work: a larger problem, or several problems in one launch", weight=wall - own,
        )
    ]  # fmt: skip


def _entry(evidence: Evidence) -> list[Position]:
    return [evidence.last.entry_position] if evidence.last is not None else []


CAUSES = (few_groups, few_items, tail_wave, low_occupancy, idle_lanes, launch_overhead)
