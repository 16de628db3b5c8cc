"""Lessons: the prose of each rung, read from `lessons/LANGUAGE/LADDER/NUMBER.md`.

A lesson is a title and these sections, each under a heading of two #: Question (what this rung answers), Idea, Guess (what the
reader is asked to predict), Answer, Devices (what was measured, and where a device does the opposite), and, where there are any,
Source (what the published source says), Exercise (the task) and Hints (three, in a numbered list, each franker than the one
before). A detective case in `cases/` has Symptom, Hints and Answer. The headings are English in every language, because the
program reads them.

A Guess is a question, then either `measure:` and `options:`, whose right option is found by counting, or a list of choices,
of which the right one begins with `*` instead of `-`.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..core.kernel import Kernel
from ..core.language import ENGLISH
from ..errors import InvalidInput

LESSONS = Path(__file__).parent / "lessons"
SECTIONS = ("Question", "Idea", "Guess", "Answer", "Devices")
OPTIONAL = ("Source", "Exercise", "Hints")
CASE_SECTIONS = ("Symptom", "Hints", "Answer")
HINTS = 3
# Of a rung with variants, the one that the counts in its lesson are of.
COUNTED_VARIANTS = {
    "rows/00": "rows/00_sequential[r-k-c]",
    "transpose/07": "transpose/07_rows_per_item",
    "transpose/08": "transpose/08_vectors[4x4]",
}
_HEADING = re.compile(r"^(#{1,2}) +(.+?) *$", re.MULTILINE)
_FIELD = re.compile(r"^(measure|options): *(.+?) *$", re.MULTILINE)
_HINT = re.compile(r"^\d\. +", re.MULTILINE)
_INDENT = re.compile(r"^ {3}", re.MULTILINE)  # of the further lines of a hint
_CHOICE = re.compile(r"^([-*]) +(.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Guess:
    """What the reader predicts: a `measure` with several ratios to the rung before (or counts, if `is_ratio` is false), or
    `choices` in words, of which `right` is the place of the right one."""

    question: str
    measure: str = ""
    options: tuple[Fraction, ...] = ()
    is_ratio: bool = True
    choices: tuple[str, ...] = ()
    right: int = -1


@dataclass(frozen=True)
class Lesson:
    """The prose of one rung in one language, in Markdown. Placeholders such as {h200:tiles/02} are not filled in yet."""

    rung: str  # "tiles/02"
    language: str
    title: str
    question: str
    idea: str
    guess: Guess
    answer: str
    devices: str
    source: str = ""
    task: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """The prose of one detective case: what its owner sees, three hints, and what was wrong."""

    name: str  # "cases/02"
    title: str
    symptom: str
    hints: tuple[str, ...]
    answer: str


def lesson_place(kernel: Kernel | str) -> str:
    """A rung's ladder and number, "tiles/02", by which its lesson, its exercise and its figures are called."""
    name = kernel if isinstance(kernel, str) else kernel.name
    ladder, _, stem = name.partition("/")
    return f"{ladder}/{stem.split('_')[0].split('[')[0]}"


def lesson_file(place: str, language: str) -> Path:
    return LESSONS / language / f"{place}.md"


def find_lesson(kernel: Kernel | str, language: str = ENGLISH) -> Lesson | None:
    """The lesson of a rung in a language, else in English; None if there is none, as for published variants."""
    place = lesson_place(kernel)
    for each in dict.fromkeys((language, ENGLISH)):
        if lesson_file(place, each).is_file():
            return read_lesson(place, each)
    return None


def read_lesson(place: str, language: str) -> Lesson:
    """The lesson of a place such as "tiles/02". InvalidInput, with the file, for one that is not as described above."""
    file = lesson_file(place, language)
    title, sections = _sections(file, SECTIONS, OPTIONAL)
    return Lesson(
        place,
        language,
        title,
        sections["Question"],
        sections["Idea"],
        _guess(file, sections["Guess"]),
        sections["Answer"],
        sections["Devices"],
        sections.get("Source", ""),
        sections.get("Exercise", ""),
        _hints(file, sections["Hints"]) if "Exercise" in sections else (),
    )


def find_case(place: str, language: str = ENGLISH) -> Case:
    """A detective case, "cases/02", in a language, else in English. InvalidInput for a file that is not as described above."""
    language = language if lesson_file(place, language).is_file() else ENGLISH
    file = lesson_file(place, language)
    title, sections = _sections(file, CASE_SECTIONS)
    hints = _hints(file, sections["Hints"])
    return Case(place, title, sections["Symptom"], hints, sections["Answer"])


def _sections(file: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> tuple[str, dict[str, str]]:
    """The title of a file, and the text under each heading."""
    text = file.read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    ends = [each.start() for each in headings[1:]] + [len(text)]
    title, found = "", {}
    for heading, end in zip(headings, ends, strict=True):
        if heading[1] == "#":
            title = heading[2]
        elif heading[2] in found:
            raise InvalidInput(f"{file}: two sections {heading[2]}")
        else:
            found[heading[2]] = text[heading.end() : end].strip()
    missing = [name for name in required if not found.get(name)]
    if "Exercise" in optional and ("Exercise" in found) != ("Hints" in found):
        missing.append("Hints" if "Exercise" in found else "Exercise")
    strange = [name for name in found if name not in (*required, *optional)]
    if missing or strange or not title:
        faults = [
            "" if title else "it has no title under a single #",
            f"it lacks {', '.join(missing)}" if missing else "",
            f"it has {', '.join(strange)}, which is no section" if strange else "",
        ]
        more = f", and if you like {', '.join(optional)}" if optional else ""
        raise InvalidInput(
            f"{file}: {'; '.join(filter(None, faults))}: under a heading of two # each, write {', '.join(required)}{more}"
        )
    return title, found


def _hints(file: Path, text: str) -> tuple[str, ...]:
    hints = tuple(_INDENT.sub("", each.strip()) for each in _HINT.split(text) if each.strip())
    if len(hints) != HINTS:
        raise InvalidInput(f"{file}: {len(hints)} hints; write {HINTS}, as a numbered list")
    return hints


def _guess(file: Path, text: str) -> Guess:
    fields = dict(_FIELD.findall(text))
    question = text[: min([each.start() for each in (*_FIELD.finditer(text), *_CHOICE.finditer(text))] or [0])].strip()
    if fields.keys() == {"measure", "options"} and question:
        measure, _, form = fields["measure"].partition(" ")
        if form not in ("", "count"):
            raise InvalidInput(
                f"{file}: measure: {fields['measure']}: write a measure, and `count` after it or nothing"
            )
        try:
            options = tuple(map(Fraction, fields["options"].split()))
        except (ValueError, ZeroDivisionError):
            raise InvalidInput(f"{file}: options: {fields['options']}: write numbers such as 1/32 1/2 1") from None
        return Guess(question, measure, options, is_ratio=not form)
    choices = _CHOICE.findall(text)
    right = [place for place, (mark, _) in enumerate(choices) if mark == "*"]
    if not question or fields or len(choices) < 2 or len(right) != 1:
        raise InvalidInput(
            f"{file}: a guess is a question with measure: and options:, or with choices, one of them by *"
        )
    return Guess(question, choices=tuple(words for _, words in choices), right=right[0])
