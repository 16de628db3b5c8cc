"""Every exercise can be solved, and its start and known faults do not pass."""

from itertools import count
from pathlib import Path

import pytest

import tilewright
from tilewright.api.learning import Exercise
from tilewright.cli.main import main
from tilewright.core.language import ENGLISH, LANGUAGES, use_language
from tilewright.errors import InvalidInput, UnknownName
from tilewright.learning.exercises import grade as grading
from tilewright.learning.exercises import trial
from tilewright.learning.exercises.file import MARK, _wrapped, file_text, hints_of, task_of_file
from tilewright.learning.exercises.grade import grade_file, task_goals
from tilewright.learning.exercises.task import all_tasks, find_task

TASKS = all_tasks()


def written(folder: Path, name: str, code: str) -> Path:
    file = folder / "mine.cl"
    file.write_text(f"// {MARK} {name}\n{code}", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", TASKS)
def test_the_solution_passes(name: str, tmp_path: Path) -> None:
    grade = grade_file(written(tmp_path, name, find_task(name).solution))
    assert grade.passed, str(grade)
    assert all(goal.reached for goal in grade.goals)


@pytest.mark.parametrize("name", TASKS)
def test_the_start_does_not_pass(name: str, tmp_path: Path) -> None:
    task = find_task(name)
    file = tmp_path / "mine.cl"
    file.write_text(file_text(task, task_goals(task), ENGLISH), encoding="utf-8")
    grade = grade_file(file)
    assert not grade.passed
    assert not any(each.rule == "not-readable" for each in grade.findings), (
        "the learner begins with code that can be read"
    )


def test_a_grade_has_the_punctuation_of_its_language(tmp_path: Path) -> None:
    file = written(tmp_path, "tiles/02", find_task("tiles/02").solution)
    use_language("zh")
    results = [line for line in str(grade_file(file)).splitlines() if line.startswith("  ")]
    assert len(results) > 2
    assert all("\uff1a" in line and ": " not in line for line in results), results


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TASKS)
def test_the_file_has_the_task_and_three_hints(name: str, language: str, tmp_path: Path) -> None:
    task = find_task(name)
    text = file_text(task, task_goals(task), language)
    assert text.startswith(f"// {MARK} {name}\n")
    assert len(hints_of(task, language)) == 3
    file = tmp_path / "mine.cl"
    file.write_text(text, encoding="utf-8")
    assert task_of_file(file) == task


def test_a_task_is_wrapped_by_paragraphs() -> None:
    assert _wrapped("Fill the tiles,\nand multiply.\n\nSizes need not fit.") == [
        "Fill the tiles, and multiply.", "", "Sizes need not fit.",
    ]  # fmt: skip


def test_files_that_are_no_exercise_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        grade_file(tmp_path / "none.cl")
    plain = tmp_path / "plain.cl"
    plain.write_text("__kernel void gemm() {}")
    with pytest.raises(InvalidInput, match="names no exercise"):
        grade_file(plain)
    with pytest.raises(UnknownName):
        grade_file(written(tmp_path, "tiles/99", "__kernel void gemm() {}"))


class Cancelled(Exception):
    """What a checkpoint of these tests raises."""


def cancel() -> None:
    raise Cancelled


def test_a_grading_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the run of the solution, of which no half count is kept, and in that of the learner's kernel."""
    monkeypatch.setattr(grading, "_goals", {})
    file = written(tmp_path, "tiles/02", find_task("tiles/02").solution)
    with pytest.raises(Cancelled):
        grade_file(file, cancel)
    assert not grading._goals
    assert grade_file(file).passed
    with pytest.raises(Cancelled):
        grade_file(file, cancel)


def test_a_kernel_with_other_parameters_is_a_finding(tmp_path: Path) -> None:
    grade = grade_file(written(tmp_path, "tiles/02", "__kernel void gemm(__global float* A) { A[0] = 0; }"))
    assert not grade.passed
    assert "the kernel must be gemm(M, N, K, A, B, C)" in str(grade)


def test_exercises_of_no_ladder_are_called_exercises() -> None:
    with pytest.raises(UnknownName, match="no exercise is called 'foo/2'"):
        find_task("foo/2")


def test_files_beside_a_solution_are_refused_by_a_sentence(tmp_path: Path) -> None:
    exercise = tilewright.exercise("tiles/2")
    assert isinstance(exercise, Exercise)
    with pytest.raises(InvalidInput, match=r"none\.cl cannot be read"):
        exercise.solution(tmp_path / "none.cl")
    binary = tmp_path / "binary.cl"
    binary.write_bytes(b"\xd0\0\1")
    with pytest.raises(InvalidInput, match=r"binary\.cl is not text"):
        exercise.solution(binary)


@pytest.mark.parametrize("options", [("--hint", "1", "--solution"), ("--hint", "1", "-o", "mine.cl")])
def test_one_thing_is_asked_of_an_exercise(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exercise", "tiles/2", *options]) == 2
    assert "each asks for something else" in capsys.readouterr().err


def test_goals_do_not_depend_on_how_fast_the_machine_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solution that was ended early would set goals that nobody reaches."""
    goals = task_goals(find_task("tiles/02"))
    monkeypatch.setattr(grading, "_goals", {})
    monkeypatch.setattr(trial, "monotonic", count(0, 100).__next__)
    assert task_goals(find_task("tiles/02")) == goals


def test_one_file_that_is_no_exercise_does_not_cost_the_others_their_grades(tmp_path: Path) -> None:
    solved = written(tmp_path, "tiles/02", find_task("tiles/02").solution)
    stray = tmp_path / "stray.cl"
    stray.write_text("__kernel void other() {}")
    grades = tilewright.grade([solved, stray, tmp_path / "none.cl"])
    assert [each.passed for each in grades.grades] == [True, False, False]
    assert "names no exercise" in str(grades)
    assert "--hint" not in str(grades)
    assert len(grades.annotations()) == 2
