"""The result of a check: for each kernel its measures, and the problems among them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from ...core.budgets import Budget
from ...core.numbers import figure
from ..captured.watched import FAULT_GROUPS
from ..explain import Explanation
from ..explain.clc.lexer import Position
from .measured import Measured, measures_of

FORMAT = "tilewright check 1"
COUNTED = ("faults", *FAULT_GROUPS)  # measures that count faults
SLACK = 1e-6  # measures are means of counts: what differs less is equal


@dataclass(frozen=True)
class Problem:
    """One thing that fails the check. `rule` names it, and stays the same between versions."""

    rule: str
    message: str
    file: str
    line: int
    column: int = 1


@dataclass(frozen=True)
class CheckedKernel:
    """One kernel of one file. `variant` tells it from another check of the same kernel with the same sizes, or is ""."""

    file: str
    entry: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    measures: tuple[Measured, ...]
    problems: tuple[Problem, ...]
    variant: str = ""

    @property
    def name(self) -> str:
        """What a baseline knows it by: file, kernel and NDRange, and the variant if there is one."""
        sizes = " by ".join("x".join(map(str, each)) for each in (self.global_size, self.local_size) if each)
        return " ".join(each for each in (f"{self.file}:{self.entry} {sizes}".rstrip(" :"), self.variant) if each)

    def values(self) -> dict[str, float]:
        return {each.name: each.value for each in self.measures}

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "kernel": self.entry,
            "global_size": list(self.global_size),
            "local_size": list(self.local_size),
            "measures": self.values(),
            "problems": [vars(each) for each in self.problems],
        }


def check_explained(
    file: str,
    found: Explanation,
    budgets: Sequence[Budget],
    before: Mapping[str, Mapping[str, float]],
    others: Collection[str] = (),
    variant: str = "",
) -> CheckedKernel:
    """One explained kernel against its budgets and against what it was `before`, which is a baseline's kernels. It has its
    `variant` in its name if that is one of the `others`' without."""
    measures = measures_of(found)
    kernel = CheckedKernel(file, found.entry, found.global_size, found.local_size, measures, ())
    if kernel.name in others:
        kernel = replace(kernel, variant=variant)
    problems = [
        *fault_problems(file, found, budgets),
        *(problem for each in budgets for problem in _exceeded(file, each, measures)),
        *_worse(file, measures, before.get(kernel.name, {})),
    ]
    return replace(kernel, problems=tuple(problems))


def failed(file: str, entry: str, message: str, line: int = 1, column: int = 1) -> CheckedKernel:
    """A kernel that could not be explained."""
    return CheckedKernel(file, entry, (), (), (), (Problem("not-explained", message, file, line, column),))


def place_in(file: str, position: Position) -> tuple[str, int, int]:
    """File, line and column of a position: the kernel's file as it was named, or the file that it includes."""
    name = file if PurePath(position.file).name == PurePath(file).name else position.file
    return name, position.line, position.column


def fault_problems(file: str, found: Explanation, budgets: Sequence[Budget]) -> list[Problem]:
    """Each fault of a kind that no budget allows some of; and a run that did not end."""
    problems = []
    if found.stop is not None:
        text = f"{found.entry} did not end within its steps: what was not run is unknown"
        problems.append(Problem("not-ended", text, *place_in(file, found.stop.position)))
    for each in found.faults:
        limits = [budget.limit for budget in budgets if _counts(budget.measure, each.kind)]
        if limits and all(limits):
            continue  # the budgets compare its count
        rule = each.kind.replace(" ", "-")
        problems.append(Problem(rule, f"{each.kind}: {each.text}", *place_in(file, each.position)))
    return problems


def _counts(measure: str, kind: str) -> bool:
    """Whether a measure counts faults of this kind."""
    return measure == "faults" or kind in FAULT_GROUPS.get(measure, ())


def _exceeded(file: str, budget: Budget, measures: Iterable[Measured]) -> list[Problem]:
    """The problem of a budget that is exceeded, or that names a buffer which the kernel does not access."""
    measure = next((each for each in measures if each.name == budget.name), None)
    if measure is None:
        text = f"the budget {budget.name} at {budget.file}:{budget.line}: the kernel accesses no such buffer"
        return [Problem("unknown-buffer", text, budget.file or file, budget.line)]
    if measure.value <= budget.limit + SLACK or (not budget.limit and measure.measure in COUNTED):
        return []  # faults of a budget of 0 are told one by one
    text = f"{budget.name} is {figure(measure.value)}, and {figure(budget.limit)} is allowed: {measure.text}"
    return [Problem(f"over-budget-{budget.measure}", text, *place_in(file, measure.position))]


def _worse(file: str, measures: Iterable[Measured], before: Mapping[str, float]) -> list[Problem]:
    """What became worse since the baseline."""
    return [
        Problem(
            f"worse-{each.measure}",
            f"{each.name} is {figure(each.value)}, and was {figure(before[each.name])} in the baseline: {each.text}",
            *place_in(file, each.position),
        )
        for each in measures
        if each.name in before and each.value > before[each.name] + SLACK
    ]  # fmt: skip
