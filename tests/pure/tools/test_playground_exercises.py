"""The exercises of the playground: as files of one's own they count what the grader counts."""

import json
from pathlib import Path

import pytest

from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.kernel_page.live import Asked, explained
from tilewright.core.problems import make_problem
from tilewright.learning.exercises.file import MARK, task_of_file
from tilewright.learning.exercises.goals import measured
from tilewright.learning.exercises.grade import task_goals, with_text
from tilewright.learning.exercises.task import Task, all_tasks
from tilewright.learning.exercises.trial import try_kernel
from tools.playground.exercises import entries, entry, offered_tasks, source

TASKS = offered_tasks()
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda each: each.name)


def with_solution(task: Task) -> str:
    text = source(task)
    assert text.endswith(task.start)
    return text.removesuffix(task.start) + task.solution


def on_the_page(folder: Path, task: Task, text: str) -> Explanation:
    file = folder / "kernel.cl"
    file.write_text(text, encoding="utf-8")
    return explained(Asked(file, size=str(entry(task)["size"])))


def graded(folder: Path, task: Task, code: str) -> Explanation:
    kernel = with_text(task.kernel, code, folder)
    return try_kernel(kernel, make_problem(kernel, task.size, kernel.usual_dtype)).found


@each_task
@pytest.mark.parametrize("solved", [False, True], ids=["start", "solution"])
def test_the_page_counts_what_the_grader_counts(task: Task, solved: bool, tmp_path: Path) -> None:
    page = on_the_page(tmp_path, task, with_solution(task) if solved else source(task))
    found = graded(tmp_path, task, task.solution if solved else task.start)
    assert (page.global_size, page.local_size) == (found.global_size, found.local_size)
    assert totals(page) == totals(found)
    assert len(page.groups) == page.group_count
    assert [each.cost for each in page.accesses] == [each.cost for each in found.accesses]
    assert [each.kind for each in page.faults] == [each.kind for each in found.faults]
    assert measured(task_goals(task), page) == measured(task_goals(task), found)


@each_task
def test_the_launch_is_right_at_other_sizes_too(task: Task, tmp_path: Path) -> None:
    """Sizes that are whole vectors, and no whole tiles."""
    file = tmp_path / "kernel.cl"
    file.write_text(with_solution(task), encoding="utf-8")
    sides = tuple(side + 24 for side in task.size)
    page = explained(Asked(file, size="x".join(map(str, sides))))
    problem = make_problem(task.kernel, sides, task.kernel.usual_dtype)
    launch = task.kernel.config.ndrange(problem)
    wanted = launch.global_size + (1,) * (len(page.global_size) - len(launch.global_size))
    assert page.global_size == wanted


@each_task
def test_an_entry_is_the_learners_file_with_three_hints(task: Task, tmp_path: Path) -> None:
    found = entry(task)
    text = str(found["source"])
    assert text.startswith(f"// {MARK} {task.name}\n// tilewright: --problem {task.kernel.operation} ")
    assert text.endswith(task.start)
    assert len(found["hints"]) == 3  # type: ignore[arg-type]
    assert not any(task.solution in str(each) for each in found.values())
    json.dumps(found)
    file = tmp_path / "kernel.cl"
    file.write_text(text, encoding="utf-8")
    assert task_of_file(file) == task


def test_all_exercises_of_one_launch_are_offered() -> None:
    names = [each["name"] for each in entries()]
    assert names == [each.name for each in TASKS]
    left_out = set(all_tasks()) - {each.name for each in TASKS}
    assert left_out == {f"tiles/{number:02}" for number in range(5, 11)} | {"cases/05"}
