"""A thread that waits for a CPU device leaves the processors to which the driver has bound its own threads."""

import os
import threading

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


class Given(BoundProcessors):
    """Processors that a test says."""

    def __init__(self, numbers: frozenset[int]) -> None:
        super().__init__()
        self._given = numbers

    def numbers(self) -> frozenset[int]:
        return self._given


def test_the_thread_moves_and_keeps_its_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed, asked = os.sched_getaffinity(0), list[set[int]]()
    bound = max(allowed)
    monkeypatch.setattr(callers_processor, "_getcpu", lambda: lambda: bound)
    monkeypatch.setattr(os, "sched_setaffinity", lambda thread, mask: asked.append(set(mask)))
    leave_bound_processor(Given(frozenset({bound})))
    assert asked == [allowed - {bound}, allowed]


def test_a_system_that_forbids_it_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(thread: int, mask: set[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    bound = max(os.sched_getaffinity(0))
    monkeypatch.setattr(callers_processor, "_getcpu", lambda: lambda: bound)
    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    leave_bound_processor(Given(frozenset({bound})))


def test_the_system_moves_it() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, allowed - {max(allowed)})
    os.sched_setaffinity(0, allowed)
    leave_bound_processor(Given(frozenset(allowed - {max(allowed)})))
    assert os.sched_getaffinity(0) == allowed


def test_nothing_moves_where_no_thread_is_bound_or_all_processors_are() -> None:
    allowed = os.sched_getaffinity(0)
    for numbers in (frozenset[int](), frozenset(allowed)):
        leave_bound_processor(Given(numbers))
        assert os.sched_getaffinity(0) == allowed


def test_threads_that_are_bound_are_found() -> None:
    one, ready, done = min(os.sched_getaffinity(0)), threading.Event(), threading.Event()

    def stay() -> None:
        os.sched_setaffinity(0, {one})
        ready.set()
        done.wait(10)

    thread = threading.Thread(target=stay)
    thread.start()
    assert ready.wait(10)
    try:
        assert one in BoundProcessors().numbers()
    finally:
        done.set()
        thread.join()


def test_long_products_ask_and_short_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("tilewright.library.memory.host.leave_bound_processor", lambda: asked.append(1))
    long, short = np.ones((700, 700), np.int32), np.ones((8, 8), np.int32)
    tilewright.matmul(short, short, device="cpu")
    assert not asked
    assert (tilewright.matmul(long, long, device="cpu") == 700).all()
    assert asked == [1]
