"""The detective cases: one for each known-bad kernel, in every language, and its file does not give the answer away."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tilewright.core.language import ENGLISH, LANGUAGES
from tilewright.kernels.known_bad import KNOWN_BAD
from tilewright.learning.exercises.file import file_text
from tilewright.learning.exercises.grade import task_goals
from tilewright.learning.exercises.task import CASES, all_tasks, find_task
from tilewright.learning.lesson import Case, find_case, lesson_file

NAMES = [name for name in all_tasks() if name.startswith(CASES)]
CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def parts(case: Case) -> dict[str, str]:
    return {"title": case.title, "symptom": case.symptom, "hints": "\n".join(case.hints), "answer": case.answer}


def test_every_known_bad_kernel_has_its_case() -> None:
    assert [find_task(name).rung for name in NAMES] == list(KNOWN_BAD)


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != ENGLISH])
@pytest.mark.parametrize("name", NAMES)
def test_a_case_is_translated_with_its_numbers_and_code(name: str, language: str) -> None:
    assert lesson_file(name, language).is_file()
    english, other = parts(find_case(name, ENGLISH)), parts(find_case(name, language))
    for part, text in english.items():
        assert Counter(CODE.findall(text)) == Counter(CODE.findall(other[part])), part
        assert Counter(NUMBER.findall(CODE.sub("", text))) == Counter(NUMBER.findall(CODE.sub("", other[part]))), part


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_the_file_names_neither_the_kernel_nor_its_fault(name: str, language: str) -> None:
    task = find_task(name)
    text = file_text(task, task_goals(task), language)
    assert task.rung.lesson not in text
    assert Path(task.rung.source).stem not in text
    assert find_case(name, language).answer not in text
