"""One cause of lost time, with its lines, its numbers, what it costs at most, and the remedy."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..kernels import rung_before


@dataclass(frozen=True)
class QuotedLine:
    """A line of the source. `file` is "" in the kernel's own file."""

    number: int
    text: str
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.number}" if self.file else f"{self.number}"
        return f"{place:>6} | {self.text.strip()}"


@dataclass(frozen=True)
class Cause:
    """Why a kernel loses time.

    `counted` is what was counted, in one sentence. `seconds` is what it takes now at most, `part` the same as a part of the
    kernel's time, and `gain` the factor by which the kernel gets faster at most if only this is fixed. `weight` is
    the estimate in seconds before it was cut to the kernel's time: it ranks causes of equal gain. `remedy` is one
    imperative sentence, and `rung` the rung that shows it, or "".
    """

    kind: str
    counted: str
    lines: tuple[QuotedLine, ...]
    seconds: float
    part: float
    gain: float
    remedy: str
    rung: str = ""
    weight: float = 0.0

    @property
    def show(self) -> str:
        """The command that shows the remedy; "" without a rung."""
        if not self.rung:
            return ""
        return f"tilewright show {self.rung}{' --diff' if rung_before(self.rung) else ''}"


def ranked(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """The causes, the largest estimated gain first. Of gains that print alike, the one with more weight comes first."""
    return tuple(sorted(causes, key=lambda each: (-round(each.gain, 1), -each.weight)))
