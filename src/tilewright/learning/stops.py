"""The stops of a tour: for each rung of a ladder what is asked, changed, counted and answered, ready to be printed."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from fractions import Fraction

from ..analysis.explain.verdict import findings_and_costs
from ..analysis.explanations import compare_explanations
from ..analysis.matrix_drawings import matrix_drawings
from ..core.kernel import Kernel, Ladder
from ..core.language import translated, translated_count
from ..core.numbers import figure
from ..errors import TilewrightError
from ..kernels import rung_before
from .counted import Counted, counted, right_option
from .exercises.task import without_first_comment
from .lesson import COUNTED_VARIANTS, Guess, Lesson, find_lesson, lesson_place
from .placeholders import filled_lesson

CONTEXT = 2  # lines around a change


@dataclass(frozen=True)
class Stop:
    """One rung of a tour. `diff` is the difference of its code from the rung before, or its code for a first rung. `right`
    is the place of the right option, None if nothing could be counted. `counts` are sentences of `explain`."""

    kernel: Kernel
    lesson: Lesson
    diff: str
    options: tuple[str, ...]
    right: int | None
    counts: tuple[str, ...]
    answer: str
    devices: str
    source: str
    drawing: str  # which elements are touched, for terminals; "" where nothing could be drawn

    @property
    def place(self) -> str:
        return self.lesson.rung


def rungs_of(ladder: Ladder) -> list[Kernel]:
    """The rungs of a ladder that have a lesson, one for each number."""
    found: dict[str, Kernel] = {}
    for kernel in ladder.kernels:
        place = lesson_place(kernel)
        if find_lesson(kernel) is not None and COUNTED_VARIANTS.get(place, kernel.name) == kernel.name:
            found.setdefault(place, kernel)
    return list(found.values())


def stop_at(kernel: Kernel, language: str) -> Stop:
    """The stop at a rung that has a lesson."""
    written = find_lesson(kernel, language)
    assert written is not None, kernel.name
    counts = counted(kernel)
    lesson = filled_lesson(written, counts)
    return Stop(
        kernel,
        lesson,
        code_diff(kernel),
        option_words(lesson.guess),
        right_option(lesson.guess, counts),
        tuple(_sentences(counts)),
        lesson.answer,
        lesson.devices,
        lesson.source,
        drawing_text(kernel),
    )


def drawing_text(kernel: Kernel) -> str:
    """The drawing of what one work-group touches, in characters; "" for a rung that `explain` cannot run."""
    try:
        drawings = matrix_drawings(kernel)
    except TilewrightError:
        return ""
    return drawings[0].text if drawings else ""


def code_diff(kernel: Kernel) -> str:
    """What a rung changes in the code of the rung before, without the comments at their tops; the code of a first rung."""
    previous = rung_before(kernel)
    code = without_first_comment(kernel.text)
    if previous is None:
        return code
    before = without_first_comment(previous.text)
    names = previous.source.name, kernel.source.name
    lines = unified_diff(before.splitlines(), code.splitlines(), *names, lineterm="", n=CONTEXT)
    return "\n".join(lines) + "\n"


def option_words(guess: Guess) -> tuple[str, ...]:
    """The options of a guess in words."""
    if guess.choices:
        return guess.choices
    return tuple(_ratio_words(each) if guess.is_ratio else f"{int(each):,}" for each in guess.options)


def _ratio_words(ratio: Fraction) -> str:
    if ratio == 0:
        return translated("none")
    if ratio == 1:
        return translated("as many")
    times = figure(float(max(ratio, 1 / ratio)))
    if ratio < 1:
        return translated_count("{ratio} time fewer", "{ratio} times fewer", times, ratio=times)
    return translated_count("{ratio} time more", "{ratio} times more", times, ratio=times)


def _sentences(counts: Counted) -> Iterator[str]:
    """What `explain` finds, and what changed against the rung before; without counts, why there are none."""
    if counts.found is None:
        yield counts.reason
        return
    yield from (each.text for each in findings_and_costs(counts.found))
    if counts.before is not None:
        yield from (line.strip() for line in compare_explanations(counts.before, counts.found))
