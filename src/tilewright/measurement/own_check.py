"""Checks a run of a kernel whose arguments are its own: against given results, or against the values of the interpreter."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from ..analysis.explain import Explanation, explain_steps
from ..core.defaults import EXPLAIN_STEPS
from ..core.kernel import Kernel
from ..core.own_problem import OwnProblem, as_bytes
from ..core.plan import Plan
from ..core.source import without_comments
from ..errors import TilewrightError, WrongResult
from ..runtime.run import Execution
from ..runtime.verify import Element, Verdict

TIME_LIMIT_S = 5.0  # of the interpreter: a user waits for it
# What compilers may change by contracting multiply-adds and by their own exp, sin ...: a part of the largest element.
TOLERANCES = {2: 4e-3, 4: 2e-5, 8: 1e-12}
# Weights of 8 bits after the point, in up to three directions: what linear filters of GPUs may change.
FILTERED = 3 / 256


@dataclass(frozen=True)
class Expected:
    """What buffers must hold after the launch. Of each, `where` marks the elements that are known. `source` says who knows
    them; `unchecked` says why nothing is known."""

    arrays: Mapping[str, np.ndarray]
    where: Mapping[str, np.ndarray]
    source: str
    unchecked: str = ""
    guessed_groups: str = ""  # the work-groups of the interpreter, where the driver chooses its own
    filtered: bool = False  # texels are interpolated, with weights that devices may round to 8 bits


def expected_of(plan: Plan, problem: OwnProblem) -> Expected:
    """The values that the user gave, or those that the interpreter finds within `TIME_LIMIT_S`."""
    if problem.expected:
        whole = {name: np.ones(array.shape, bool) for name, array in problem.expected.items()}
        return Expected(problem.expected, whole, "the given results")
    end = monotonic() + TIME_LIMIT_S
    try:
        found = explain_steps(
            plan.steps, problem, step_limit=EXPLAIN_STEPS, partial=True, watch=lambda steps, groups: monotonic() > end
        )
    except (TilewrightError, MemoryError, RecursionError) as reason:
        return _unknown(f"explain cannot run it: {reason}")
    return _interpreted(plan, problem, found[-1]) if found else _unknown("nothing is launched")


def _unknown(reason: str) -> Expected:
    """What buffers must hold if nobody knows it."""
    return Expected({}, {}, "", reason)


def _interpreted(plan: Plan, problem: OwnProblem, found: Explanation) -> Expected:
    """The outputs of the groups that the interpreter ran. If it did not run all, elements that stay as they were are unknown."""
    if found.stop is not None:
        return _unknown(f"the interpreter came only to line {found.stop.position.line} in {TIME_LIMIT_S:g} s")
    if found.faults:
        first = found.faults[0]
        more = f" and {len(found.faults) - 1} more faults" if len(found.faults) > 1 else ""
        return _unknown(f"explain finds in it: {first.kind} at line {first.position.line}: {first.text}{more}")
    whole = len(found.groups) == found.group_count
    if not whole and any(each.operation == "atomic" for each in found.accesses):
        return _unknown("it has atomics, and the interpreter affords only some of its work-groups")
    step = plan.steps[-1]
    before = {**problem.typed_arrays(), **{name: each.texels(each.data) for name, each in problem.images.items()}}
    arrays, where = {}, {}
    for argument, array in found.outputs.items():
        name = step.buffer_of(argument)
        if name not in before or array.nbytes != before[name].nbytes:
            continue
        arrays[name] = array
        changed = as_bytes({name: array})[name] != as_bytes({name: before[name]})[name]
        own = changed.reshape(*array.shape, array.itemsize).any(axis=-1)
        where[name] = np.ones(array.shape, bool) if whole else own
    words = "explain's interpreter" if whole else f"explain's interpreter on {len(found.groups)} of its work-groups"
    ndrange = step.config.ndrange(step.problem)
    guessed = "x".join(map(str, ndrange.local_size)) if ndrange.chosen_by_driver else ""
    return Expected(arrays, where, words, guessed_groups=guessed, filtered=filters(step.kernel, problem))


def filters(kernel: Kernel, problem: OwnProblem) -> bool:
    """Whether a linear sampler is given, or stands in the source."""
    return problem.filters or "CLK_FILTER_LINEAR" in without_comments(kernel.text)


def verify_own(execution: Execution, problem: OwnProblem, expected: Expected) -> Verdict:
    """Upload the buffers, run once, and compare. A write outside of a buffer, or into an input, is a wrong result, too."""
    before = as_bytes(problem.typed_arrays())
    execution.write(before)
    execution.launch()
    try:
        after = {**execution.contents(), **execution.texels()}
    except WrongResult as outside:
        return Verdict(False, 0, np.inf, None, 0.0, str(outside))
    spoiled = execution.spoiled_inputs(before)
    if spoiled:
        return Verdict(False, 0, np.inf, None, 0.0, f"it wrote into its input {' and '.join(spoiled)}")
    verdict = Verdict(True, 0, 0.0, None, 0.0, words=f"nothing checks its result: {expected.unchecked}")
    counts = []
    for name, array in expected.arrays.items():
        now = after[name].view(array.dtype).reshape(array.shape)
        image = problem.images.get(name)
        one = compared(
            name, now, array, expected.where[name], image is not None and image.normalised, expected.filtered
        )
        if not one.passed and expected.guessed_groups:
            words = f"it differs from {expected.source}, whose work-groups of {expected.guessed_groups} are not the driver's"
            return replace(verdict, words=f"nothing checks its result: {words}, as --local auto lets it choose")
        if not one.passed and expected.filtered:
            words = (
                f"{one.reason}; it differs from {expected.source}, but a device's linear filter may round its weights"
            )
            return replace(verdict, words=f"nothing checks its result: {words}")
        if not one.passed:
            return replace(one, reason=f"{one.reason}; compared with {expected.source}")
        counts.append(f"{one.elements:,} elements of {name}")
        verdict = max(verdict, one, key=lambda each: each.worst_ratio)
    if counts:
        elements = sum(int(each.sum()) for each in expected.where.values())
        return replace(verdict, elements=elements, words=f"checked against {expected.source}: {', '.join(counts)}")
    return verdict if expected.unchecked else replace(verdict, words="nothing checks its result: it writes no buffer")


def compared(
    name: str, now: np.ndarray, wanted: np.ndarray, where: np.ndarray, rounded: bool = False, filtered: bool = False
) -> Verdict:
    """One buffer's verdict: integers and records equal, floats within a part of the largest element, NaN where NaN is. Integers
    that were `rounded` from floats may differ by 1; the part is larger for floats of interpolated (`filtered`) texels."""
    if now.dtype.names or now.dtype.kind not in "fiub":
        sides = now.shape
        same = (as_bytes({"": now})[""] == as_bytes({"": wanted})[""]).reshape(*sides, now.itemsize).all(axis=-1)
        errors, bound = np.where(same, 0.0, np.inf), 1.0
    elif now.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            finite = np.abs(wanted[np.isfinite(wanted)], dtype=np.float64) if wanted.size else np.zeros(0)
            part = max(TOLERANCES[now.itemsize], FILTERED if filtered else 0.0)
            bound = part * float(finite.max(initial=0.0))
            errors = np.abs(now.astype(np.float64) - wanted)
            errors[(now == wanted) | (np.isnan(now) & np.isnan(wanted))] = 0.0
            errors[np.isnan(errors)] = np.inf
    elif rounded:
        errors, bound = np.abs(now.astype(np.float64) - wanted), 1.0
    else:
        errors, bound = np.where(now == wanted, 0.0, np.inf), 1.0
    ratios = np.where(where & (errors > 0), errors / bound if bound else np.inf, 0.0)
    count = int(where.sum())
    if not count:
        return Verdict(True, 0, 0.0, None, bound)
    index = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    element = Element(tuple(map(int, index)), now[index].item(), wanted[index].item())
    if ratios[index] <= 1.0:
        return Verdict(True, count, float(ratios[index]), element, bound)
    wrong = int(np.count_nonzero(ratios > 1.0))
    reason = f"{wrong:,} of {count:,} elements of {name}; the worst is {element}"
    return Verdict(False, count, float(ratios[index]), element, bound, reason)
