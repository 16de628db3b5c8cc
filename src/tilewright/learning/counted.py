"""What `explain` counts for a rung and for the rung before it: the numbers of lessons, tours and course pages."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from ..analysis.explain import Explanation
from ..analysis.explain.totals import Totals, totals
from ..analysis.explanations import default_size, explain
from ..core.kernel import Kernel
from ..errors import TilewrightError, UnknownName
from ..kernels import find_kernel, rung_before
from .lesson import COUNTED_VARIANTS, Guess, lesson_place

# What a guess may ask for. The sums are those of the whole NDRange of the rung's own launch; helper launches are left out.
MEASURES: dict[str, Callable[[Explanation, Totals], int]] = {
    "sectors_loaded": lambda found, sums: sums.global_load_sectors,
    "sectors_stored": lambda found, sums: sums.global_store_sectors,
    "load_requests": lambda found, sums: sums.global_load_requests,
    "store_requests": lambda found, sums: sums.global_store_requests,
    "local_loads": lambda found, sums: sums.local_load_wavefronts,
    "local_stores": lambda found, sums: sums.local_store_wavefronts,
    "conflicts": lambda found, sums: sums.conflicts,
    "private_sectors": lambda found, sums: sums.private_sectors,
    "barriers": lambda found, sums: found.profile.barriers,
    "work_items": lambda found, sums: prod(found.global_size),
    "worst_conflict": lambda found, sums: round(
        max((each.degree for each in found.accesses if each.is_local), default=1)
    ),
    "worst_sectors": lambda found, sums: round(
        max((each.per_request for each in found.accesses if each.space == "global"), default=0)
    ),
    "new_lines": lambda found, sums: sums.new_lines,
    "faults": lambda found, sums: len(found.faults),
}


@dataclass(frozen=True)
class Counted:
    """A rung explained at its usual size, and the rung before it at the same. `reason` says why there is no explanation."""

    found: Explanation | None
    before: Explanation | None
    reason: str = ""

    def measure(self, name: str) -> int | None:
        return _measured(self.found, name)

    def measure_before(self, name: str) -> int | None:
        return _measured(self.before, name)


def counted(kernel: Kernel) -> Counted:
    """What is counted for a rung. Rungs with instructions that `explain` does not run have a `reason`, without counts."""
    try:
        found = explain(kernel)
    except TilewrightError as error:
        return Counted(None, None, str(error))
    previous = compared_rung(kernel)
    if previous is None:
        return Counted(found, None)
    if default_size(previous) != default_size(kernel):
        return Counted(found, None, f"{previous.name} is counted at another size, so they are not compared")
    try:
        return Counted(found, explain(previous, model=found.model))
    except TilewrightError as error:
        return Counted(found, None, str(error))


def compared_rung(kernel: Kernel) -> Kernel | None:
    """The rung before, of which a lesson speaks: of one with variants, that of its own lesson. None for a first rung."""
    previous = rung_before(kernel)
    return previous and find_kernel(COUNTED_VARIANTS.get(lesson_place(previous), previous.name))


def right_option(guess: Guess, counts: Counted) -> int | None:
    """The place of the right option of a guess: the one that is nearest to what was counted; None without counts."""
    if guess.choices:
        return guess.right
    value = _asked(guess, counts)
    if value is None:
        return None
    return min(range(len(guess.options)), key=lambda place: abs(guess.options[place] - value))


def _asked(guess: Guess, counts: Counted) -> Fraction | None:
    """The count that a guess asks for, or its ratio to the rung before."""
    now, was = counts.measure(guess.measure), counts.measure_before(guess.measure)
    if now is None or (guess.is_ratio and not was):
        return None
    return Fraction(now, was) if guess.is_ratio and was else Fraction(now)


def _measured(found: Explanation | None, name: str) -> int | None:
    if name not in MEASURES:
        raise UnknownName("measure of a guess", name, MEASURES)
    return None if found is None else MEASURES[name](found, totals(found))
