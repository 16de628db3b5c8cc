"""Why a kernel failed: `explain` runs it at a small size and looks for races, accesses out of bounds and unset values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from time import monotonic

import numpy as np

from ..core.custom import Geometry
from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.language import in_english
from ..core.own_problem import OWN
from ..core.plan import Plan, plan_kernel
from ..core.problem import Gemm, Problem, Transpose, output_of
from ..core.records import Fault, Row, RowStatus
from ..errors import TilewrightError, Unsupported
from ..runtime.verify import Reference
from .causes import likely_cause
from .explain import Explanation, Finding, explain_steps
from .explain.coverage import coverage_notes
from .explain.simt.findings import BOUNDS, UNINITIALISED
from .explain.simt.launch import LANES_AT_ONCE
from .explain.verdict import stop_sentences
from .interpreted import output_in, telling_arrays

FAILED = (RowStatus.WRONG, RowStatus.LAUNCH_FAILED)  # the rows that are worth a look
SMALL = (64, 128, 256)  # sides are cut to at least these, in turn, until the kernel takes the problem
TINY = 8  # for few work-items that do everything: each of their loop steps is interpreted separately
MOST_TURNS = 5000  # loop steps, above which the operands are made tiny
STEP_LIMIT = 20_000  # loop steps of a launch: a longer run does not end, or would take minutes
TIME_LIMIT_S = 10.0  # of one launch: a user waits for a sentence
RAGGED = 32  # a side keeps its remainder by this: faults hide in incomplete tiles


@in_english()
def diagnosed(row: Row, kernel: Kernel, problem: Problem, info: DeviceInfo) -> Row:
    """A failed row with what `explain` finds in the kernel, and the obvious cause of a wrong result if there is one. Other
    rows are returned unchanged."""
    if row.status not in FAILED:
        return row
    try:
        plan = small_plan(kernel, problem, info)
        arrays = telling_arrays(plan.problem)
        explanations = explained(plan, arrays)
    except (TilewrightError, MemoryError, RecursionError) as reason:
        return replace(row, explained=f"explain cannot run {kernel.name}, so its faults are not known: {reason}")
    faults = tuple(fault_of(each) for explanation in explanations for each in explanation.faults)
    many = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}" if faults else "no faults"
    text = f"explain ran {kernel.name} on {plan.problem.title}, all work-groups, and found {many}"
    stopped = [sentence for each in explanations for sentence in stop_sentences(each)]
    if stopped:
        text = f"explain ran {kernel.name} on {plan.problem.title} and found {many}; it {stopped[0]}"
    elif not faults and problem.operation != OWN:
        text += f"; {_outcome(plan, arrays, explanations)}"
    causes = [] if stopped else cause_sentences(plan, arrays, explanations)
    return replace(row, faults=faults, explained="\n".join([*causes, text]))


def explained(plan: Plan, arrays: Mapping[str, np.ndarray], zeroed_output: bool = False) -> tuple[Explanation, ...]:
    """All work-groups of a plan, as far as they come within `STEP_LIMIT` and `TIME_LIMIT_S`."""
    end = monotonic() + TIME_LIMIT_S
    return explain_steps(
        plan.steps, plan.problem, groups="all", arrays=arrays, step_limit=STEP_LIMIT, partial=True,
        zeroed_output=zeroed_output, watch=lambda steps, groups: monotonic() > end,
    )  # fmt: skip


def cause_sentences(plan: Plan, arrays: Mapping[str, np.ndarray], explanations: Sequence[Explanation]) -> list[str]:
    """The mistake that explains the whole result, at most one, and a global size that was rounded up."""
    sentences: list[str] = []
    if plan.problem.operation == OWN:
        return sentences
    kinds = {finding.kind for each in explanations for finding in each.faults}
    config = plan.steps[-1].config
    if BOUNDS in kinds and isinstance(config, Geometry) and (rounding := config.rounding(plan.problem)):
        sentences.append(f"likely cause: {rounding}")
    output = output_in(plan, explanations)
    if output is not None and not Reference(plan.problem, arrays).judge(output).passed:
        cause = likely_cause(plan.problem, arrays, output)
        if not cause and UNINITIALISED in kinds:
            cause = unset_output(plan, arrays)
        sentences += [f"likely cause: {cause}"] if cause else []
    return sentences


def unset_output(plan: Plan, arrays: Mapping[str, np.ndarray]) -> str:
    """A sentence if the result is right once the output holds zeros before the launch; otherwise ""."""
    output = output_in(plan, explained(plan, arrays, zeroed_output=True))
    if output is None or not Reference(plan.problem, arrays).judge(output).passed:
        return ""
    name = output_of(plan.problem).name
    return (
        f"the kernel adds to {name}, which holds no zeros: it must store the first value, or keep the sum in a variable"
    )


def small_plan(kernel: Kernel, problem: Problem, info: DeviceInfo) -> Plan:
    """The plan of the first smaller problem that the kernel takes, or of the problem itself; Unsupported if there is none."""
    for side in SMALL if problem.operation != OWN else ():
        try:
            plan = plan_kernel(kernel, smaller(problem, side), info)
            return plan if turns(plan) <= MOST_TURNS else plan_kernel(kernel, smaller(problem, TINY, TINY), info)
        except Unsupported:
            continue
    return plan_kernel(kernel, problem, info)


def turns(plan: Plan) -> float:
    """About how often the innermost loop's body is interpreted, with all possible work-items at once."""
    problem = plan.problem
    work = problem.m * problem.n * problem.k if isinstance(problem, Gemm) else output_of(problem).elements
    items = prod(plan.steps[-1].config.ndrange(plan.steps[-1].problem).global_size)
    return work / max(1, min(items, LANES_AT_ONCE))


def smaller(problem: Problem, side: int, ragged: int = RAGGED) -> Problem:
    """The problem with every long side cut to `side` plus its remainder by `ragged`; a kernel's own problem as it is."""
    if problem.operation == OWN:
        return problem

    def cut(length: int) -> int:
        return length if length <= side + ragged else side + length % ragged

    if isinstance(problem, Gemm):
        return replace(problem, m=cut(problem.m), n=cut(problem.n), k=cut(problem.k))
    assert isinstance(problem, Transpose)
    offset = cut(problem.offset)
    return replace(problem, rows=cut(problem.rows), columns=offset + cut(problem.kept), offset=offset)


def fault_of(finding: Finding) -> Fault:
    place = finding.position
    return Fault(
        str(finding.kind), str(finding.text), place.file, place.line, place.column, str(finding.example), finding.count
    )  # fmt: skip


def _outcome(plan: Plan, arrays: Mapping[str, np.ndarray], explanations: Sequence[Explanation]) -> str:
    """Whether the result of the small problem is right, if its accesses have no faults."""
    output = output_in(plan, explanations)
    if output is None:
        return "no launch writes the output: check the global size and the arguments"
    verdict = Reference(plan.problem, arrays).judge(output)
    if verdict.passed:
        return "its result is right there, so check the size, the device's compiler and its limits"
    left_out = [
        note
        for explanation in explanations
        for note in coverage_notes(explanation.coverage, len(explanation.groups), explanation.group_count)
    ]
    return "; ".join([f"its result is wrong there, too, so check what it computes: {verdict.reason}", *left_out])
