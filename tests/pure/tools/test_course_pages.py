"""The pages of the course are what their maker writes now: nobody edits them by hand, and nothing in them is out of date."""

import re

import pytest

from tilewright.kernels import LADDERS
from tilewright.learning.counted import counted
from tilewright.learning.figures import FIGURES
from tilewright.learning.lesson import lesson_place
from tools.course.build import COURSE, ORDER, PICTURES, contents, pages_of, rungs
from tools.course.figures import figures_text
from tools.course.words import WORDS

PLACEHOLDER = re.compile(r"\{(?:now|was|ratio|h200|cpu-\w+):")
RUNGS = {lesson_place(kernel): kernel for kernel in rungs()}


@pytest.mark.parametrize("place", RUNGS)
def test_a_page_is_up_to_date(place: str) -> None:
    for path, text in pages_of(RUNGS[place], counted(RUNGS[place])):
        assert path.read_text(encoding="utf-8") == text, f"python -m tools.course pages writes {path.name} anew"
        assert not PLACEHOLDER.search(text), "every number is filled in"


@pytest.mark.parametrize("language", WORDS)
def test_the_contents_name_every_page(language: str) -> None:
    assert contents(language) in (COURSE / language / "README.md").read_text(encoding="utf-8")


def test_figures_are_those_of_the_records() -> None:
    assert FIGURES.read_text(encoding="utf-8") == figures_text(), "python -m tools.course figures writes them anew"


def test_every_ladder_is_in_the_course() -> None:
    assert sorted(ORDER) == sorted(LADDERS)


def test_every_picture_is_shown() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in COURSE.rglob("*.md"))
    assert [each.name for each in PICTURES.iterdir() if each.name not in shown] == []


def test_all_languages_have_the_same_headings() -> None:
    first, *others = WORDS.values()
    assert all(each.keys() == first.keys() for each in others)


def test_a_page_is_of_a_rung() -> None:
    for page in COURSE.glob("*/*/*.md"):
        assert f"{page.parent.name}/{page.stem}" in RUNGS
