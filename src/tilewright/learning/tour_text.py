"""The text of a tour's stop, in two halves: what the reader sees before the guess, and the answer."""

from collections.abc import Iterator
from unicodedata import category

from ..analysis.marked_lines import Mark, MarkedLine
from ..core.language import translated
from ..core.wide_text import is_wide, wrapped
from .stops import Stop

WIDEST = 100  # columns: longer lines are hard to read


def before_guess(stop: Stop, width: int) -> Iterator[MarkedLine]:
    """Question, idea, what is touched, and what changes in the code."""
    yield MarkedLine(f"{stop.kernel.name}  {stop.lesson.title}", Mark.HEADING)
    yield from _section(translated("Question"), stop.lesson.question, width)
    yield from _section(translated("Idea"), stop.lesson.idea, width)
    if stop.drawing:
        yield from _heading(translated("Which elements are touched"))
        yield from (MarkedLine(f"  {line}") for line in stop.drawing.splitlines())
    yield from _heading(translated("Code"))
    marks = {"+": Mark.LESS, "-": Mark.MORE}
    yield from (MarkedLine(f"  {line}", marks.get(line[:1], Mark.PLAIN)) for line in stop.diff.splitlines())


def guess_lines(stop: Stop, width: int) -> Iterator[MarkedLine]:
    """The question of the guess and its numbered options."""
    yield from _section(translated("What do you expect?"), stop.lesson.guess.question, width)
    yield from (MarkedLine(f"  {number}  {option}") for number, option in enumerate(stop.options, 1))


def answer_lines(stop: Stop, width: int) -> Iterator[MarkedLine]:
    """What is counted, and the answer."""
    yield from _heading(translated("Counts"))
    for sentence in stop.counts:
        yield from _wrapped(f"- {sentence}", width)
    if stop.right is not None:
        yield from _heading(translated("Answer: {option}", option=stop.options[stop.right]))
    else:
        yield from _heading(translated("Answer"))
    yield from _paragraphs(stop.answer, width)


def device_lines(stop: Stop, width: int) -> Iterator[MarkedLine]:
    """What was measured elsewhere, and what the source says."""
    yield from _section(translated("On devices"), stop.devices, width)
    if stop.source:
        yield from _section(translated("The source"), stop.source, width)


def _section(title: str, text: str, width: int) -> Iterator[MarkedLine]:
    yield from _heading(title)
    yield from _paragraphs(text, width)


def _heading(title: str) -> Iterator[MarkedLine]:
    yield MarkedLine("")
    yield MarkedLine(title, Mark.HEADING)


def _paragraphs(text: str, width: int) -> Iterator[MarkedLine]:
    """Paragraphs of Markdown, wrapped; the lines of lists, tables and code stay as they are."""
    for number, paragraph in enumerate(joined(text).split("\n\n")):
        if number:
            yield MarkedLine("")
        if is_block(paragraph):
            yield from (MarkedLine(f"  {line}") for line in paragraph.splitlines())
        else:
            yield from _wrapped(paragraph, width)


def is_block(paragraph: str) -> bool:
    """Whether a paragraph of Markdown is a list, a table or code, whose lines mean something."""
    return paragraph.lstrip().startswith(("- ", "* ", "|", "`" * 3, "1. "))


def joined(text: str) -> str:
    """A text with one line for each paragraph. Where lines are joined there is a blank, but none between Chinese characters."""
    return "\n\n".join(each if is_block(each) else _joined(each) for each in text.split("\n\n"))


def _joined(paragraph: str) -> str:
    text = ""
    for line in (each.strip() for each in paragraph.splitlines()):
        text += line if not text or _adjoin(text[-1], line[:1]) else f" {line}"
    return text


def _adjoin(last: str, first: str) -> bool:
    """Whether two characters stand side by side in one line: two wide ones, and wide punctuation beside anything."""
    wide = [each for each in (last, first) if is_wide(each)]
    return len(wide) == 2 or any(category(each).startswith("P") for each in wide)


def _wrapped(text: str, width: int) -> Iterator[MarkedLine]:
    """Lines of at most `width` columns, two further in."""
    room = max(20, min(width, WIDEST) - 2)
    yield from (MarkedLine(f"  {line}") for line in wrapped(text, room))
