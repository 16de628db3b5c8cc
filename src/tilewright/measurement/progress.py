"""What a measurement is doing now, and how long it will still take."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Phase:
    """One moment of a measurement: its words, such as "building and verifying", how many of the parts are done, and the
    seconds that all of it will still take; None if that cannot be said yet."""

    words: str
    done: int = 0
    total: int = 0
    seconds_left: float | None = None

    def __str__(self) -> str:
        place = f" {min(self.done + 1, self.total)} of {self.total}" if self.total else ""
        return f"{self.words}{place}{left(self.seconds_left)}"


Announce = Callable[[Phase], None]


def silent(phase: Phase) -> None:
    """Announces nothing."""


def left(seconds: float | None) -> str:
    """ ", about 40 s left"; "" if it is not known or less than a second."""
    if seconds is None or seconds < 1:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f", about {minutes} min {rest} s left" if minutes else f", about {rest} s left"


class Estimate:
    """Announces parts of equal work as they are done, with the time left as far as it is known.

    `after` are the seconds that follow the last part.
    """

    def __init__(self, announce: Announce, words: str, total: int, after: float = 0.0) -> None:
        self._announce, self._words, self._total, self._after = announce, words, total, after
        self._begin = perf_counter()

    def done(self, count: int, words: str = "") -> None:
        """So many parts are done; `words` name the next one."""
        passed = perf_counter() - self._begin
        rest = passed / count * (self._total - count) + self._after if count else None
        name = f"{self._words} {words}".strip()
        self._announce(Phase(name, count, self._total, rest))
