"""The thread that waits for a CPU device and the driver's own threads come to different processors."""

import _thread
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

import numpy as np
import pytest

import tilewright
from tilewright.runtime.opencl import callers_processor
from tilewright.runtime.opencl.callers_processor import BoundProcessors, leave_bound_processor

pytestmark = [
    pytest.mark.device,
    pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity masks"),
    pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="one processor"),
]


@contextmanager
def waiting_thread(processors: set[int], ran_s: float = 0.05) -> Iterator[int]:
    """The number of a thread that may use these processors alone, and has run so long."""
    ready, done, numbers = threading.Event(), threading.Event(), list[int]()

    def stay() -> None:
        os.sched_setaffinity(0, processors)
        numbers.append(threading.get_native_id())
        while thread_time() < ran_s:
            pass
        ready.set()
        done.wait(10)

    thread = threading.Thread(target=stay)
    thread.start()
    assert ready.wait(10)
    try:
        yield numbers[0]
    finally:
        done.set()
        thread.join()


def found_by(bound: BoundProcessors) -> dict[int, int]:
    """The bound threads by their processors, as a look finds them."""
    bound._look()
    return bound._threads


class Known(BoundProcessors):
    """A driver's threads that a test says, and nothing of this process's others."""

    def __init__(self, drivers: set[int], threads: dict[int, int]) -> None:
        super().__init__()
        self._drivers, self._threads, self._looked = drivers, threads, float("inf")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> int:
    """The processor on which the test says that it runs."""
    number = max(os.sched_getaffinity(0))
    monkeypatch.setattr(callers_processor, "_getcpu", lambda: lambda: number)
    return number


def test_the_drivers_thread_is_bound_elsewhere(here: int) -> None:
    allowed = os.sched_getaffinity(0)
    with waiting_thread({here}) as thread:
        bound = Known({thread}, {here: thread})
        leave_bound_processor(bound)
        (place,) = os.sched_getaffinity(thread)
        assert place in allowed - {here}
        assert bound._threads == {place: thread}
        leave_bound_processor(bound)  # nothing is left to do
        assert os.sched_getaffinity(thread) == {place}
    assert os.sched_getaffinity(0) == allowed


def test_beside_a_thread_that_is_no_drivers_the_caller_moves_and_keeps_its_mask(
    here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed, asked = os.sched_getaffinity(0), list[tuple[int, set[int]]]()
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, mask: asked.append((thread, set(mask))))
    leave_bound_processor(Known(set(), {here: 1}))
    assert asked == [(0, allowed - {here}), (0, allowed)]


