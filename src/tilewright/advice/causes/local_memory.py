"""Causes between registers and local memory: bank conflicts, one load for each product, narrow loads, barriers."""

from math import prod

from ...analysis.explain.profile import LineAccess
from ...analysis.explain.verdict import is_costly, local_sentence
from ...core.numbers import figure
from .. import rungs
from ..cause import Cause
from ..evidence import ACCESSES, Evidence, present

FEW_LOADS = 0.6  # loads for each multiply-add: 4 x 4 results per work-item need half a load, and some for the copies
BLOCKED = 0.25  # what 8 x 8 results per work-item need
WIDEST = 16  # bytes of one load
BARRIER_SLOTS = 20  # instruction slots that a work-item waits at a barrier; assumed, since other work-groups fill some


def bank_conflicts(evidence: Evidence) -> list[Cause]:
    """Passes through local memory beyond the fewest.

    now = passes x bytes of all banks / peak of local memory, least = the same of the fewest passes. CPUs have no banks.
    """
    if evidence.last is None or evidence.is_cpu:
        return []
    causes = []
    for each in (each for each in evidence.accesses if each.is_local and not each.is_atomic and is_costly(each)):
        times = evidence.scale(evidence.last, each)
        now, least = (evidence.path_seconds(times * count) for count in (each.cost, each.ideal))
        causes.append(
            evidence.cause(
                "bank conflicts", local_sentence(evidence.last, each), [each.position], now, least, ACCESSES,
                f"Pad the rows of {each.buffer}, so that a column lies in different banks",
                rungs.rung_for(rungs.PADDED, evidence.is_cpu),
            )
        )  # fmt: skip
    return present(causes)


def _loads(evidence: Evidence) -> list[LineAccess]:
    return [each for each in evidence.accesses if each.operation == "load"]


def _per_multiply_add(evidence: Evidence) -> float:
    """Load instructions of a work-item for each multiply-add: those that cost at least one pass for all its lanes."""
    assert evidence.last is not None
    count = sum(evidence.scale(evidence.last, each) * each.lane_bytes / each.size for each in _loads(evidence))
    return count / evidence.multiply_adds if evidence.multiply_adds else 0.0


def no_register_reuse(evidence: Evidence) -> list[Cause]:
    """More than about one load for every other multiply-add.

    now = passes of all loads, without strides and conflicts, x bytes of a pass / peak of local memory, which is the
    first cache's on NVIDIA;
    least = the same with 8 x 8 results per work-item, which need a quarter of a load for each multiply-add. On a CPU with
    machine code, loads are counted there instead: a compiler's registers hold more than the source says.
    """
    if evidence.last is None or not evidence.multiply_adds or evidence.is_cpu:
        return []
    ratio = _per_multiply_add(evidence)
    if ratio <= FEW_LOADS:
        return []
    passes = sum(evidence.scale(evidence.last, each) * evidence.fewest_passes(each) for each in _loads(evidence))
    now = evidence.path_seconds(passes)
    loop = set(evidence.loop_positions())
    cause = evidence.cause(
        "no reuse in registers", f"the source loads {figure(ratio)} times for each multiply-add",
        [each.position for each in _loads(evidence) if each.position in loop], now, now * BLOCKED / ratio, ACCESSES,
        "Let each work-item compute a block of results, such as 4 x 4: TM + TN loads then serve TM * TN multiply-adds",
        rungs.rung_for(rungs.REGISTERS, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


def narrow_loads(evidence: Evidence) -> list[Cause]:
    """Loads of single elements where vectors would do.

    now = the passes of those loads; least = a quarter of their instructions, but never fewer passes than their bytes
    need. It is asked only after registers are reused, because one load for each product is the larger cause then.
    """
    last = evidence.last
    if last is None or evidence.is_cpu or not evidence.multiply_adds or _per_multiply_add(evidence) > FEW_LOADS:
        return []
    loop = set(evidence.loop_positions())
    narrow = [each for each in _loads(evidence) if each.size <= evidence.itemsize <= 4 and each.position in loop]
    # A broadcast moves one word in a pass that could move all banks: only such loads become fewer when they are wider.
    narrow = [each for each in narrow if each.is_local and each.lane_bytes > 2 * _distinct_bytes(each)]
    now = evidence.path_seconds(sum(evidence.scale(last, each) * each.cost for each in narrow))
    cause = evidence.cause(
        "narrow loads", f"{len(narrow)} loads in the loop move one element of {evidence.itemsize} bytes each",
        [each.position for each in narrow], now, now * evidence.itemsize / WIDEST, ACCESSES,
        "Load neighbouring elements as one vector, such as vload4",
        rungs.rung_for(rungs.WIDE, evidence.is_cpu),
    )  # fmt: skip
    return present([cause]) if narrow else []


def _distinct_bytes(access: LineAccess) -> int:
    """Different bytes of the first request, for as many requests."""
    return len(set(access.first.addresses) - {None}) * access.size * access.requests


def barriers(evidence: Evidence) -> list[Cause]:
    """A barrier after little work.

    part = 20 slots of instructions / (20 + slots between two barriers), with a slot for each multiply-add and each load
    of a work-item; now = that part of the time. Other work-groups of the same compute unit may fill the slots.
    """
    last = evidence.last
    if last is None or not evidence.multiply_adds or not last.profile.barriers:
        return []
    count = last.profile.barriers  # of one work-group
    work = evidence.counted.flops / 2 / max(1, last.group_count) / prod(last.local_size)
    between = work * (1 + _per_multiply_add(evidence)) / count
    if between >= 4 * BARRIER_SLOTS:
        return []
    now = evidence.seconds * BARRIER_SLOTS / (BARRIER_SLOTS + between)
    lines = sorted({each.barrier for each in last.profile.phases if each.barrier})
    own = last.entry_position
    cause = evidence.cause(
        "barriers", f"a work-item makes about {figure(work / count)} multiply-adds between two barriers",
        [type(own)(own.file, line, 1) for line in lines[:4]], now, now / 4, "barriers",
        "Make the tiles deeper, or compute more results per work-item: more work between two barriers",
        rungs.rung_for(rungs.REGISTERS, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


CAUSES = (bank_conflicts, no_register_reuse, narrow_loads, barriers)
