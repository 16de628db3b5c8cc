"""Ctrl-C while a call in tiles starts its threads: those that run end, and nobody waits for one that was never started."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from separate import close
from tiled_calls import KINDS, pretend, random

from tilewright import matmul
from tilewright.runtime.opencl.device import Device

NAMES = ("load", "compute", "store")


def own_threads() -> list[str]:
    """Those of a device at work; threads that copy stay for later calls."""
    own = [f"tilewright-{name}" for name in NAMES]
    return [each.name for each in threading.enumerate() if each.name in own]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("starts", [True, False])
def test_the_interrupt_is_raised_and_all_threads_end(
    kind: str, name: str, starts: bool, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(kind, monkeypatch)
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if thread.name != f"tilewright-{name}":
            start(thread)
            return
        if starts:
            start(thread)
        raise KeyboardInterrupt

    a, b, out = random(300, 300), random(300, 300), np.zeros((300, 300), np.float32)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 300_000}
    with monkeypatch.context() as now:
        now.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            matmul(a, b, out, **where)
    end = time.monotonic() + 2
    while own_threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert not own_threads()
    assert not out.any(), "something was written after the call"
    assert close(matmul(a, b, **where), a, b)
