"""How many of our processors other programs keep busy while we measure. Linux counts it; elsewhere it is unknown."""

import os
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from .processors import processor_numbers

PROC = Path("/proc")
IDLE_FIELDS = (3, 4)  # of a processor's line in /proc/stat: idle and waiting for a disk
COUNTED_FIELDS = 8  # the fields after these, the time of guests, are part of the first ones
SHORTEST_S = 0.1  # the system counts in steps of 10 ms


@dataclass(frozen=True)
class _Reading:
    """Seconds until now: of the clock, of all work on the processors that we may use, and of the work of our processes."""

    clock: float
    all_work: float
    own_work: float


class OtherLoad:
    """Counts the work of other programs from the moment it is made."""

    def __init__(self) -> None:
        self._begin = _read()

    def cores(self) -> float | None:
        """The mean number of our processors that others kept busy since then; None if that is not told, or it is too soon."""
        now = _read()
        if self._begin is None or now is None or now.clock - self._begin.clock < SHORTEST_S:
            return None
        others = (now.all_work - self._begin.all_work) - (now.own_work - self._begin.own_work)
        return max(0.0, others / (now.clock - self._begin.clock))


def _read() -> _Reading | None:
    try:
        ticks_per_second = os.sysconf("SC_CLK_TCK")
        return _Reading(monotonic(), _all_ticks() / ticks_per_second, _own_ticks() / ticks_per_second)
    except (OSError, ValueError, AttributeError):
        return None


def _all_ticks() -> int:
    """The work of all programs on the processors that this process may use: what others do elsewhere slows nothing here."""
    names = {f"cpu{number}" for number in processor_numbers()}
    lines = [line.split() for line in (PROC / "stat").read_text(encoding="ascii").splitlines()]
    counted = [line[1 : 1 + COUNTED_FIELDS] for line in lines if line and line[0] in names]
    return sum(int(value) for fields in counted for place, value in enumerate(fields) if place not in IDLE_FIELDS)


def _own_ticks() -> int:
    """The work of this process and of all that it started, those that have ended included."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            # The name of a program stands in brackets and may contain blanks.
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended between the two calls
            continue
        number = int(folder.name)
        parents[number], ticks[number] = int(fields[1]), sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while more := {number for number, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(number, 0) for number in own)
