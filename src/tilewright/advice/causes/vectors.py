"""Causes on CPUs: scalar code where vectors would do, and strides that keep the compiler from vectors."""

import re

from ...analysis.inspect import instruction_kinds as kinds
from ...core.numbers import figure
from .. import rungs
from ..cause import Cause
from ..evidence import Evidence, present

SCALAR = re.compile(r"^v?(fn?m(add|sub)\d*|add|mul|sub)(ss|sd)$")
VECTOR = re.compile(r"^v?(fn?m(add|sub)\d*|add|mul|sub)(ps|pd)$")


def not_vectorised(evidence: Evidence) -> list[Cause]:
    """Floating-point instructions of one element in the main loop of a CPU's code.

    now = time; least = time / elements of a vector, in the part of the loop's arithmetic that is scalar.
    """
    loop = evidence.inspection.loop if evidence.inspection is not None else None
    if not evidence.is_cpu or loop is None or evidence.model.lanes < 2:
        return []
    scalar = sum(count for name, count in loop.mix.opcodes.items() if SCALAR.match(name))
    wide = sum(count for name, count in loop.mix.opcodes.items() if VECTOR.match(name))
    if scalar <= wide:
        return []
    lanes = evidence.model.lanes
    part = scalar / (scalar + wide)
    cause = evidence.cause(
        "not vectorised",
        f"{scalar} of {scalar + wide} arithmetic instructions of the main loop compute one element, and a vector holds {lanes}",
        evidence.loop_positions(), evidence.seconds, evidence.seconds * (1 - part + part / lanes), "lanes",
        "Compute neighbouring elements of a row as one vector, such as float16, or let dimension 0 run along rows",
        rungs.rung_for(rungs.WIDE, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


def gathers(evidence: Evidence) -> list[Cause]:
    """Gathers and scatters in the main loop: each fetches the elements of a vector one by one.

    now = time x accesses of single elements / (these + the loop's other instructions); least = one access for each gather.
    """
    loop = evidence.inspection.loop if evidence.inspection is not None else None
    if not evidence.is_cpu or loop is None:
        return []
    count = loop.mix.count(kinds.GATHERED) + loop.mix.count(kinds.SCATTERED)
    if not count:
        return []
    lanes = evidence.model.lanes
    whole = loop.mix.instructions + count * (lanes - 1)
    now = evidence.seconds * count * lanes / whole
    cause = evidence.cause(
        "gathers", f"the main loop has {figure(count)} gathers or scatters, each {lanes} accesses of one element",
        evidence.loop_positions(), now, now / lanes, "lanes",
        "Let neighbouring work-items of dimension 0 access neighbouring elements, with indices that the compiler can see "
        "through: an int from get_global_id(0), and the rest the same for all",
        rungs.rung_for(rungs.COALESCED, evidence.is_cpu),
    )  # fmt: skip
    return present([cause])


CAUSES = (not_vectorised, gathers)
