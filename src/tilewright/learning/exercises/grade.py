"""Grades a learner's file: right at several sizes on random inputs, without faults, and by counts no worse than the solution.

Nothing that decides comes from the file: the exercise's goals, sizes, launch and macros are the package's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...analysis.checks.checked import CheckedKernel, Problem
from ...analysis.checks.measured import measures_of
from ...analysis.explain import Explanation
from ...analysis.explain.clc.lexer import Position
from ...core.files import write_named
from ...core.kernel import Kernel
from ...core.language import Sentence, translated
from ...core.problem import Problem as MatrixProblem
from ...core.shown import Shown
from ...errors import InvalidInput, SourceError, TilewrightError
from .file import task_of_file
from .goals import Goal, goals_of, measured
from .task import Task
from .trial import Checkpoint, Trial, go_on, problems_of, try_kernel

OVER_GOAL = "over-goal"
NO_EXERCISE = "no exercise"  # what a file is of that names none
_goals: dict[str, tuple[Goal, ...]] = {}  # by the names of exercises: counted once


@dataclass(frozen=True)
class Finding:
    """One reason why a file does not pass, with the line that it is about (1 if it is about the whole)."""

    rule: str  # "wrong-result", "fault", OVER_GOAL, "not-readable", "not-ended"
    message: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, repr=False)
class Grade(Shown):
    """How a learner's file was graded. It passed if there are no `findings`. `tried` are the problems that it was run on."""

    file: str
    exercise: str
    goals: tuple[Goal, ...]
    findings: tuple[Finding, ...]
    tried: tuple[str, ...]
    found: Explanation | None = None

    @property
    def passed(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        lines = [f"{self.file}: {self.exercise}", *self._result_lines(), *self._goal_lines()]
        if self.passed:
            lines.append(translated("passed: right, and as cheap as the solution"))
        elif self.exercise != NO_EXERCISE:
            lines.append(translated("not yet; a hint: tilewright exercise {name} --hint 1", name=self.exercise))
        return "\n".join(lines)

    def _result_lines(self) -> list[str]:
        others = [each for each in self.findings if each.rule != OVER_GOAL]
        if not others:
            return [f"  + {translated('right, without faults: {problems}', problems=', '.join(self.tried))}"]
        return [f"  - {translated('line {line}: {text}', line=each.line, text=each.message)}" for each in others]

    def _goal_lines(self) -> list[str]:
        counted = [(each, "?" if each.value is None else f"{each.value:,}") for each in self.goals]
        return [
            f"  {'+' if each.reached else '-'} {translated('{kind}: {text}', kind=each.sentence, text=value)}"
            for each, value in counted
        ]

    def one_line(self) -> str:
        return f"{self.exercise} {'passed' if self.passed else 'not yet'}, {len(self.findings)} findings"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each goal: measure, value, limit, whether it is reached."""
        return [
            {"measure": each.measure, "value": each.value, "limit": each.limit, "reached": each.reached}
            for each in self.goals
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: file, exercise, passed, goals, findings."""
        findings = [vars(each) for each in self.findings]
        return {
            "file": self.file, "exercise": self.exercise, "passed": self.passed, "goals": self.to_rows(), "findings": findings,
        }  # fmt: skip

    def checked(self) -> CheckedKernel:
        """The grade as `check` knows it, for SARIF and GitHub's annotations."""
        problems = tuple(Problem(each.rule, each.message, self.file, each.line, each.column) for each in self.findings)
        if self.found is None:
            return CheckedKernel(self.file, "", (), (), (), problems)
        found = self.found
        return CheckedKernel(self.file, found.entry, found.global_size, found.local_size, measures_of(found), problems)


def grade_file(path: Path, checkpoint: Checkpoint = go_on) -> Grade:
    """Grade a learner's file. InvalidInput for a file that is of no exercise. `checkpoint` is called again and again; what it
    raises ends the grading, and comes out of it."""
    task = task_of_file(path)
    kernel, goals = replace(task.kernel, source=path), task_goals(task, checkpoint)
    try:
        check_signature(kernel, task)
        trials = tried(kernel, task, checkpoint)
    except SourceError as error:
        return Grade(str(path), task.name, goals, (Finding("not-readable", str(error), error.line, error.column),), ())
    except TilewrightError as error:
        return Grade(str(path), task.name, goals, (Finding("not-readable", str(error)),), ())
    found = trials[0].found
    reached = measured(goals, found) if trials[0].passed else goals
    findings = [*_trial_findings(trials), *_goal_findings(reached, found, trials[0].passed)]
    return Grade(str(path), task.name, reached, tuple(findings), tuple(each.problem.title for each in trials), found)


def task_goals(task: Task, checkpoint: Checkpoint = go_on) -> tuple[Goal, ...]:
    """The goals of an exercise: what its solution costs."""
    if task.name not in _goals:
        _goals[task.name] = _counted_goals(task, checkpoint)
    return _goals[task.name]


def _counted_goals(task: Task, checkpoint: Checkpoint) -> tuple[Goal, ...]:
    with TemporaryDirectory(prefix="tilewright-") as folder:
        kernel = with_text(task.kernel, task.solution, Path(folder))
        problem: MatrixProblem = next(iter(problems_of(kernel, task.size)))
        trial = try_kernel(kernel, problem, checkpoint, inf)  # ended early, it would set goals that are too low
        assert trial.passed, f"{task.name}: the solution is wrong: {trial.wrong or trial.found.faults}"
        return goals_of(task.goals, trial.found)


def with_text(kernel: Kernel, text: str, folder: Path) -> Kernel:
    """The kernel with other code, in a file of the same name in `folder`."""
    file = folder / kernel.source.name
    write_named(file, text.encode())
    return replace(kernel, source=file)


def check_signature(kernel: Kernel, task: Task) -> None:
    """InvalidInput if the learner's kernel has other parameters than the exercise's: the launch binds them by name."""
    wanted = [(each.name, each.pointer) for each in task.kernel.signature.parameters]
    given = [(each.name, each.pointer) for each in kernel.signature.parameters]
    if wanted != given or kernel.signature.entry != task.kernel.signature.entry:
        names = ", ".join(name for name, _ in wanted)
        raise InvalidInput(f"the kernel must be {task.kernel.signature.entry}({names}), with the types that it had")


def tried(kernel: Kernel, task: Task, checkpoint: Checkpoint = go_on) -> list[Trial]:
    """The runs at the graded size and at random ones, up to the first that does not pass."""
    trials = []
    for problem in problems_of(kernel, task.size):
        trials.append(try_kernel(kernel, problem, checkpoint))
        if not trials[-1].passed:
            break
    return trials


def _trial_findings(trials: Sequence[Trial]) -> list[Finding]:
    last = trials[-1]
    if last.passed:
        return []
    title = last.problem.title
    if last.found.stop is not None:
        line = last.found.stop.position.line
        return [Finding("not-ended", Sentence("at {title} it did not end in time", title=title), line)]
    faults = [
        Finding("fault", Sentence("{kind}: {text}", kind=each.kind, text=each.text), *_place(each.position))
        for each in last.found.faults
    ]
    wrong = (
        [
            Finding(
                "wrong-result",
                Sentence("wrong at {title}: {reason}", title=title, reason=last.wrong),
                last.found.entry_position.line,
            )
        ]
        if last.wrong
        else []
    )
    return [*faults, *wrong]


def _place(position: Position) -> tuple[int, int]:
    return position.line, position.column


def _goal_findings(goals: Sequence[Goal], found: Explanation, counted: bool) -> list[Finding]:
    """A finding for each goal that a right kernel does not reach, at the line that costs most."""
    if not counted:
        return []
    return [
        Finding(OVER_GOAL, Sentence("{goal}: {count:,}", goal=goal.sentence, count=goal.value), _costliest(found, goal))
        for goal in goals
        if not goal.reached
    ]


def _costliest(found: Explanation, goal: Goal) -> int:
    """The line of the access that costs most of what a goal limits."""
    local = goal.measure.startswith("local") or "conflict" in goal.measure
    stores = "store" in goal.measure
    fitting = [
        each for each in found.accesses
        if each.is_local == local and (goal.measure.startswith("worst") or goal.measure == "conflicts"
                                       or (each.operation == "store") == stores)
    ]  # fmt: skip
    return max(fitting, key=lambda each: each.cost).position.line if fitting else found.entry_position.line
