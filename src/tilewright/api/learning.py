"""The course as calls: `tour`, `exercise`, `grade`, `classroom`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from ..analysis.checks.sarif import github_annotation, sarif
from ..analysis.marked_lines import plain_text
from ..core.checked import checked_names, checked_path, checked_paths
from ..core.files import write_atomically
from ..core.kernel import Kernel, Ladder
from ..core.language import language
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..core.source import read_source
from ..errors import InvalidInput, UnknownName
from ..kernels import LADDERS, find_ladder
from ..learning.classroom import workflow
from ..learning.exercises.file import file_text, hints_of, title_and_task
from ..learning.exercises.grade import NO_EXERCISE, Finding, Grade, grade_file, task_goals
from ..learning.exercises.task import Task, all_tasks, find_task
from ..learning.lesson import HINTS
from ..learning.stops import Stop, rungs_of, stop_at
from ..learning.tour_text import WIDEST, answer_lines, before_guess, device_lines, guess_lines


class Tour(Shown):
    """A ladder rung by rung: the question, what changes, what is counted, the answer. `print` it to read it whole."""

    def __init__(self, ladder: Ladder, rungs: Sequence[Kernel]) -> None:
        self.ladder = ladder
        self.rungs = tuple(rungs)

    def stop(self, rung: Kernel) -> Stop:
        """What is said at a rung, in the chosen language."""
        return stop_at(rung, language())

    def __str__(self) -> str:
        return self.text(WIDEST)

    def text(self, width: int) -> str:
        """The whole tour in lines of at most `width` columns, code aside."""
        if not self.rungs:
            toured = ", ".join(each.name for each in LADDERS.values() if rungs_of(each))
            return (
                f"the ladder {self.ladder.name} has no lessons, so there is no tour of it; there are tours of {toured}"
            )
        parts = (before_guess, guess_lines, answer_lines, device_lines)
        stops = [self.stop(each) for each in self.rungs]
        return "\n\n".join(plain_text(line for part in parts for line in part(each, width)) for each in stops)

    def one_line(self) -> str:
        return f"{self.ladder.name}, {len(self.rungs)} rungs"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each rung: its name and the title of its lesson."""
        return [{"rung": each.name, "title": self.stop(each).lesson.title} for each in self.rungs]


def tour(ladder: str | Ladder = "tiles") -> Tour:
    """The tour of a ladder. At a terminal `tilewright tour` asks for guesses, measures, and goes on where it ended.

    UnknownName if no ladder has that name. The tour of a ladder without lessons has no rungs, and says so.
    """
    chosen = ladder if isinstance(ladder, Ladder) else find_ladder(ladder)
    return Tour(chosen, rungs_of(chosen))


class Exercise(Shown):
    """An exercise: `print` it to read the learner's file, `save` it to begin."""

    def __init__(self, task: Task) -> None:
        self.name = task.name
        self._task = task

    def __str__(self) -> str:
        return file_text(self._task, task_goals(self._task), language())

    def one_line(self) -> str:
        return f"{self.name}, {title_and_task(self._task, language())[0]}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each goal: measure and limit."""
        return [{"measure": each.measure, "limit": each.limit} for each in task_goals(self._task)]

    def hint(self, number: int) -> str:
        """The first, second or third hint; each is franker than the one before. InvalidInput for another number."""
        if not 1 <= number <= HINTS:
            raise InvalidInput(f"hint {number}: there are {HINTS} hints, 1 to {HINTS}")
        return hints_of(self._task, language())[number - 1]

    def solution(self, file: FilePath | None = None) -> str:
        """The difference from a learner's file, or from the exercise's own code, to the solution. InvalidInput for a file
        that cannot be read."""
        before = self._task.start if file is None else read_source(Path(file))
        names = str(file or "exercise"), "solution"
        lines = unified_diff(before.splitlines(), self._task.solution.splitlines(), *names, lineterm="")
        return "\n".join(lines) + "\n"

    def save(self, path: FilePath | None = None, overwrite: bool = False) -> Path:
        """Write the learner's file, by default LADDER_NUMBER.cl, and return its path. InvalidInput if it is there already."""
        place = Path(f"{self.name.replace('/', '_')}.cl" if path is None else path)
        if place.exists() and not overwrite:
            raise InvalidInput(f"{place} is there already, and may hold your work; name another file, or remove it")
        write_atomically(place, str(self).encode())
        return place