def test_a_system_that_forbids_it_is_no_failure(here: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(thread: int, mask: set[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    for drivers in (set[int](), {1}):
        bound = Known(drivers, {here: 1})
        leave_bound_processor(bound)
        assert bound._threads == {here: 1}


def test_nothing_moves_where_no_thread_is_bound_or_all_processors_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.sched_getaffinity(0)
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, mask: pytest.fail("moved"))
    for threads in (dict[int, int](), {each: 100 + each for each in allowed}):
        leave_bound_processor(Known(set(threads.values()), threads))


def test_threads_that_are_bound_are_found() -> None:
    one = min(os.sched_getaffinity(0) - found_by(BoundProcessors()).keys())
    with waiting_thread({one}) as thread:
        assert found_by(BoundProcessors())[one] == thread


def test_threads_that_never_ran_take_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intel's driver may bind such a thread to each processor: its own one would have no place to go."""
    ran = set[int]()
    monkeypatch.setattr(callers_processor, "_has_run", ran.__contains__)
    allowed = sorted(os.sched_getaffinity(0))[:2]
    with (
        waiting_thread({allowed[0]}) as idle,
        waiting_thread({allowed[1]}) as other,
        waiting_thread({allowed[1]}) as own,
    ):
        ran.add(own)
        bound = BoundProcessors()
        bound._drivers = {own}
        assert found_by(bound) == {allowed[1]: own}
        monkeypatch.setattr(callers_processor, "processor_numbers", lambda: set(allowed))
        monkeypatch.setattr(callers_processor, "_getcpu", lambda: lambda: allowed[1])
        leave_bound_processor(bound)
        assert os.sched_getaffinity(own) == {allowed[0]}
        ran |= {idle, other}
        assert found_by(bound) == {allowed[0]: own, allowed[1]: other}, "of two threads the driver's counts"


def test_a_thread_that_has_run_is_told_from_one_that_has_not() -> None:
    place = {min(os.sched_getaffinity(0))}
    with waiting_thread(place) as busy, waiting_thread(place, 0) as idle:
        assert callers_processor._has_run(busy)
        assert not callers_processor._has_run(idle)
    assert not callers_processor._has_run(2**30), "there is no such thread, as after one has ended"


def test_a_drivers_thread_that_is_not_bound_is_bound_while_one_processor_is_left() -> None:
    allowed = os.sched_getaffinity(0)
    with waiting_thread(allowed) as first, waiting_thread(allowed) as second:
        free = allowed - found_by(BoundProcessors()).keys()  # a driver's thread of this process may have one
        bound = BoundProcessors()
        bound._drivers = {first, second}
        found = found_by(bound)
        mine = {place: thread for place, thread in found.items() if thread in (first, second)}
        assert len(mine) == min(2, len(free) - 1)
        assert mine.keys() <= free
        for place, thread in mine.items():
            assert os.sched_getaffinity(thread) == {place}


def test_a_second_caller_does_not_wait(here: int) -> None:
    with waiting_thread({here}) as thread:
        bound = Known({thread}, {here: thread})
        with bound._lock:
            leave_bound_processor(bound)
        assert os.sched_getaffinity(thread) == {here}
        leave_bound_processor(bound)
        assert os.sched_getaffinity(thread) != {here}


def test_a_fork_knows_nothing_of_them() -> None:
    with waiting_thread(os.sched_getaffinity(0)) as thread:
        bound = Known({thread}, {0: thread})
        bound.forget()
        assert thread not in found_by(bound).values()
        assert not bound._drivers


def test_the_threads_that_a_call_starts_are_known_but_pythons() -> None:
    bound, threads, done = BoundProcessors(), list[threading.Thread](), threading.Event()

    def make() -> str:
        threads.append(threading.Thread(target=done.wait, args=(10,)))
        threads[0].start()
        return "made"

    assert bound.note_threads_of(make) == "made"
    assert not bound._noted
    done.set()
    threads[0].join()


def test_a_destructor_may_open_a_device_while_threads_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector runs it wherever memory is allocated, such as for a list of threads."""
    bound, every = BoundProcessors(), threading.enumerate
    found: list[str] = []

    def enumerated() -> list[threading.Thread]:
        if not found:
            found.append("outer")
            found.append(bound.note_threads_of(lambda: "inner"))
        return every()

    with monkeypatch.context() as patched:
        patched.setattr(threading, "enumerate", enumerated)
        caller = threading.Thread(target=bound.note_threads_of, args=(list,), daemon=True)
        caller.start()
        caller.join(10)
    assert not caller.is_alive()
    assert found == ["outer", "inner"]


def test_a_destructor_may_open_a_device_while_threads_are_looked_at(here: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that it notes are the driver's at the next look."""
    bound, allowed = BoundProcessors(), callers_processor._allowed
    done, started = threading.Event(), list[int]()

    def make() -> None:
        started.append(-1)  # no second time
        ready = threading.Event()

        def stay() -> None:
            started[0] = threading.get_native_id()
            ready.set()
            done.wait(10)

        _thread.start_new_thread(stay, ())  # which Python's list of threads does not have, as a driver's
        assert ready.wait(10)

    def disturbed(thread: int) -> str:
        if not started:
            bound.note_threads_of(make)
        return allowed(thread)

    monkeypatch.setattr(callers_processor, "_allowed", disturbed)
    caller = threading.Thread(target=leave_bound_processor, args=(bound,), daemon=True)
    caller.start()
    caller.join(10)
    try:
        assert not caller.is_alive()
        assert not bound._drivers
        leave_bound_processor(bound)
        assert bound._drivers == set(started)
    finally:
        done.set()


def test_long_products_ask_and_short_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("tilewright.library.memory.host.leave_bound_processor", lambda: asked.append(1))
    long, short = np.ones((200, 200), np.int32), np.ones((8, 8), np.int32)
    tilewright.matmul(short, short, device="cpu")
    assert not asked
    assert (tilewright.matmul(long, long, device="cpu") == 200).all()
    assert asked == [1]
