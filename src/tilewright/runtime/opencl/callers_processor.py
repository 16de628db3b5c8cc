"""Keeps the thread that waits for a CPU device, and the driver's own threads, on processors of their own.

Intel's runtime computes by one thread for each processor. All but one are its own, each bound to a processor; the last is the
thread that waits for the launch. If the system has put that one on a bound thread's processor, both share it while another is
idle, call after call: on two processors products take twice as long (1000 x 1000 x 1000 on a Zen 4: 19.4 ms, not 9.7). Where
other libraries compute by threads in the same process, that is where a caller often ends. The driver's thread is then bound to a
free processor, and the caller stays where its data are cached. A context that the caller made has unknown threads: beside them
the caller moves.

In some processes the runtime binds none of its threads (3 of 16, on two processors). They share the caller's processor for
milliseconds, until the system moves one. This module binds them. In other processes the runtime binds another thread to each
processor and never runs it. Such threads do not count.
"""

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from time import monotonic
from typing import Any, TypeVar

from ...core.device import DeviceInfo
from ..processors import processor_numbers
from ..resting import TASKS
from .copy_threads import taken_from

LOOK_S = 0.5  # between two looks at all threads, which take some 20 us each: a driver binds its own when they begin
Made = TypeVar("Made")


class BoundProcessors:
    """Which processors have a thread of this process bound to them, and which threads a driver started."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all threads, as a fork must: they belong to the process that it came from."""
        self._threads: dict[int, int] = {}  # by the processor to which they are bound
        self._drivers: set[int] = set()
        # Without a lock: a destructor may open a device while its own thread looks at threads.
        self._noted: deque[set[int]] = deque()
        self._looked = float("-inf")
        self._lock = threading.Lock()

    def note_threads_of(self, make: Callable[[], Made]) -> Made:
        """Call a function of Intel's driver, and note the threads that it starts."""
        before = _threads()
        made = make()
        if started := set(_threads() - before - {each.native_id for each in threading.enumerate()}):
            self._noted.append(started)
        return made

    def clear(self, processor: int) -> None:
        """Have no other thread bound to this processor, which the caller runs on, if another one is free.

        While another caller is here, nothing happens: the next product asks again.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            while (started := taken_from(self._noted)) is not None:
                self._drivers |= started
            if monotonic() - self._looked > LOOK_S:
                self._look()
            if (thread := self._threads.get(processor)) is not None:
                self._part(thread)
        finally:
            self._lock.release()

    def _look(self) -> None:
        """Read which threads are bound, and bind those of the driver that are not."""
        lists = {thread: _allowed(thread) for thread in _threads()}
        self._drivers &= lists.keys()
        bound = {thread: int(each) for thread, each in lists.items() if each.isdecimal()}
        others = {place: thread for thread, place in bound.items() if thread not in self._drivers and _has_run(thread)}
        self._threads = {**others, **{bound[thread]: thread for thread in self._drivers & bound.keys()}}
        for thread in self._drivers - set(self._threads.values()):
            self._bind(thread, least_free=2)  # one of them for the caller
        self._looked = monotonic()

    def _part(self, thread: int) -> None:
        """Move the driver's thread away from the caller, or the caller from another thread."""
        allowed = processor_numbers()
        if thread in self._drivers:
            self._bind(thread)
        elif free := allowed - self._threads.keys():
            with suppress(OSError):  # as in _bind
                os.sched_setaffinity(0, free)
                os.sched_setaffinity(0, allowed)

    def _bind(self, thread: int, least_free: int = 1) -> None:
        """Bind a driver's thread to a processor without one, if there are at least so many."""
        free = processor_numbers() - self._threads.keys()
        if len(free) < least_free:
            return
        # An error says that it has ended, that a sandbox forbids it, or that the processor is gone: products are only slower.
        with suppress(OSError):
            os.sched_setaffinity(thread, {max(free)})
            others = {each: other for each, other in self._threads.items() if other != thread}
            self._threads = {**others, max(free): thread}


BOUND = BoundProcessors()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BOUND.forget)


def binds_threads(info: DeviceInfo) -> bool:
    """Whether the device's driver is Intel's for CPUs, which has a bound thread for each processor but one."""
    return info.kind == "cpu" and info.platform.startswith("Intel")


def leave_bound_processor(bound: BoundProcessors = BOUND) -> None:
    """Have no other thread of this process bound to the processor that the calling thread runs on, if another one is free.

    Its affinity mask is the same afterwards. Nothing happens where the system does not tell where threads run.
    """
    where = _getcpu()
    if where is not None:
        bound.clear(where())


@cache
def _getcpu() -> Any:
    """The C library's function for the number of the processor that the calling thread runs on, or None."""
    if not hasattr(os, "sched_setaffinity") or not TASKS.is_dir():
        return None
    return getattr(ctypes.CDLL(None), "sched_getcpu", None)


def _threads() -> frozenset[int]:
    """The numbers of this process's threads; none where the system does not tell."""
    return frozenset(int(each.name) for each in TASKS.iterdir()) if TASKS.is_dir() else frozenset()


def _has_run(thread: int) -> bool:
    """Whether a thread has used CPU time, which the system counts in ticks of 1 to 10 ms; see proc_pid_stat(5).

    True where the system does not say.
    """
    try:
        text = (TASKS / str(thread) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended
        return False
    return text.rpartition(")")[2].split()[11:13] != ["0", "0"]


def _allowed(thread: int) -> str:
    """The processors of a thread as the system lists them: 0-3,8; see proc_pid_status(5). Empty if it has ended."""
    try:
        lines = (TASKS / str(thread) / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith("Cpus_allowed_list")), "")
