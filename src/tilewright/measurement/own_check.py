"""Checks a run of a kernel whose arguments are its own: against given results, or against the values of the interpreter."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from ..analysis.explain import Explanation, Finding, explain_steps
from ..core.defaults import EXPLAIN_STEPS
from ..core.kernel import Kernel
from ..core.language import Sentence
from ..core.own_problem import OwnProblem, as_bytes
from ..core.plan import Plan
from ..core.problem import Problem
from ..core.source import without_comments
from ..errors import TilewrightError, WrongResult
from ..runtime.run import Execution
from ..runtime.verify import Element, Verdict

TIME_LIMIT_S = 5.0  # of the interpreter: a user waits for it
# What compilers may change by contracting multiply-adds and by their own exp, sin ...: a part of the largest element.
TOLERANCES = {2: 4e-3, 4: 2e-5, 8: 1e-12}
# Weights of 8 bits after the point, in up to three directions: what linear filters of GPUs may change.
FILTERED = 3 / 256
# 8192 units in the last place: what OpenCL allows half_exp and its like. native_exp may do as it likes, and is about as exact.
APPROXIMATE = 2**-10
_APPROXIMATE = re.compile(
    r"\b(?:native|half)_(?:cos|divide|exp|exp2|exp10|log|log2|log10|powr|recip|rsqrt|sin|sqrt|tan)\b"
)


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
    approximate: tuple[str, ...] = ()  # the functions that are called and that devices compute as exactly as they like


def expected_of(plan: Plan, problem: OwnProblem) -> Expected:
    """The values that the user gave, or those that the interpreter finds within `TIME_LIMIT_S`."""
    if problem.expected:
        whole = {name: np.ones(array.shape, bool) for name, array in problem.expected.items()}
        step = plan.steps[-1]
        approximate = approximate_functions(step.kernel, step.problem)
        return Expected(problem.expected, whole, Sentence("the given results"), approximate=approximate)
    end = monotonic() + TIME_LIMIT_S
    try:
        found = explain_steps(
            plan.steps, problem, step_limit=EXPLAIN_STEPS, partial=True, watch=lambda steps, groups: monotonic() > end
        )
    except (TilewrightError, MemoryError, RecursionError) as reason:
        return _unknown(Sentence("explain cannot run it: {reason}", reason=str(reason)))
    return _interpreted(plan, problem, found[-1]) if found else _unknown(Sentence("nothing is launched"))


def _unknown(reason: str) -> Expected:
    """What buffers must hold if nobody knows it."""
    return Expected({}, {}, "", reason)


def _faulty(faults: Sequence[Finding]) -> Sentence:
    first = faults[0]
    words = Sentence(
        "explain finds in it: {kind} at line {line}: {text}",
        kind=first.kind, line=first.position.line, text=first.text,
    )  # fmt: skip
    if len(faults) == 1:
        return words
    return Sentence("{found} and {count} more faults", found=words, count=len(faults) - 1)


def _interpreted(plan: Plan, problem: OwnProblem, found: Explanation) -> Expected:
    """The outputs of the groups that the interpreter ran. If it did not run all, elements that stay as they were are unknown."""
    if found.stop is not None:
        return _unknown(
            Sentence(
                "the interpreter came only to line {line} in {limit:g} s",
                line=found.stop.position.line, limit=TIME_LIMIT_S,
            )
        )  # fmt: skip
    if found.faults:
        return _unknown(_faulty(found.faults))
    whole = len(found.groups) == found.group_count
    if not whole and any(each.operation == "atomic" for each in found.accesses):
        return _unknown(Sentence("it has atomics, and the interpreter affords only some of its work-groups"))
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
    words = Sentence("explain's interpreter")
    if not whole:
        words = Sentence("explain's interpreter on {count} of its work-groups", count=len(found.groups))
    ndrange = step.config.ndrange(step.problem)
    guessed = "x".join(map(str, ndrange.local_size)) if ndrange.chosen_by_driver else ""
    approximate = approximate_functions(step.kernel, step.problem)
    return Expected(arrays, where, words, "", guessed, filters(step.kernel, problem), approximate)


def filters(kernel: Kernel, problem: OwnProblem) -> bool:
    """Whether a linear sampler is given, or stands in the source."""
    return problem.filters or "CLK_FILTER_LINEAR" in without_comments(kernel.text)


def approximate_functions(kernel: Kernel, problem: Problem) -> tuple[str, ...]:
    """The functions in the source and in macros of -D whose last digits are the device's own, such as native_exp."""
    macros = " ".join(map(str, kernel.config.macros(problem).values()))
    return tuple(dict.fromkeys(_APPROXIMATE.findall(f"{without_comments(kernel.text)} {macros}")))


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
    verdict, counted = unchecked(expected.unchecked), None
    for name, array in expected.arrays.items():
        now = after[name].view(array.dtype).reshape(array.shape)
        image = problem.images.get(name)
        least = max(FILTERED if expected.filtered else 0.0, APPROXIMATE if expected.approximate else 0.0)
        one = compared(name, now, array, expected.where[name], image is not None and image.normalised, least)
        if not one.passed and expected.guessed_groups:
            return unchecked(by_other_groups(expected))
        if not one.passed and expected.filtered:
            return unchecked(by_other_weights(expected, one.reason))
        if not one.passed:
            return replace(one, reason=f"{one.reason}; compared with {expected.source}{inexact(expected)}")
        counted = with_count(counted, one.elements, name)
        verdict = max(verdict, one, key=lambda each: each.worst_ratio)
    if counted is not None:
        elements = sum(int(each.sum()) for each in expected.where.values())
        words = Sentence("checked against {source}: {counted}", source=expected.source, counted=counted)
        return replace(verdict, elements=elements, words=words)
    return verdict if expected.unchecked else unchecked(Sentence("it writes no buffer"))


