"""What-if questions: the same kernel with other macros, other row lengths of local arrays, other local sizes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import TilewrightError, UnknownName
from .explanation import Explanation
from .totals import Totals, totals

Ask = Callable[..., Explanation]


@dataclass(frozen=True)
class Answer:
    """One variation: its settings, and what it costs; `reason` says why there is no count, or why the counts are those of
    another computation."""

    settings: tuple[tuple[str, str], ...]
    totals: Totals | None
    faults: int = 0
    reason: str = ""
    passes: str = "passes"  # through local memory, as the device's model calls them


def sweep(ask: Ask, variations: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Asks `ask(**variation)` for each variation; a variation that cannot be run is an answer with a reason.

    UnknownName is raised: a misspelt name is not a variation.

    A variation holds keyword arguments of `explain_source` (macros, pitches, local_size ...).
    """
    answers = []
    for variation in variations:
        settings = tuple(_settings(variation))
        try:
            explanation = ask(**variation)
        except UnknownName:
            raise
        except TilewrightError as error:
            answers.append(Answer(settings, None, reason=str(error)))
            continue
        reason = _overlap(ask, variation, explanation)
        found = None if reason else totals(explanation)
        answers.append(Answer(settings, found, len(explanation.faults), reason, explanation.model.local_passes))
    return answers


def _overlap(ask: Ask, variation: Mapping[str, Any], found: Explanation) -> str:
    """Why rows of the length asked for are too short: the first fault that the kernel has not as it is."""
    if not variation.get("pitches") or not found.faults:
        return ""
    without = ask(**{**variation, "pitches": {}})
    known = {(each.kind, each.position) for each in without.faults}
    fresh = [each for each in found.faults if (each.kind, each.position) not in known]
    if not fresh:
        return ""
    return f"rows this short overlap: {fresh[0].kind} at line {fresh[0].position.line}"


def _settings(variation: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in variation.items():
        if isinstance(value, Mapping):
            name = "pitch of " if key == "pitches" else ""
            yield from ((f"{name}{inner}", str(each)) for inner, each in value.items())
        elif isinstance(value, list | tuple):
            yield key.replace("_", " "), "x".join(map(str, value))
        else:
            yield key.replace("_", " "), str(value)


def pitch_variations(array: str, pitches: Iterable[int]) -> list[dict[str, Any]]:
    """The local array `array` with rows of so many elements."""
    return [{"pitches": {array: pitch}} for pitch in pitches]


_COLUMNS = (
    ("sectors in", "global_load_sectors"),
    ("sectors out", "global_store_sectors"),
    ("{passes} in", "local_store_wavefronts"),
    ("{passes} out", "local_load_wavefronts"),
    ("conflicts", "conflicts"),
)


def table(answers: Sequence[Answer]) -> list[str]:
    """The answers as an aligned table: sectors loaded and stored, passes of stores into and loads out of
    local memory, conflicts, faults."""
    names = list(dict.fromkeys(name for answer in answers for name, _ in answer.settings))
    passes = next((answer.passes for answer in answers if answer.totals is not None), "passes")
    rows = [[*names, *(title.format(passes=passes) for title, _ in _COLUMNS), "faults"]]
    for answer in answers:
        settings = dict(answer.settings)
        row = [settings.get(name, "") for name in names]
        if answer.totals is None:
            rows.append([*row, answer.reason])
            continue
        counts = [f"{getattr(answer.totals, name):,}" for _, name in _COLUMNS]
        rows.append([*row, *counts, str(answer.faults)])
    widths = [max(len(row[column]) for row in rows if len(row) == len(rows[0])) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)) for row in rows]
