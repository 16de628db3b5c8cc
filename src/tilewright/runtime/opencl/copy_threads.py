"""Copies of memory in several threads, which take what is to do from one list.

NumPy copies without the interpreter's lock, and one thread alone does not fill a memory's bandwidth. An executor of Python's
library takes some 40 us to wake a thread and to hear of its end, in which a thread copies 300 KB; a queue takes a few.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import SimpleQueue
from threading import Event, Thread
from time import sleep
from typing import Any, TypeVar

MOST_THREADS = 8  # they copy 35 GB/s on the host of an H200; more are not faster
WAIT_S = 1e-4  # between two looks whether other threads have ended, after an error

Item = TypeVar("Item")
Lane = TypeVar("Lane")
Jobs = SimpleQueue[Callable[[], None]]


def taken_from(todo: deque[Item]) -> Item | None:
    """The next item, which no other thread gets; None if there is none."""
    try:
        return todo.popleft()
    except IndexError:
        return None


def share(work: Callable[[Lane], None], lanes: Sequence[Lane], todo: deque[Any]) -> None:
    """Call `work` with the first lane in this thread, and with the others in threads of their own if there are any idle.

    Each call does items of `todo` until there are none. When this returns or raises, by an error of any thread or by Ctrl-C, no
    thread is at work any more: one that begins later finds nothing to do. Errors are those of `work`.
    """
    busy: deque[Lane] = deque()  # the lanes of other threads
    errors: deque[BaseException] = deque()
    ended = Event()

    def helped(lane: Lane) -> None:
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
            jobs = _jobs()
            for lane in lanes[1:]:
                jobs.put(partial(helped, lane))
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
def _jobs() -> Jobs:
    """What the process's other threads wait for. They are daemons: waiting does not keep a process alive."""
    jobs: Jobs = SimpleQueue()
    for number in range(1, MOST_THREADS):
        Thread(target=_serve, args=(jobs,), name=f"tilewright-copies-{number}", daemon=True).start()
    return jobs


def _serve(jobs: Jobs) -> None:
    while True:
        job = jobs.get()
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
