"""What the sliders show: the kernel counted beforehand with other settings or row pitches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from ...errors import InvalidInput
from ..explain.explanation import Explanation
from ..explain.what_if import Answer, Ask, sweep
from .lines import Cost, Place, costs_of

MOST = 64  # variations of a page
PATIENCE_S = 0.5  # of one count: pitches are tried unasked only where that is quick
MOST_ARRAYS = 2  # whose pitches are tried unasked: of two, every pair
BEYOND = (-1, 0, 1, 2, 4, 8)  # elements more than a local array's own row pitch


@dataclass(frozen=True)
class Variation:
    """The kernel with these settings: what each line costs, the number of its faults, or why it cannot be counted."""

    settings: Mapping[str, str]
    costs: Mapping[Place, Mapping[str, Cost]]
    faults: int
    reason: str


def variation_of(answer: Answer) -> Variation:
    return Variation(dict(answer.settings), costs_of(answer.accesses, answer.factor), answer.faults, answer.reason)


def own_pitches(explanation: Explanation) -> dict[str, int]:
    """The row pitch, in elements, of each two-dimensional local array."""
    rows = {each.buffer: each.row for each in explanation.accesses if each.is_local and each.row[1]}
    return {name: row // element for name, (row, element) in rows.items()}


def usual_pitches(explanation: Explanation) -> dict[str, list[int]]:
    """Row pitches to try unasked: a local array's own, one less, and some more. Nothing if one count takes long."""
    if explanation.seconds > PATIENCE_S:
        return {}
    own = list(own_pitches(explanation).items())[:MOST_ARRAYS]
    return {name: [pitch + more for more in BEYOND if pitch + more > 0] for name, pitch in own}


def check_number(settings: Mapping[str, Sequence[str]], pitches: Mapping[str, Sequence[int]]) -> None:
    """InvalidInput if there are more combinations than a page can have."""
    number = prod(map(len, (*settings.values(), *pitches.values())))
    if number > MOST:
        names = ", ".join((*settings, *pitches))
        raise InvalidInput(f"{number:,} combinations of {names}: a page has at most {MOST}; give fewer values")


def counted(
    ask: Ask, settings: Mapping[str, Sequence[str]], pitches: Mapping[str, Sequence[int]]
) -> tuple[Variation, ...]:
    """Every combination of these settings and pitches."""
    check_number(settings, pitches)
    names = [*settings, *pitches]
    values: list[Sequence[Any]] = [*settings.values(), *pitches.values()]
    if not names:
        return ()
    chosen = [dict(zip(names, combination, strict=True)) for combination in product(*values)]
    variations = [
        {
            "settings": {name: value for name, value in each.items() if name in settings},
            "pitches": {name: value for name, value in each.items() if name in pitches},
        }
        for each in chosen
    ]
    return tuple(map(variation_of, sweep(ask, variations)))
