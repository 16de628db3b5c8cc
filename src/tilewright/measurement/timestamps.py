"""Times launches that follow each other without a pause, by timestamps of an NVIDIA GPU's clock.

Profiling adds a few microseconds of the driver's to each launch, which is much for a launch of ten. A caller who enqueues
ahead pays only for the gap between two launches. So do baselines whose calls are captured in a graph: this module measures
our launches in the same way.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..core.kernel import Kernel, render
from ..core.problem import Copy
from ..kernels.clock import GATE, STAMP
from ..runtime.device import Device

GATE_S = 12e-6  # for each launch that the host enqueues, which takes about half of that
GATE_START_S = 100e-6
ATTEMPTS = 4  # each with a longer gate, if the host was delayed


class Timestamps:
    """Two timestamps on a queue without profiling. A gate before them holds the device back while the host enqueues."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._queue = device.plain_queue
        self._buffer = device.allocate(16)
        self._gate = self._prepared(GATE)
        self._timestamps = []
        for place in (0, 1):
            timestamp = self._prepared(STAMP)
            timestamp.set_arg(0, self._buffer)
            timestamp.set_arg(1, np.int32(place))
            self._timestamps.append(timestamp)

    def _prepared(self, kernel: Kernel) -> Any:
        source = render(kernel, kernel.config, Copy(1, 1), self._device.dialect)
        return self._device.build(source, kernel.name, kernel.signature, "float32").new_kernel()

    def seconds(self, enqueue: Callable[[Any], object], launches: int) -> float:
        """The device's time for the `launches` that `enqueue` puts into the queue."""
        held = GATE_START_S + GATE_S * launches
        for _ in range(ATTEMPTS):
            begin = perf_counter()
            self._gate.set_arg(0, np.uint64(held * 1e9))
            self._launch(self._gate, "the gate")
            self._launch(self._timestamps[0], "the first timestamp")
            enqueue(self._queue)
            self._launch(self._timestamps[1], "the last timestamp")
            enqueued = perf_counter() - begin
            self._device.finish("timed launches", self._queue)
            if enqueued < held:
                break
            held = 2 * enqueued
        first, last = self._device.read(self._buffer, 2, np.dtype(np.uint64))
        return float(last - first) * 1e-9

    def _launch(self, kernel: Any, what: str) -> None:
        self._device.launch(kernel, GATE.config.ndrange(Copy(1, 1)), what, self._queue, event=False)
