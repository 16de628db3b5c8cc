"""Moves a thread that is about to wait for a CPU device off the processors of the driver's own threads.

Intel's runtime computes by one thread for each processor. All but one are its own, each bound to a processor; the last is the
thread that waits for the launch. If the system has put that one on a bound thread's processor, both share it while another is
idle, call after call: on two processors products take twice as long (1000 x 1000 x 1000 on a Zen 4: 19.4 ms, not 9.7). Where
other libraries compute by threads in the same process, that is where a caller often ends.
"""

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

from ..processors import processor_numbers
from ..resting import TASKS

LOOK_S = (
    0.5  # between two looks at all threads, which take some 20 us each: a driver starts its own in the first launches
)


class BoundProcessors:
    """The processors of which some thread of this process may use no other."""

    def __init__(self) -> None:
        self._numbers, self._looked = frozenset[int](), float("-inf")

    def numbers(self) -> frozenset[int]:
        if monotonic() - self._looked > LOOK_S:
            lists = (_allowed(folder) for folder in TASKS.iterdir())
            self._numbers = frozenset(int(each) for each in lists if each.isdecimal())
            self._looked = monotonic()
        return self._numbers


BOUND = BoundProcessors()


def leave_bound_processor(bound: BoundProcessors = BOUND) -> None:
    """Have the calling thread run on a processor to which no thread of this process is bound, if there is one.

    Its affinity mask is the same afterwards. Nothing happens where the system does not tell where threads run.
    """
    where = _getcpu()
    if where is None or where() not in (numbers := bound.numbers()):
        return
    allowed = processor_numbers()
    if free := allowed - numbers:
        with suppress(
            OSError
        ):  # a sandbox that forbids it, or processors that were taken away: the product is only slower
            os.sched_setaffinity(0, free)
            os.sched_setaffinity(0, allowed)


@cache
def _getcpu() -> Any:
    """The C library's function for the number of the processor that the calling thread runs on, or None."""
    if not hasattr(os, "sched_setaffinity") or not TASKS.is_dir():
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


def _allowed(task: Path) -> str:
    """The processors of a thread as the system lists them: 0-3,8; see proc_pid_status(5). Empty if it has ended."""
    try:
        lines = (task / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith("Cpus_allowed_list")), "")
