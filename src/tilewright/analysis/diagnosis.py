"""Why a kernel failed: `explain` runs it at a small size and looks for races, accesses out of bounds and unset values."""

from dataclasses import replace
from math import prod

from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.plan import Plan, plan_kernel
from ..core.problem import Gemm, Problem, Transpose, output_of, random_arrays
from ..core.records import Fault, Row, RowStatus
from ..errors import TilewrightError, Unsupported
from ..runtime.verify import Reference
from .explain import Explanation, Finding, explain_steps
from .explain.coverage import coverage_notes
from .explain.simt.launch import LANES_AT_ONCE

FAILED = (RowStatus.WRONG, RowStatus.LAUNCH_FAILED)  # the rows that are worth a look
SMALL = (64, 128, 256)  # sides are cut to at least these, in turn, until the kernel takes the problem
TINY = 8  # for few work-items that do everything: each of their loop steps is interpreted separately
MOST_TURNS = 5000  # loop steps, above which the operands are made tiny
STEP_LIMIT = 20_000  # loop steps in all: a longer run does not end, or would take minutes
RAGGED = 32  # a side keeps its remainder by this: faults hide in incomplete tiles


def diagnosed(row: Row, kernel: Kernel, problem: Problem, info: DeviceInfo) -> Row:
    """A failed row with what `explain` finds in the kernel. Other rows are returned unchanged."""
    if row.status not in FAILED:
        return row
    try:
        plan = small_plan(kernel, problem, info)
        arrays = random_arrays(plan.problem)
        explanations = explain_steps(plan.steps, plan.problem, groups="all", arrays=arrays, step_limit=STEP_LIMIT)
    except (TilewrightError, MemoryError, RecursionError) as reason:
        return replace(row, explained=f"explain cannot run {kernel.name}, so its faults are not known: {reason}")
    faults = tuple(fault_of(each) for explanation in explanations for each in explanation.faults)
    where = f"explain ran {kernel.name} on {plan.problem.title}, all work-groups, and found"
    if faults:
        many = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
        return replace(row, faults=faults, explained=f"{where} {many}")
    return replace(row, explained=f"{where} no faults; {_outcome(plan, explanations)}")


def small_plan(kernel: Kernel, problem: Problem, info: DeviceInfo) -> Plan:
    """The plan of the first smaller problem that the kernel takes, or of the problem itself; Unsupported if there is none."""
    for side in SMALL:
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
    """The problem with every long side cut to `side` plus its remainder by `ragged`."""

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
        finding.kind, finding.text, place.file, place.line, place.column, finding.example, finding.count
    )  # fmt: skip


def _outcome(plan: Plan, explanations: tuple[Explanation, ...]) -> str:
    """Whether the result of the small problem is right, if its accesses have no faults."""
    output = output_of(plan.problem)
    found = [
        array
        for step, explanation in zip(plan.steps, explanations, strict=False)
        for argument, array in explanation.outputs.items()
        if step.buffer_of(argument) == output.name
    ]
    if not found:
        return "no launch writes the output: check the global size and the arguments"
    verdict = Reference(plan.problem, random_arrays(plan.problem)).judge(output.unflatten(found[-1]))
    if verdict.passed:
        return "its result is right there, so check the size, the device's compiler and its limits"
    left_out = [
        note
        for explanation in explanations
        for note in coverage_notes(explanation.coverage, len(explanation.groups), explanation.group_count)
    ]
    return "; ".join([f"its result is wrong there, too, so check what it computes: {verdict.reason}", *left_out])
