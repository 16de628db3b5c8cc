"""Runs a kernel of an exercise in the interpreter, all work-groups, on inputs that nobody could know before."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np

from ...analysis.causes import likely_cause
from ...analysis.explain import Explanation
from ...analysis.explain.plans import explain_kernel
from ...analysis.explanations import ANY_DEVICE, rules_for
from ...analysis.interpreted import output_in, scaled
from ...core.kernel import Kernel
from ...core.plan import Plan
from ...core.problem import Problem, random_arrays
from ...core.problems import make_problem
from ...runtime.verify import Reference

TIME_LIMIT_S = 5.0  # of one run: the solutions take a fraction of a second
RANDOM_SIZES = 2  # besides the graded size
TRIES = 200
Checkpoint = Callable[[], None]  # called again and again while a kernel runs; it raises to cancel


@dataclass(frozen=True)
class Trial:
    """One run of a kernel: `wrong` says what is wrong with the result, or is ""."""

    problem: Problem
    found: Explanation
    wrong: str

    @property
    def passed(self) -> bool:
        return not self.wrong and not self.found.faults and self.found.stop is None


def go_on() -> None:
    """The checkpoint of a grading that nobody cancels."""


def try_kernel(
    kernel: Kernel, problem: Problem, checkpoint: Checkpoint = go_on, time_limit_s: float | None = None
) -> Trial:
    """Explain all work-groups on random inputs, and compare the result with the exact one. What `checkpoint` raises ends it,
    and so do `time_limit_s`, TIME_LIMIT_S if left out."""
    checkpoint()  # here, too: short kernels end before they are watched
    arrays = fresh_arrays(problem)
    end = monotonic() + (TIME_LIMIT_S if time_limit_s is None else time_limit_s)

    def watch(steps: int, groups: int) -> bool:
        checkpoint()
        return monotonic() > end

    explained = explain_kernel(
        kernel,
        problem,
        model=rules_for(kernel, problem, None),
        groups="all",
        arrays=arrays,
        partial=True,
        watch=watch,
    )
    return Trial(problem, explained[-1], _judged(kernel, problem, arrays, explained))


def fresh_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """Inputs by a seed from the operating system: a file cannot hold their results."""
    return scaled(random_arrays(problem, secrets.randbits(64)))


def _judged(
    kernel: Kernel, problem: Problem, arrays: Mapping[str, np.ndarray], explained: tuple[Explanation, ...]
) -> str:
    """What is wrong with the result, with its likely cause; "" for a right one."""
    plan = Plan(problem, kernel.steps(kernel, kernel.config, problem))
    output = output_in(plan, explained)
    if output is None:
        return "nothing was written to the output"
    verdict = Reference(problem, arrays).judge(output)
    if verdict.passed:
        return ""
    cause = likely_cause(problem, arrays, output)
    return f"{verdict.reason or verdict}{f'; likely cause: {cause}' if cause else ''}"


def problems_of(kernel: Kernel, size: tuple[int, ...]) -> Iterator[Problem]:
    """The graded problem, and smaller ones of random sizes that the kernel takes."""
    graded = make_problem(kernel, size, kernel.usual_dtype)
    yield graded
    generator = np.random.default_rng(secrets.randbits(64))
    found = 0
    for _ in range(TRIES):
        sides = tuple(int(generator.integers(1, side + 1)) for side in size)
        problem = make_problem(kernel, sides, kernel.usual_dtype)
        if found < RANDOM_SIZES and not list(kernel.config.violations(problem, ANY_DEVICE)):
            found += 1
            yield problem
