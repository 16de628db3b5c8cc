"""Ctrl-C, once and again, while a call in tiles runs and ends: it is raised when nothing is at work any more."""

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from separate import close
from tiled_calls import random

from tilewright import matmul
from tilewright.library.streamed.device_memory import SharedMemory
from tilewright.library.streamed.schedule import Schedule
from tilewright.runtime.opencl.device import Device

BETWEEN_S = 0.02  # two interrupts
STORE_S = 0.1  # a tile's: several interrupts come meanwhile


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_no_thread_is_at_work_after_impatient_interrupts(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Thread.join` forgets a thread at work when it is interrupted, and the caller's array was written to afterwards."""
    a, b, out = random(300, 300), random(300, 300), np.zeros((300, 300), np.float32)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 300_000}
    storing: list[int] = []
    drain = SharedMemory.drain

    def slow(self: SharedMemory, *arguments: Any) -> int:
        storing.append(1)
        time.sleep(STORE_S)
        written = drain(self, *arguments)
        storing.pop()
        return written

    def interrupt(number: int, frame: Any) -> None:
        if storing:
            raise KeyboardInterrupt

    matmul(a, b, **where)  # builds
    monkeypatch.setattr(SharedMemory, "drain", slow)
    before = signal.signal(signal.SIGALRM, interrupt)
    raised, at_work = False, -1
    try:
        signal.setitimer(signal.ITIMER_REAL, BETWEEN_S, BETWEEN_S)
        matmul(a, b, out, **where)
    except KeyboardInterrupt:
        raised, at_work = True, len(storing)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert raised
    assert at_work == 0
    assert not [each for each in threading.enumerate() if each.name == "tilewright-store"]
    monkeypatch.undo()
    assert close(matmul(a, b, **where), a, b)


def test_an_interrupt_while_threads_are_told_to_stop(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were not told then, and waited for tiles as long as the process lived."""
    stop, calls = Schedule.stop, list[int]()

    def interrupted(self: Schedule) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        stop(self)

    monkeypatch.setattr(Schedule, "stop", interrupted)
    a, b = random(300, 300), random(300, 300)
    with pytest.raises(KeyboardInterrupt):
        matmul(a, b, device=device.info.label, max_device_bytes=300_000)
    assert len(calls) == 2
    names = ("tilewright-load", "tilewright-compute", "tilewright-store")
    assert not [each for each in threading.enumerate() if each.name in names]
