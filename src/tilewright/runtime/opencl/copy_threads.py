"""Copies of memory in several threads, which take what is to do from one list.

NumPy copies without the interpreter's lock, and one thread alone does not fill a memory's bandwidth. An executor of Python's
library takes some 40 us to wake a thread and to hear of its end, in which a thread copies 300 KB; a queue takes a few.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import SimpleQueue
from threading import Event, RLock, Thread
from time import sleep
from typing import Any, TypeVar
from weakref import finalize

MOST_THREADS = 8  # they copy 35 GB/s on the host of an H200; more are not faster
WAIT_S = 1e-4  # between two looks whether other threads have ended, after an error

Item = TypeVar("Item")
AnyLane = TypeVar("AnyLane")
Jobs = SimpleQueue[Callable[[], None] | None]


def taken_from(todo: deque[Item]) -> Item | None:
    """The next item, which no other thread gets; None if there is none."""
    try:
        return todo.popleft()
    except IndexError:
        return None


class Helpers:
    """Threads that copy for others, begun when they are first needed. They are daemons: waiting does not keep a process alive.

    They end after their last owner is gone.
    """

    def __init__(self, count: int) -> None:
        self._count, self._begun = count, False
        self._jobs: Jobs = SimpleQueue()
        self._lock = RLock()  # a destructor, or a signal's handler, may want threads meanwhile

    def put(self, job: Callable[[], None]) -> None:
        """Have a thread do it. RuntimeError if the system starts none."""
        if not self._begun:
            self._begin()
        self._jobs.put(job)

    def _begin(self) -> None:
        """Start the threads: at least one, and as many as the system allows."""
        with self._lock:
            for number in range(1, self._count + 1):
                if self._begun:  # also by a call of such a destructor
                    return
                try:
                    Thread(target=_serve, args=(self._jobs,), name=f"tilewright-copies-{number}", daemon=True).start()
                except RuntimeError:
                    if number == 1:
                        raise
                    break
                finalize(self, self._jobs.put, None)  # which ends one of them
            self._begun = True


def share(
    work: Callable[[AnyLane], None], lanes: Sequence[AnyLane], todo: deque[Any], helpers: Helpers | None = None
) -> None:
    """Call `work` with the first lane in this thread, and with the others in threads of `helpers` if there are any idle: in the
    process's own by default.

    Each call does items of `todo` until there are none. When this returns or raises, by an error of any thread or by Ctrl-C, no
    thread is at work any more: one that begins later finds nothing to do. Errors are those of `work`.
    """
    busy: deque[AnyLane] = deque()  # the lanes of other threads
    errors: deque[BaseException] = deque()
    ended = Event()

    def helped(lane: AnyLane) -> None:
        busy.append(lane)  # before it looks what is to do: who has seen the list empty waits for the busy ones alone
        try:
            work(lane)
        except BaseException as error:
            errors.append(error)
            todo.clear()
        finally:
            busy.pop()
            ended.set()

    try:
        if len(lanes) > 1:
            helpers = helpers or _usual_helpers()
            for lane in lanes[1:]:
                helpers.put(partial(helped, lane))
        work(lanes[0])
        while busy:
            ended.wait()
            ended.clear()
        if errors:
            raise errors[0]
    except BaseException:
        _stop(todo, busy)
        raise


@cache
def _usual_helpers() -> Helpers:
    return Helpers(MOST_THREADS - 1)


def _serve(jobs: Jobs) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # it holds the caller's arrays


def _stop(todo: deque[Any], busy: deque[Any]) -> None:
    """Wait until no other thread is at work, also after another Ctrl-C."""
    while True:
        try:
            todo.clear()
            while busy:
                sleep(WAIT_S)
            return
        except KeyboardInterrupt:
            continue
