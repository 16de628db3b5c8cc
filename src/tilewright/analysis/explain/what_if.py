"""What-if questions: the cost of the same kernel with other macros, row pitches or local sizes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import TilewrightError, UnknownName
from .explanation import Explanation
from .profile import LineAccess
from .totals import Totals, totals

Ask = Callable[..., Explanation]


@dataclass(frozen=True)
class Answer:
    """One variation: its settings and its cost. `reason` says why it has no count. `accesses` are those of the work-groups
    that were run, of which there are `factor` times as many in all."""

    settings: tuple[tuple[str, str], ...]
    totals: Totals | None
    faults: int = 0
    reason: str = ""
    passes: str = "passes"  # through local memory, as the device's model calls them
    constants: str = "addresses"  # of constant memory, as the model counts them
    accesses: tuple[LineAccess, ...] = ()
    factor: float = 1.0


def sweep(ask: Ask, variations: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Ask `ask(**variation)` for each variation. A variation that cannot be run is an answer with a reason.

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
        if explanation.stop is not None:
            reason = f"did not end within {explanation.stop.steps:,} steps, at line {explanation.stop.position.line}"
            answers.append(Answer(settings, None, len(explanation.faults), reason))
            continue
        reason = _overlap(ask, variation, explanation)
        found = None if reason else totals(explanation)
        factor = explanation.group_count / len(explanation.groups)
        model, accesses = explanation.model, (*explanation.accesses, *explanation.private_accesses)
        faults = len(explanation.faults)
        answers.append(
            Answer(settings, found, faults, reason, model.local_passes, model.constant_pieces, accesses, factor)
        )
    return answers


def _overlap(ask: Ask, variation: Mapping[str, Any], found: Explanation) -> str:
    """Why the row length is too short: the first fault that the unchanged kernel does not have."""
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
    """Variations of the local array `array`, one for each row pitch in elements."""
    return [{"pitches": {array: pitch}} for pitch in pitches]


_COLUMNS = (
    ("sectors loaded", "global_load_sectors"),
    ("sectors stored", "global_store_sectors"),
    ("{passes} stored", "local_store_wavefronts"),
    ("{passes} loaded", "local_load_wavefronts"),
    ("lost to bank conflicts", "conflicts"),
)
# Columns of what few kernels have: they are there if a variation has any.
_SPECIAL = (
    ("{constants} of constants", "constant_cost"),
    ("sectors of private arrays", "private_sectors"),
    ("turns of atomics", "atomic_turns"),
)
_COSTS = ("sectors", "wavefronts", *(name for _, name in _SPECIAL))


def table(answers: Sequence[Answer]) -> list[str]:
    """The answers as an aligned table: sectors of global memory loaded and stored, passes of stores to and loads from local
    memory, passes lost to bank conflicts, costs of constants, off-chip private arrays and atomic functions where there are any,
    faults. The best row is marked."""
    names = list(dict.fromkeys(name for answer in answers for name, _ in answer.settings))
    first = next((answer for answer in answers if answer.totals is not None), Answer((), None))
    best = best_answers(answers)
    special = [each for each in _SPECIAL if any(getattr(answer.totals, each[1], 0) for answer in answers)]
    columns = (*_COLUMNS, *special)
    titles = (title.format(passes=first.passes, constants=first.constants) for title, _ in columns)
    rows = [[*names, *titles, "faults"]]
    for answer in answers:
        settings = dict(answer.settings)
        row = [settings.get(name, "") for name in names]
        if answer.totals is None:
            rows.append([*row, answer.reason])
            continue
        counts = [f"{getattr(answer.totals, name):,}" for _, name in columns]
        rows.append([*row, *counts, str(answer.faults)])
    widths = [max(len(row[column]) for row in rows if len(row) == len(rows[0])) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)) for row in rows]
    return [lines[0], *(line + "  <- best" * (each in best) for line, each in zip(lines[1:], answers, strict=True))]


def best_answers(answers: Sequence[Answer]) -> list[Answer]:
    """The answers without faults that need the fewest of everything: sectors, passes, addresses of constants, turns of atomics.
    There is none if no answer has the fewest of all, or if all cost the same."""
    counted = [(each, _costs(each.totals)) for each in answers if each.totals is not None and not each.faults]
    if len({costs for _, costs in counted}) < 2:
        return []
    fewest = tuple(map(min, zip(*(costs for _, costs in counted), strict=True)))
    return [each for each, costs in counted if costs == fewest]


def _costs(found: Totals) -> tuple[int, ...]:
    return tuple(getattr(found, name) for name in _COSTS)
