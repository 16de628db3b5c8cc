"""Causes in the machine code: spilled registers, slow integer arithmetic, conversions."""

import re

from ...analysis.explain.clc.lexer import Position
from ...analysis.explain.private_arrays import PrivateArray
from ...analysis.inspect import instruction_kinds as kinds
from ...analysis.inspect.counts import Mix
from ...core.numbers import figure
from .. import rungs
from ..cause import Cause
from ..evidence import CODE, Evidence, present

SHARE_OF_LOOP = 0.25  # of the loop's instructions, from which on a kind of them is said
DIVISIONS = re.compile(r"^(i?div[lq]?|MUFU\.RCP\S*|div\.[su]\d+|rem\.[su]\d+|v_rcp\w*)$")
REMAINDER = re.compile(r"[\w)\]]\s*%\s*[\w(]|get_\w+\(\d\)\s*/")


def _loop(evidence: Evidence) -> Mix | None:
    loop = evidence.inspection.loop if evidence.inspection is not None else None
    return loop.mix if loop is not None else None


def _part(evidence: Evidence, count: float, mix: Mix) -> float:
    """The time of so many of the loop's instructions: their part of it, of the time that the whole loop takes at most."""
    return evidence.seconds * min(1.0, count / mix.instructions)


def spills(evidence: Evidence) -> list[Cause]:
    """Private memory in the main loop: spilled registers, and arrays that found no room in registers.

    now = time x private loads and stores / instructions of the loop; least = 0. Without machine code: private arrays
    longer than the registers of a work-item, at one load from memory for each multiply-add.
    """
    mix = _loop(evidence)
    if evidence.is_cpu and _long_arrays(evidence):  # a CPU reads packed blocks from the same stack
        return []
    if mix is not None:
        count = mix.count(kinds.PRIVATE_LOAD) + mix.count(kinds.PRIVATE_STORE)
        if not count:
            return []
        assert evidence.inspection is not None
        stack = evidence.inspection.resources.stack_bytes if evidence.inspection.resources is not None else 0
        words = f"{count} of {mix.instructions} instructions of the main loop access private memory"
        counted = f"{words}; the stack has {stack:,} bytes"
        now = _part(evidence, count, mix)
    else:
        long = _long_arrays(evidence)
        if not long or not evidence.multiply_adds:
            return []
        counted = "; ".join(
            f"{each.name} has {each.nbytes:,} bytes for each work-item, whose registers hold {evidence.model.register_bytes:,}"
            for each in long
        )
        now = evidence.memory_seconds(evidence.multiply_adds * evidence.itemsize)
    cause = evidence.cause(
        "registers spill", counted, _array_places(evidence), now, 0.0, CODE,
        "Use fewer or smaller private arrays, with indices that are known when the kernel is compiled (unrolled loops)",
        rungs.rung_for(rungs.REGISTERS, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


def _long_arrays(evidence: Evidence) -> list[PrivateArray]:
    return [each for each in evidence.private_arrays if each.nbytes > evidence.model.register_bytes]


def _array_places(evidence: Evidence) -> list[Position]:
    return [each.position for each in _long_arrays(evidence) or evidence.private_arrays]


def divisions(evidence: Evidence) -> list[Cause]:
    """Integer division and remainder in the loop: a division is about 20 instructions on a GPU, and as slow on a CPU.

    now = time x integer instructions beyond one for each multiply-add / instructions of the loop; least = 0.
    """
    mix, last = _loop(evidence), evidence.last
    if last is None:
        return []
    places = _remainders(evidence)
    slow = mix is not None and any(DIVISIONS.match(name) for name in mix.opcodes)
    if not places or (mix is not None and mix.count(kinds.FMA) and not slow and _spare(mix) < SHARE_OF_LOOP):
        return []
    if mix is None:
        return []
    count = sum(number for name, number in mix.opcodes.items() if DIVISIONS.match(name))
    now = _part(evidence, max(_spare(mix) * mix.instructions, 20.0 * count), mix)
    words = f"{mix.count(kinds.INTEGER)} of {mix.instructions} instructions of the main loop are integer"
    cause = evidence.cause(
        "integer division", words + (f", {count} of them divide" if count else ""), places, now, 0.0, CODE,
        "Compute quotients and remainders before the loop, and step indices by addition in it",
    )  # fmt: skip
    return present([cause])


def _spare(mix: Mix) -> float:
    """The part of integer instructions beyond one for each multiply-add."""
    return max(0, mix.count(kinds.INTEGER) - mix.count(kinds.FMA)) / mix.instructions


def _remainders(evidence: Evidence) -> list[Position]:
    """Lines with % or an integer division, from the first access of the loop to the last, or just before."""
    assert evidence.last is not None
    own = evidence.last.entry_position.file
    inner = [each.line for each in evidence.loop_positions() if each.file == own]
    if not inner:
        return []
    lines = evidence.last.source.file(own)
    near = range(min(inner) - 3, max(inner) + 1)
    return [
        Position(own, line, 1) for line in near if line in lines and REMAINDER.search(lines[line].partition("//")[0])
    ]


def conversions(evidence: Evidence) -> list[Cause]:
    """Conversions in the loop, such as those that a constant without f brings into a float kernel.

    now = time x conversions / instructions of the loop; least = 0.
    """
    mix = _loop(evidence)
    if mix is None or not mix.instructions:
        return []
    count = mix.count(kinds.CONVERT)
    if count < SHARE_OF_LOOP * max(mix.count(kinds.FMA), 1) or count / mix.instructions < SHARE_OF_LOOP / 2:
        return []
    cause = evidence.cause(
        "conversions", f"{count} of {mix.instructions} instructions of the main loop convert types",
        evidence.loop_positions(), _part(evidence, 2 * count, mix), 0.0, CODE,
        "Compute in one type: write constants as 1.0f, and keep indices and sums in the types of their operands",
    )  # fmt: skip
    return present([cause])


def many_instructions(evidence: Evidence) -> list[Cause]:
    """More instructions around each multiply-add than the device issues beside it.

    now = time of all the loop's instructions at the rate of issue; least = that of one slot for each multiply-add.
    """
    mix = _loop(evidence)
    limit = next((each for each in evidence.limits if each.name == CODE), None)
    if mix is None or limit is None or evidence.issued is None or evidence.issued < 2:
        return []
    per = figure(mix.instructions / max(1, mix.count(kinds.FMA)))
    loads = mix.accesses / max(1, mix.count(kinds.FMA))
    counted = f"the main loop has {per} instructions for each multiply-add, {figure(loads)} of them loads and stores"
    cause = evidence.cause(
        "few multiply-adds in the loop", counted, evidence.loop_positions(), limit.seconds,
        limit.seconds / evidence.issued, CODE,
        "Let each work-item compute a block of results, and unroll its loop: more multiply-adds for each load and index",
        rungs.rung_for(rungs.REGISTERS, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


CAUSES = (spills, divisions, conversions, many_instructions)