def unchecked(reason: str) -> Verdict:
    """The verdict on a result that nothing checks."""
    words = Sentence("nothing checks its result: {reason}", reason=reason)
    return Verdict(True, 0, 0.0, None, 0.0, words=words)


def by_other_groups(expected: Expected) -> Sentence:
    """Why a difference says nothing where the driver chooses the work-groups."""
    return Sentence(
        "it differs from {source}, whose work-groups of {groups} are not the driver's, as --local auto lets it choose",
        source=expected.source, groups=expected.guessed_groups,
    )  # fmt: skip


def by_other_weights(expected: Expected, difference: str) -> Sentence:
    """Why a difference says nothing where texels are interpolated."""
    return Sentence(
        "{difference}; it differs from {source}, but a device's linear filter may round its weights",
        difference=difference, source=expected.source,
    )  # fmt: skip


def inexact(expected: Expected) -> str:
    """What besides a fault may make a difference; "" if nothing does."""
    names = " and ".join(expected.approximate)
    return f", and {names} may be as inexact as the device likes" if names else ""


def with_count(before: Sentence | None, count: int, name: str) -> Sentence:
    """The counts of compared elements, with one buffer more."""
    if before is None:
        return Sentence("{count:,} elements of {name}", count=count, name=name)
    return Sentence("{before}, {count:,} elements of {name}", before=before, count=count, name=name)


def compared(
    name: str, now: np.ndarray, wanted: np.ndarray, where: np.ndarray, rounded: bool = False, least_part: float = 0.0
) -> Verdict:
    """One buffer's verdict: integers and records equal, floats within a part of the largest element, NaN where NaN is. Integers
    that were `rounded` from floats may differ by 1. The part is `least_part` or more."""
    if now.dtype.names or now.dtype.kind not in "fiub":
        sides = now.shape
        same = (as_bytes({"": now})[""] == as_bytes({"": wanted})[""]).reshape(*sides, now.itemsize).all(axis=-1)
        errors, bound = np.where(same, 0.0, np.inf), 1.0
    elif now.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            finite = np.abs(wanted[np.isfinite(wanted)], dtype=np.float64) if wanted.size else np.zeros(0)
            part = max(TOLERANCES[now.itemsize], least_part)
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
