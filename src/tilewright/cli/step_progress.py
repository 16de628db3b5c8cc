"""Shows on standard error how far `explain` is, from the second second on, and ends it at a time limit."""

import os
import sys
from time import monotonic
from types import TracebackType

QUIET_S = 1.0  # shorter runs show nothing
PAUSE_S = 0.1  # between two updates


class Progress:
    """A line on a terminal that is overwritten in place, and removed at the end. Elsewhere nothing is shown."""

    def __init__(self, title: str, limit: int, time_limit: float) -> None:
        self._title, self._limit, self._time_limit = title, limit, time_limit
        self._begin = self._last = monotonic()
        self._shown = False
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def watch(self, steps: int, groups: int) -> bool:
        """Show the steps taken and the work-groups begun, in `time_limit` s. Whether the time is over."""
        now = monotonic()
        over = now - self._begin > self._time_limit
        if not self._terminal or now - self._begin < QUIET_S or now - self._last < PAUSE_S:
            return over
        self._last, self._shown = now, True
        text = f"{self._title}: {steps:,} of at most {self._limit:,} steps, {groups:,} work-groups, {now - self._begin:.0f} s"
        print(f"\r{text[: columns() - 1]}\x1b[K", end="", file=sys.stderr, flush=True)
        return over


def columns() -> int:
    """The width of the terminal."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return 80