class Exercises(Shown):
    """All exercises. `print` them for the list."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        self.exercises = tuple(exercises)

    def __str__(self) -> str:
        return "\n".join(f"{each.name:14} {title_and_task(each._task, language())[0]}" for each in self.exercises)

    def one_line(self) -> str:
        return f"{len(self.exercises)} exercises"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each exercise: its name and its title."""
        return [{"name": each.name, "title": title_and_task(each._task, language())[0]} for each in self.exercises]


def exercise(name: str | None = None) -> Exercise | Exercises:
    """The exercise of a rung ("tiles/2") or a detective case ("cases/1"); all of them without a name.

    UnknownName for a rung without an exercise.

    >>> print(str(exercise("tiles/2")).splitlines()[0])
    // tilewright exercise: tiles/02
    """
    return Exercises([Exercise(find_task(each)) for each in all_tasks()]) if name is None else Exercise(find_task(name))


@dataclass(frozen=True, repr=False)
class Grades(Shown):
    """The grades of several files. `print` them to read what is right and what is missing."""

    grades: tuple[Grade, ...]

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.grades)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.grades))

    def one_line(self) -> str:
        return f"{sum(each.passed for each in self.grades)} of {len(self.grades)} files passed"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each file: file, exercise, passed, number of goals and of those reached."""
        return [
            {"file": each.file, "exercise": each.exercise, "passed": each.passed, "goals": len(each.goals),
             "reached": sum(goal.reached for goal in each.goals)}
            for each in self.grades
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the grades, each with its goals and findings."""
        return {"grades": [each.to_dict() for each in self.grades]}

    def to_sarif(self) -> dict[str, Any]:
        """A SARIF 2.1.0 log with a result for each finding."""
        return sarif([each.checked() for each in self.grades])

    def save_sarif(self, path: FilePath) -> None:
        """Write the SARIF log."""
        write_atomically(Path(path), f"{json.dumps(self.to_sarif(), indent=1)}\n".encode())

    def annotations(self) -> list[str]:
        """A line for each finding, which GitHub's workflows show beside the source."""
        return [github_annotation(each) for grade in self.grades for each in grade.checked().problems]


def grade(files: FilePath | Sequence[FilePath]) -> Grades:
    """Grade learners' files without a device: right at several sizes on random inputs, without faults, and by counts as cheap
    as the solution.

    Goals, sizes and launch are the exercise's own, whatever the file says. A file that is of no exercise is a finding among
    others; alone it is InvalidInput.
    """
    paths = checked_paths("files", files)
    return Grades(tuple(grade_file(each) if len(paths) == 1 else _grade_among_others(each) for each in paths))


def _grade_among_others(path: Path) -> Grade:
    """The grade of one of several files. One that is of no exercise is a finding, and the others keep their grades."""
    try:
        return grade_file(path)
    except (InvalidInput, UnknownName) as error:
        return Grade(str(path), NO_EXERCISE, (), (Finding("no-exercise", str(error)),), ())


def classroom(folder: FilePath = ".", exercises: Sequence[str] = ()) -> tuple[Path, ...]:
    """Write the workflow with which GitHub grades the pull requests of a course, and the files of `exercises` into the folder
    `exercises/`. The paths that were written are returned; files that are there already are kept.

    InvalidInput if `folder` is none; UnknownName for an exercise that there is not.
    """
    root = checked_path("folder", folder)
    if not root.is_dir():
        raise InvalidInput(f"there is no folder {root}")
    chosen = [Exercise(find_task(each)) for each in checked_names("exercises", exercises, "tiles/2")]
    files = {root / ".github" / "workflows" / "grade.yml": workflow()}
    files |= {root / "exercises" / f"{each.name.replace('/', '_')}.cl": str(each) for each in chosen}
    written = [path for path in files if not path.is_file()]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, files[path].encode())
    return tuple(written)
