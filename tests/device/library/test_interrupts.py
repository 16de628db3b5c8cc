"""Ctrl-C and forks: nothing is written once a call has raised, and a forked process gets a sentence or a result."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright import matmul
from tilewright.errors import LaunchFailed
from tilewright.library.engine import Call
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.finishing import finish_before_raising

RNG = np.random.default_rng(9)


def settled(out: np.ndarray) -> bool:
    """Whether nobody writes to the array any more."""
    before = out.copy()
    time.sleep(0.05)
    return np.array_equal(before, out, equal_nan=True)


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, LaunchFailed])
def test_nothing_is_written_after_a_call_has_raised(
    trouble: type[BaseException], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: an exception between two launches left the first one writing to memory that was given back."""
    a = RNG.standard_normal((900, 900), np.float32)
    out = np.zeros((900, 900), np.float32)
    whole = Call.enqueue

    def stopped(self: Call, buffers: Mapping[str, Any], queue: Any, wait_for: Any = None, event: bool = True) -> Any:
        for _ in range(8):
            whole(self, buffers, queue, wait_for, event)
        queue.flush()
        raise trouble("between two launches")

    monkeypatch.setattr(Call, "enqueue", stopped)
    with pytest.raises(trouble, match="between two launches"):
        matmul(a, a, out, queue=device.queue)
    assert settled(out)
    monkeypatch.undo()
    assert np.allclose(matmul(a, a, queue=device.queue), a @ a, atol=1e-2)


def test_an_impatient_second_interrupt_waits_too() -> None:
    tries: list[int] = []

    class Queue:
        def finish(self) -> None:
            tries.append(len(tries))
            if len(tries) < 3:
                raise KeyboardInterrupt

    finish_before_raising(Queue())
    assert tries == [0, 1, 2]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_real_interrupts_at_any_time(device: Device) -> None:
    """A signal raises KeyboardInterrupt at random moments of calls that take many launches."""
    a = RNG.standard_normal((40, 1, 130, 64), np.float32)
    b = RNG.standard_normal((1, 30, 64, 130), np.float32)[:, ::-1]
    expected = matmul(a, b, queue=device.queue)
    out = np.empty_like(expected)
    interrupted = 0

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before: Callable[[int, Any], Any] | int | None = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in np.linspace(1e-4, 0.06, 12):
            out[:] = 0
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    matmul(a, b, out, queue=device.queue)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:  # it may come in the `finally`, too
                interrupted += 1
            assert settled(out)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert np.array_equal(matmul(a, b, queue=device.queue), expected)


FORK = """
import multiprocessing, sys
import numpy as np
import tilewright

def work(results):
    try:
        results.put(float(tilewright.matmul(np.ones((3, 4)), np.ones((4, 5)), device=device).sum()))
    except tilewright.LaunchFailed:
        results.put("refused")

device = sys.argv[1]
tilewright.matmul(np.ones((3, 4)), np.ones((4, 5)), device=device)
context = multiprocessing.get_context("fork")
results = context.Queue()
child = context.Process(target=work, args=(results,))
child.start()
print(results.get(timeout=30))
child.join(30)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only here do processes fork by default")
def test_a_forked_process_computes_or_refuses(device: Device, tmp_path: Path) -> None:
    """D15: under PoCL it waited for ever."""
    script = tmp_path / "fork.py"
    script.write_text(FORK)
    done = subprocess.run(
        [sys.executable, str(script), device.info.platform], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout.strip() in ("60.0", "refused"), done.stderr
