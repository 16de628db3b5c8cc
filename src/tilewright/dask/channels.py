"""What the threads of a worker copy and compute with on its GPU: a queue each, and pinned memory of calls in tiles."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any, NamedTuple

import pyopencl as cl

from ..library.streamed.device_memory import conveyors_for, keep_conveyors, staging_within
from ..library.streamed.planning import MOST_STAGING
from ..runtime.opencl.conveyor import Conveyor
from ..runtime.opencl.device import Device
from ..runtime.opencl.finishing import finish_before_raising


class Channel(NamedTuple):
    """What a thread copies and computes with. Who uses it waits for the queue."""

    queue: Any
    sender: Conveyor
    reader: Conveyor


class Channels:
    """Those of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._own = local()

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        """This thread's."""
        try:
            queue = self._own.queue
        except AttributeError:
            queue = self._own.queue = cl.CommandQueue(self._device.context, self._device.device)
        sizes, _ = staging_within(MOST_STAGING)
        conveyors = conveyors_for(self._device, sizes)
        try:
            yield Channel(queue, conveyors[0], conveyors[1])
        except BaseException:
            finish_before_raising(queue)  # nothing is kept: an error may have left copies half done
            raise
        keep_conveyors(self._device, sizes, conveyors)
