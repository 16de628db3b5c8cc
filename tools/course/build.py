"""Writes the pages of docs/course: one for each rung in each language, its drawings, and the contents."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tilewright.analysis.matrix_drawings import matrix_drawings
from tilewright.core.kernel import Kernel, Ladder
from tilewright.core.language import use_language
from tilewright.errors import TilewrightError
from tilewright.kernels import LADDERS
from tilewright.learning.counted import Counted, counted
from tilewright.learning.lesson import lesson_file, lesson_place, read_lesson
from tilewright.learning.stops import rungs_of
from tools.pages.refresh import refresh

from .machine_code import read_machine_code
from .page import Neighbours, page_text
from .words import WORDS

COURSE = Path(__file__).parents[2] / "docs" / "course"
PICTURES = COURSE / "pictures"
ORDER = ("transpose", "tiles", "rows", "cpu", "tensor")  # that in which one learns: what is drawn best comes first


def rungs() -> list[Kernel]:
    """All rungs with a lesson, in reading order."""
    return [kernel for name in ORDER for kernel in rungs_of(LADDERS[name])]


def picture_name(kernel: Kernel, drawing: str) -> str:
    return f"{lesson_place(kernel).replace('/', '-')}-{drawing}.svg"


def draw(kernel: Kernel) -> list[tuple[str, str, str]]:
    """What is drawn for a rung: (caption, file name, SVG). Nothing for a rung that `explain` cannot run."""
    try:
        drawings = matrix_drawings(kernel)
    except TilewrightError as error:
        print(f"{kernel.name} is not drawn: {error}", file=sys.stderr)
        return []
    return [(each.caption, picture_name(kernel, each.name), each.svg) for each in drawings]


def pages_of(kernel: Kernel, counts: Counted) -> Iterator[tuple[Path, str]]:
    """The files of a rung: its drawings, and its page in each language."""
    everything, place = rungs(), lesson_place(kernel)
    at = [lesson_place(each) for each in everything].index(place)
    before = everything[at - 1] if at else None
    after = everything[at + 1] if at + 1 < len(everything) else None
    for language in WORDS:
        if lesson_file(place, language).is_file():
            use_language(language)
            drawn = draw(kernel)
            yield from ((PICTURES / name, svg) for _, name, svg in drawn)
            around = Neighbours(before, after, tuple((caption, name) for caption, name, _ in drawn))
            text = page_text(kernel, read_lesson(place, language), counts, read_machine_code().get(place), around)
            yield COURSE / language / f"{place}.md", text
    use_language("en")


def contents(language: str) -> str:
    """The list of all pages of a language, by ladder."""
    return "\n\n".join(_ladder_contents(LADDERS[name], language) for name in ORDER if rungs_of(LADDERS[name]))


def _ladder_contents(ladder: Ladder, language: str) -> str:
    places = [lesson_place(each) for each in rungs_of(ladder)]
    lessons = [read_lesson(place, language) for place in places if lesson_file(place, language).is_file()]
    lines = [f"- [{each.rung}: {each.title}]({each.rung}.md)" for each in lessons]
    return "\n".join([f"### `{ladder.name}`", "", *lines])


def write_course() -> None:
    """Write all pages anew, and the contents between their marks."""
    for kernel in rungs():
        for path, text in pages_of(kernel, counted(kernel)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for language in WORDS:
        refresh(COURSE / language / "README.md", {"contents": lambda words, folder: contents(folder.name)})
