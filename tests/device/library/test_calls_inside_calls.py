"""Destructors and handlers of signals run in the middle of a call, and may call the library themselves."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from pyopencl.array import to_device
from separate import forget, pretend

from tilewright import matmul, prepare, transpose
from tilewright.dispatch.numpys_own import Limit
from tilewright.library import engine, numpy_limits
from tilewright.library.engine import default_device
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(31)
SIDES = [7, 90, 300]  # with one launch and several, with scratch memory and without


def integers(side: int) -> np.ndarray:
    return RNG.integers(-4, 5, (side, side)).astype(np.float32)


Place = tuple[Any, str]  # a function, by what has it and its name
LAUNCHES: list[Place] = [
    (cl, "enqueue_nd_range_kernel"),
    (Device, "launch"),
]  # the second also of launches without an event


def called_inside(
    monkeypatch: pytest.MonkeyPatch, places: list[Place], inner: Callable[[], None], outer: Callable[[], Any]
) -> Any:
    """The result of `outer`, in which `inner` runs before each call of these functions."""
    running: list[int] = []

    def disturbed(whole: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            if not running:
                running.append(1)
                inner()
                running.clear()
            return whole(*given, **named)

        return called

    with monkeypatch.context() as now:
        for owner, name in places:
            now.setattr(owner, name, disturbed(getattr(owner, name)))
        return outer()


def called_at_line(number: int, file: str, inner: Callable[[], None], outer: Callable[[], Any]) -> tuple[Any, bool]:
    """The result of `outer`, in which `inner` runs before the number-th executed line of a file, and whether it did."""
    left = [number]

    def at_line(frame: FrameType, event: str, given: Any) -> Any:
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                inner()
        return at_line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, given: at_line if frame.f_code.co_filename == file else None)
    try:
        return outer(), left[0] <= 0
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("move", [False, True])
def test_a_new_call_may_be_made_at_any_line_of_the_engine(move: bool, device: Device) -> None:
    """The engine looked through its calls while the inner call added one: "OrderedDict mutated during iteration"."""
    queue, numbers, reached = device.queue, iter(range(3, 2000)), True
    whole = integers(60)

    def new_call() -> None:
        rows, columns = divmod(next(numbers), 50)
        part = whole[: rows + 1, : columns + 1]
        found, right = (
            (transpose(part, queue=queue), part.T) if move else (matmul(part, part.T, queue=queue), part @ part.T)
        )
        assert np.array_equal(found, right)

    line = 0
    while reached:
        line += 1
        _, reached = called_at_line(line, engine.__file__, new_call, new_call)
    assert line > 20


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("prepared", [False, True])
def test_both_calls_are_right(
    on_device: bool, prepared: bool, side: int, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inner call's arguments were those of the outer call's launch: its result was the inner one's, or an error."""
    queue = device.queue
    first, second = (tuple(integers(side) for _ in range(2)) for _ in range(2))
    given = [tuple(to_device(queue, each) for each in pair) if on_device else pair for pair in (first, second)]
    where = {} if on_device else {"queue": queue}
    product: Any = prepare(*given[0], **where) if prepared else lambda a, b: matmul(a, b, **where)
    for pair in (*given, *given):
        product(*pair)
    inner_results: list[Any] = []
    found = called_inside(
        monkeypatch,
        LAUNCHES,
        lambda: inner_results.append(product(*given[1])),
        lambda: product(*given[0]),
    )
    host = [each.get(queue) if on_device else each for each in (found, *inner_results)]
    assert inner_results
    assert np.array_equal(host[0], first[0] @ first[1])
    assert all(np.array_equal(each, second[0] @ second[1]) for each in host[1:])


def test_copies_to_a_device_have_pieces_of_their_own(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner call's operands lay in the pinned memory that the outer call sent."""
    own = default_device(device.info.label)
    pretend(own, 1, monkeypatch)
    first, second = (tuple(integers(60) for _ in range(2)) for _ in range(2))
    inner_results: list[Any] = []
    found = called_inside(
        monkeypatch,
        [(cl, "enqueue_copy")],
        lambda: inner_results.append(matmul(*second, device=device.info.label)),
        lambda: matmul(*first, device=device.info.label),
    )
    forget(own)
    assert inner_results
    assert np.array_equal(found, first[0] @ first[1])
    assert all(np.array_equal(each, second[0] @ second[1]) for each in inner_results)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_a_handler_may_multiply_while_limits_are_measured(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for ever for the lock that its own thread had."""
    calls, found = list[int](), list[Any]()
    limit = Limit(1.0, "1x1x1")

    def measured(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            found.append(numpy_limits.measured_for(device, "float32", "float32", "stack"))
        return limit

    monkeypatch.setattr(numpy_limits, "_measured", measured)

    def late(number: int, frame: Any) -> None:
        raise TimeoutError("the lock was not given to the thread that has it")

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 5)
        assert numpy_limits.measured_for(device, "float32", "float32", "stack") is limit
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert found == [limit]
