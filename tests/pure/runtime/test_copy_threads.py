"""Threads that copy for others: all items are done, by threads of one's own, too, which end with their owner."""

import gc
import threading
import time
from collections import deque

import pytest

from tilewright.runtime.opencl.copy_threads import MOST_THREADS, Helpers, share, taken_from

ITEMS = 200


def done_by(helpers: Helpers | None, lanes: int) -> dict[str, list[int]]:
    """What each thread did of some items that take a while."""
    todo, found = deque(range(ITEMS)), {}  # type: ignore[var-annotated]

    def work(lane: int) -> None:
        own = found.setdefault(f"{threading.current_thread().name} {lane}", [])
        while (item := taken_from(todo)) is not None:
            time.sleep(2e-4)
            own.append(item)

    share(work, range(lanes), todo, helpers)
    return found


def of_helpers(prefix: str = "tilewright-copies") -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith(prefix)}


def test_each_item_once() -> None:
    for helpers in (None, Helpers(3)):
        found = done_by(helpers, 4)
        assert sorted(item for own in found.values() for item in own) == list(range(ITEMS))
        assert len(found) > 1


def test_own_threads_copy_while_the_usual_ones_are_busy() -> None:
    free = threading.Event()
    waiting = deque(range(MOST_THREADS - 1))

    def wait(lane: int) -> None:
        while taken_from(waiting) is not None:
            free.wait(10)

    busy = threading.Thread(target=share, args=(wait, range(MOST_THREADS - 1), waiting))
    busy.start()
    while waiting:
        time.sleep(1e-3)
    try:
        assert len(done_by(Helpers(2), 3)) > 1
    finally:
        free.set()
        busy.join()


def test_threads_end_with_their_owner() -> None:
    before = of_helpers()
    helpers = Helpers(5)
    assert of_helpers() == before, "threads begin when they are needed"
    done_by(helpers, 3)
    own = of_helpers() - before
    assert len(own) == 5
    del helpers
    gc.collect()
    for thread in own:
        thread.join(5)
    assert not any(thread.is_alive() for thread in own)


@pytest.mark.parametrize("allowed", [0, 2])
def test_threads_that_the_system_does_not_start(allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[threading.Thread] = []
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if len(begun) == allowed:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    helpers = Helpers(3)
    done = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        if not allowed:
            with pytest.raises(RuntimeError, match="start new thread"):
                helpers.put(lambda: pytest.fail("the caller was told that it would not be done"))
        else:
            helpers.put(done.set)
            assert done.wait(5)
            return
    helpers.put(done.set)  # by now it does
    assert done.wait(5)


def test_a_destructor_may_want_threads_while_they_are_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector runs it wherever memory is allocated, such as in the start of a thread. Its job is done meanwhile."""
    owned, garbage = [Helpers(3)], [1]
    inner, outer, waited = threading.Event(), threading.Event(), threading.Event()

    class Waits:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            owned[0].put(inner.set)
            if inner.wait(5):
                waited.set()

    start = threading.Thread.start

    def collect(thread: threading.Thread) -> None:
        if garbage:
            garbage.clear()
            Waits()
            gc.collect()
        start(thread)

    before = of_helpers()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", collect)
        caller = threading.Thread(target=owned[0].put, args=(outer.set,), daemon=True)
        start(caller)
        caller.join(10)
    assert not caller.is_alive()
    assert waited.is_set()
    assert outer.wait(5)
    own = of_helpers() - before
    owned.clear()
    gc.collect()
    for thread in own:
        thread.join(5)
    assert not any(thread.is_alive() for thread in own)


def test_an_error_of_a_helper_is_raised() -> None:
    todo = deque(range(ITEMS))

    def work(lane: int) -> None:
        while taken_from(todo) is not None:
            time.sleep(1e-3)
            if lane:
                raise ValueError(f"lane {lane}")

    with pytest.raises(ValueError, match="lane"):
        share(work, range(3), todo, Helpers(2))
    assert not todo
