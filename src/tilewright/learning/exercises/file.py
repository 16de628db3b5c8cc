"""The learner's file: a first line that names the exercise, the task and its goals in comments, then the code."""

import re
from pathlib import Path

from ...core.language import shown, translated
from ...core.source import read_source, without_comments
from ...core.wide_text import wrapped
from ...errors import InvalidInput
from ..lesson import find_case, find_lesson
from .goals import Goal
from .task import Task, find_task, macro_lines

MARK = "tilewright exercise:"
MOST_BYTES = 200_000  # of a learner's file: the solutions have 4,000
WIDTH = 100
_NAMED = re.compile(rf"^\s*//\s*{MARK}\s*(\S+)", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*(?:#|\?\?=|%:)[ \t]*include\b", re.MULTILINE)


def file_text(task: Task, goals: tuple[Goal, ...], language: str) -> str:
    """What `tilewright exercise` writes."""
    title, words = title_and_task(task, language)
    size = "x".join(map(str, task.size))
    lines = [f"{MARK} {task.name}", "", title, "", *_wrapped(words), ""]
    lines += [translated("Right at every size, without faults. At {size} also:", size=size)] if goals else []
    lines += [f"  {shown(goal.sentence)}" for goal in goals]
    lines += ["", "tilewright grade FILE", f"tilewright exercise {task.name} --hint 1"]
    head = "".join(f"// {line}".rstrip() + "\n" for line in lines)
    macros = macro_lines(task.kernel.text)
    return f"{head}{'//' + chr(10) + macros if macros else ''}\n{task.start}"


def title_and_task(task: Task, language: str) -> tuple[str, str]:
    """The title of an exercise and what is to be done. InvalidInput for one without words."""
    if task.is_case:
        case = find_case(task.name, language)
        return case.title, case.symptom
    lesson = find_lesson(task.name, language)
    if lesson is None or not lesson.task:
        raise InvalidInput(f"the lesson of {task.name} has no section Exercise")
    return lesson.title, lesson.task


def hints_of(task: Task, language: str) -> tuple[str, ...]:
    """The three hints of an exercise, each franker than the one before."""
    if task.is_case:
        return find_case(task.name, language).hints
    lesson = find_lesson(task.name, language)
    return lesson.hints if lesson is not None else ()


def _wrapped(text: str) -> list[str]:
    """The paragraphs of a text in lines."""
    return [line for part in text.split("\n\n") for line in (*wrapped(" ".join(part.split("\n")), WIDTH), "")][:-1]


def task_of_file(path: Path) -> Task:
    """The exercise that a learner's file is of. InvalidInput for a file that is missing, too long, or names none, and for one
    that includes others: it is graded alone."""
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}; `tilewright exercise tiles/02` writes one")
    if path.stat().st_size > MOST_BYTES:
        raise InvalidInput(f"{path} has {path.stat().st_size:,} bytes; an exercise has at most {MOST_BYTES:,}")
    text = read_source(path)
    named = _NAMED.search(text)
    if named is None:
        raise InvalidInput(
            f"{path} names no exercise: its first line must be `// {MARK} tiles/02`, with the exercise's name"
        )
    if _INCLUDE.search(without_comments(text.replace("\\\n", ""))):
        raise InvalidInput(f"{path} includes another file; an exercise is graded by itself")
    return find_task(named[1])
