"""Copies to and from a device with memory of its own: buffers used again, errors, Ctrl-C, several threads."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from separate import PIECE, close

from tilewright import gemm, matmul
from tilewright.errors import LaunchFailed, OutOfDeviceMemory
from tilewright.library.engine import Call
from tilewright.runtime.opencl import staging
from tilewright.runtime.opencl.adopted import adopt
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.staging import Limits

RNG = np.random.default_rng(32)
pytestmark = pytest.mark.usefixtures("limits")


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def test_repeated_calls_allocate_nothing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, bias = random(120, 90), random(90, 110), random(120, 110), random(110)

    def call() -> None:
        matmul(a, b, queue=device.queue)
        matmul(a[::2], b, queue=device.queue)
        gemm(a, b, c, beta=1, bias=bias, out=c, queue=device.queue)

    call()
    made: list[int] = []
    whole = Device.allocate

    def counted(self: Device, nbytes: int) -> Any:
        made.append(nbytes)
        return whole(self, nbytes)

    monkeypatch.setattr(Device, "allocate", counted)
    monkeypatch.setattr(cl, "Buffer", lambda *given, **named: pytest.fail("a buffer was made"))
    for _ in range(3):
        call()
    assert not made


def test_idle_buffers_are_given_back_when_memory_is_short(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random(120, 90), random(90, 110)
    owner = adopt(device.queue)
    matmul(a, b, queue=device.queue)
    assert owner.pool.idle_bytes
    tries: list[int] = []
    whole = Call.enqueue

    def refused(self: Call, *given: Any, **named: Any) -> Any:
        tries.append(owner.pool.idle_bytes)
        if len(tries) == 1:
            owner.pool.give([(300, owner.allocate(300))])
            raise OutOfDeviceMemory("no memory", -4)
        return whole(self, *given, **named)

    monkeypatch.setattr(Call, "enqueue", refused)
    assert close(matmul(a, b, queue=device.queue), a, b)
    assert len(tries) == 2
    assert tries[1] == 0


def test_no_memory_at_all_is_an_error(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Call, *given: Any, **named: Any) -> Any:
        raise OutOfDeviceMemory("no memory", -4)

    a = random(90, 90)
    with monkeypatch.context() as patched:
        patched.setattr(Call, "enqueue", refused)
        with pytest.raises(OutOfDeviceMemory, match="no memory"):
            matmul(a, a, queue=device.queue)
    assert close(matmul(a, a, queue=device.queue), a, a)


def test_threads_do_not_disturb_each_other(device: Device) -> None:
    failures: list[Any] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        queue = cl.CommandQueue(device.context, device.device) if seed % 2 else device.queue
        for _ in range(10):
            m, n, k = generator.integers(1, 150, 3)
            a, b = generator.standard_normal((m, k), np.float32), generator.standard_normal((k, n), np.float32)
            try:
                if not close(matmul(a, b, queue=queue), a, b):
                    failures.append((seed, m, n, k))
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, LaunchFailed, RuntimeError])
@pytest.mark.parametrize("direction", ["write", "begin_read", "end_read"])
def test_pieces_are_usable_after_an_error(
    direction: str, trouble: type[BaseException], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, out = random(200, 200), random(200, 200)
    count = [0]
    whole = getattr(staging._Piece, direction)

    def stopped(self: Any, *given: Any) -> None:
        count[0] += 1
        if count[0] == 5:
            raise trouble("in the middle")
        whole(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(staging._Piece, direction, stopped)
        with pytest.raises(trouble, match="in the middle"):
            matmul(a, a, out, queue=device.queue)
    before = out.copy()
    time.sleep(0.02)
    assert np.array_equal(out, before)
    for _ in range(2):
        assert close(matmul(a, a, out, queue=device.queue), a, a)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_real_interrupts_at_any_time(device: Device) -> None:
    a = random(300, 300)
    expected = matmul(a, a, queue=device.queue)
    out = np.zeros_like(expected)

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before: Callable[[int, Any], Any] | int | None = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in np.linspace(1e-4, 0.02, 15):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    for _ in range(20):
                        matmul(a, a, out, queue=device.queue)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:  # it may come in the `finally`, too
                pass
            seen = out.copy()
            time.sleep(0.01)
            assert np.array_equal(out, seen)
            assert np.array_equal(matmul(a, a, queue=device.queue), expected)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_new_arrays_are_touched_while_the_device_works(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that a thread takes before it can copy are copied once, and hold the product."""
    a = random(200, 200)
    taken: list[int] = []
    monkeypatch.setattr(staging._Piece, "pending", property(lambda self: len(taken) < 40))
    whole = staging._Piece.end_read

    def watched(self: Any, part: staging.Part) -> None:
        taken.append(part.origin)
        whole(self, part)

    monkeypatch.setattr(staging._Piece, "end_read", watched)
    assert close(matmul(a, a, queue=device.queue), a, a)
    assert sorted(taken) == list(range(0, a.nbytes, PIECE))


def test_a_failed_thread_stops_the_others(device: Device, limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    if limits.threads == 1:
        pytest.skip("there are no others")
    a, main = random(300, 300), threading.current_thread()
    whole = staging._Piece.write

    def failing(self: Any, *given: Any) -> None:
        if threading.current_thread() is not main:
            raise LaunchFailed("in a thread", -5)
        time.sleep(1e-3)
        whole(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(staging._Piece, "write", failing)
        with pytest.raises(LaunchFailed, match="in a thread"):
            matmul(a, a, queue=device.queue)
    assert close(matmul(a, a, queue=device.queue), a, a)
