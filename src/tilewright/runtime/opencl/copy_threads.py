"""Copies of memory in several threads, which take what is to do from one list.

NumPy copies without the interpreter's lock, and one thread alone does not fill a memory's bandwidth.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from time import sleep
from typing import Any, TypeVar

MOST_THREADS = 8  # they copy 35 GB/s on the host of an H200; more are not faster
WAIT_S = 1e-4  # between two looks whether other threads have ended, after an error

Item = TypeVar("Item")
Lane = TypeVar("Lane")


def taken_from(todo: deque[Item]) -> Item | None:
    """The next item, which no other thread gets; None if there is none."""
    try:
        return todo.popleft()
    except IndexError:
        return None


def share(work: Callable[[Lane], None], lanes: Sequence[Lane], todo: deque[Any]) -> None:
    """Call `work` with the first lane in this thread, and with the others in threads of their own if there are any idle.

    Each call does items of `todo` until there are none. When this returns or raises, by an error of any thread or by
    Ctrl-C, no thread is at work any more. Errors are those of `work`.
    """
    busy: deque[Lane] = deque()  # the lanes of other threads

    def helped(lane: Lane) -> None:
        busy.append(lane)  # before it looks what is to do: who has emptied the list waits for the busy ones alone
        try:
            work(lane)
        except BaseException:
            todo.clear()
            raise
        finally:
            busy.pop()

    futures: list[Future[None]] = []
    try:
        for lane in lanes[1:]:
            futures.append(_executor().submit(helped, lane))
        work(lanes[0])
        for future in futures:
            if not future.cancel():  # it never began
                future.result()
    except BaseException:
        _stop(todo, busy)
        raise


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS - 1, "tilewright-copies")


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
