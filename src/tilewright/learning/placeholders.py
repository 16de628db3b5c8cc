"""Numbers in the course's prose are placeholders, filled in from counts and records, so that prose and numbers cannot differ.

{h200:tiles/02}               the measured rate of a rung or a baseline: "6.74 TFLOP/s"
{h200:tiles/02 over tiles/01} how many times faster than another: "2.46"
{now:sectors_loaded}          a count of this rung, {was:sectors_loaded} of the rung before
{ratio:sectors_loaded}        how many times the one is the other, above 1: "20"
"""

import re
from dataclasses import replace

from ..core.numbers import figure
from ..errors import InvalidInput
from .counted import Counted
from .figures import rate_words, ratio_words
from .lesson import Lesson

_PLACEHOLDER = re.compile(r"\{([\w-]+):([^{}]+?)(?: over ([^{}]+?))?\}")


def filled(text: str, counts: Counted) -> str:
    """A text of a lesson with its placeholders filled in. InvalidInput for a count that there is none of; UnknownName for a
    measure, a device or a rung that nobody knows."""
    return _PLACEHOLDER.sub(lambda found: _value(found[1], found[2], found[3], counts), text)


def filled_lesson(lesson: Lesson, counts: Counted) -> Lesson:
    """A lesson with the placeholders of all its prose filled in."""
    guess = replace(lesson.guess, question=filled(lesson.guess.question, counts))
    return replace(
        lesson,
        guess=guess,
        question=filled(lesson.question, counts),
        idea=filled(lesson.idea, counts),
        answer=filled(lesson.answer, counts),
        devices=filled(lesson.devices, counts),
        source=filled(lesson.source, counts),
    )


def _value(kind: str, name: str, other: str | None, counts: Counted) -> str:
    if kind not in ("now", "was", "ratio"):
        return rate_words(kind, name) if other is None else ratio_words(kind, name, other)
    now, was = counts.measure(name), counts.measure_before(name)
    value = {"now": now, "was": was, "ratio": _ratio(now, was)}[kind]
    if value is None:
        raise InvalidInput(
            f"{{{kind}:{name}}}: there is no such count: {counts.reason or 'no rung is before this one'}"
        )
    return figure(value) if isinstance(value, float) else f"{value:,}"


def _ratio(now: int | None, was: int | None) -> float | None:
    return max(now, was) / min(now, was) if now and was else None
