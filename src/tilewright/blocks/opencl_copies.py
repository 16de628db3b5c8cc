"""Copies of a matrix from an OpenCL device to others: by their context's own command, or through the host between contexts.

Every device that receives has a queue for its copies alone, so that they run beside its products.

- In one context a panel is copied by clEnqueueCopyBufferRect, which waits for what the caller had enqueued on the source's
  queue. That queue goes on when all copies have read from it, and the array has their events: it may be overwritten, or given
  back to its pool.
- Events mean nothing in another context. There the host reads a panel in slabs of pinned memory, and each slab is written to
  all other contexts while the next one is read: the call returns when the matrix has been read, whereas the products go on.

Copies get new buffers, which OpenCL keeps until all commands that use them have ended, and no memory of a pool.
"""

from collections.abc import Hashable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from ..library.memory.opencl import OpenCLMemory
from ..library.views import device_view
from ..runtime.opencl.device import Device, check
from ..runtime.opencl.staging import PINNED, READ, WRITE
from .panels import Panel, Rectangle, Stored, stored

SLAB_BYTES = 16 * 2**20  # of pinned memory, twice: as much as four pieces of `staging.py`, read in 0.3 ms at 54 GB/s


def place_of(memory: OpenCLMemory) -> tuple[int, int]:
    """A device in a context: arrays of one context may lie on several."""
    return memory.device.context.int_ptr, memory.queue.device.int_ptr


def columns_of(array: Array, panel: Panel) -> Array:
    """A view of some of the last dimension's elements. It shares the events of the array."""
    return array[..., panel.begin : panel.end]


def as_row(array: Array) -> Array:
    """A vector as a matrix of one row."""
    steps = (array.nbytes, *array.strides)
    return Array(
        array.queue, (1, *array.shape), array.dtype, strides=steps, data=array.base_data, offset=array.offset,
        events=array.events,
    )  # fmt: skip


def as_vector(array: Array) -> Array:
    """A matrix of one row as a vector."""
    return array[0]


def order(earlier: OpenCLMemory, later: OpenCLMemory) -> None:
    """Let later work in the queue of one call wait for what another call's queue has, in the same context."""
    with check(f"letting a queue of {later.device.info.label} wait for another"):
        event = cl.enqueue_marker(earlier.queue)
        earlier.queue.flush()
        cl.enqueue_barrier(later.queue, [event])
        later.queue.flush()


def copy_queue_of(device: Device) -> Any:
    """This thread's queue for copies beside kernels."""
    try:
        return device.per_thread.copy_queue
    except AttributeError:
        with check(f"making a queue for copies of {device.info.label}"):
            device.per_thread.copy_queue = cl.CommandQueue(device.context, device.device)
        return device.per_thread.copy_queue


class _Stop:
    """A device that receives: its buffer, its queue for copies, and the events of what arrived."""

    def __init__(self, memory: OpenCLMemory, lies: Stored, dtype: np.dtype) -> None:
        self.device, self.lies, self.dtype = memory.device, lies, dtype
        self.queue = copy_queue_of(memory.device)
        self.buffer = memory.device.allocate(lies.shape[0] * lies.pitch_bytes)
        self.arrived: dict[Panel, Any] = {}

    def array(self, panel: Panel, queue: Any, events: list[Any]) -> Array:
        steps = tuple(step * self.dtype.itemsize for step in self.lies.strides)
        shape = (self.lies.rows, panel.end - panel.begin)
        origin = self.lies.rectangle(panel).origin
        return Array(queue, shape, self.dtype, strides=steps, data=self.buffer, offset=origin, events=events)


class OpenCLCopies:
    """The copies of one PyOpenCL array."""

    def __init__(self, name: str, source: Array, home: OpenCLMemory, receivers: Sequence[OpenCLMemory]) -> None:
        view = device_view(source)
        lies = stored(view.shape, view.strides, source.dtype.itemsize)
        if lies is None or not isinstance(source.base_data, cl.MemoryObjectHolder):  # such as shared virtual memory
            source = home.dense(source, source.shape)
            lies = stored(source.shape, device_view(source).strides, source.dtype.itemsize)
            assert lies is not None
        self._name, self._home, self._source, self._lies = name, home, source, lies
        self._stops: dict[Hashable, _Stop] = {
            place_of(memory): _Stop(memory, lies.copied, source.dtype) for memory in receivers
        }
        context = home.device.context
        self._near = [stop for stop in self._stops.values() if stop.device.context == context]
        self._far = [stop for stop in self._stops.values() if stop.device.context != context]
        self._ready: Any = None  # the event of what the caller had enqueued
        self._slab_bytes = max(SLAB_BYTES, lies.length_bytes)  # at least a line
        self._slabs = cycle(slabs_of(home.device, self._slab_bytes) if self._far else ())

    @property
    def places(self) -> Sequence[Hashable]:
        return tuple(self._stops)

    def whole(self, place: Hashable) -> Array:
        stop = self._stops[place]
        return stop.array(Panel(0, self._lies.columns), stop.queue, [])

    def begin(self) -> None:
        with check(f"waiting for {self._name}"):
            self._ready = cl.enqueue_marker(self._home.queue, list(self._source.events) or None)
            self._home.queue.flush()

    def send(self, panel: Panel) -> None:
        part = self._lies.rectangle(panel)
        origin = self._source.offset + part.origin
        for stop in self._near:
            place = stop.lies.rectangle(panel)
            with check(f"copying {part.width * part.height:,} bytes to {stop.device.info.label}"):
                stop.arrived[panel] = cl.enqueue_copy(
                    stop.queue, stop.buffer, self._source.base_data, src_origin=(origin, 0), dst_origin=(place.origin, 0),
                    region=(part.width, part.height), src_pitches=(self._lies.pitch_bytes,),
                    dst_pitches=(stop.lies.pitch_bytes,), wait_for=[self._ready],
                )  # fmt: skip
                stop.queue.flush()
        if self._far:
            self._send_far(panel, part._replace(origin=origin))

    def _send_far(self, panel: Panel, part: Rectangle) -> None:
        """Read the panel from `part` of the source's buffer, and write it to the devices of other contexts."""
        rows = self._slab_bytes // max(part.width, 1)
        for first in range(0, part.height, rows):
            slab, height = next(self._slabs), min(rows, part.height - first)
            begin = part.origin + first * self._lies.pitch_bytes
            lines = slab.read(self._source.base_data, begin, self._lies.pitch_bytes, (part.width, height), self._ready)
            for stop in self._far:
                origin = stop.lies.rectangle(panel).origin + first * stop.lies.pitch_bytes
                stop.arrived[panel] = slab.write(stop, origin, lines)

    def taken(self, panel: Panel, memory: OpenCLMemory) -> Array:
        stop = self._stops[place_of(memory)]
        return stop.array(panel, memory.queue, [stop.arrived[panel]])

    def finish(self, memories: Sequence[OpenCLMemory]) -> None:
        """Buffers live until their commands have ended; only what others may overwrite must wait. Also after an error."""
        events = [list(stop.arrived.values())[-1] for stop in self._near if stop.arrived]  # queues are in order
        if events:
            with check(f"waiting for the copies of {self._name}"):
                cl.enqueue_barrier(self._home.queue, events)
                self._home.queue.flush()
            for event in events:
                self._source.add_event(event)
        for slab in (next(self._slabs) for _ in range(2 if self._far else 0)):
            slab.settle()


class _Slab:
    """Pinned memory of the host, on its way from one device to those of other contexts."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.nbytes, self._device = nbytes, device
        with check(f"allocating {nbytes:,} bytes of pinned memory for {device.info.label}"):
            buffer = cl.Buffer(device.context, PINNED, nbytes)
            self._pinned, _ = cl.enqueue_map_buffer(
                copy_queue_of(device), buffer, READ | WRITE, 0, (nbytes,), np.dtype(np.uint8)
            )
        self._writes: list[Any] = []

    def settle(self) -> None:
        """Wait until the last lines have been written."""
        writes, self._writes = self._writes, []
        for event in writes:
            event.wait()

    def read(self, buffer: Any, origin: int, pitch: int, region: tuple[int, int], ready: Any) -> np.ndarray:
        """Lines of a buffer after an event, complete when this returns."""
        self.settle()
        width, height = region
        lines: np.ndarray = self._pinned[: width * height].reshape(height, width)
        with check(f"reading {width * height:,} bytes from {self._device.info.label}"):
            cl.enqueue_copy(
                copy_queue_of(self._device), lines, buffer, buffer_origin=(origin, 0), host_origin=(0, 0), region=region,
                buffer_pitches=(pitch,), host_pitches=(width,), is_blocking=True, wait_for=[ready],
            )  # fmt: skip
        return lines

    def write(self, stop: _Stop, origin: int, lines: np.ndarray) -> Any:
        """The event of a copy to a device, which has begun when this returns."""
        height, width = lines.shape
        with check(f"writing {lines.nbytes:,} bytes to {stop.device.info.label}"):
            event = cl.enqueue_copy(
                stop.queue, stop.buffer, lines, buffer_origin=(origin, 0), host_origin=(0, 0), region=(width, height),
                buffer_pitches=(stop.lies.pitch_bytes,), host_pitches=(width,), is_blocking=False,
            )  # fmt: skip
            stop.queue.flush()
        self._writes.append(event)
        return event


def slabs_of(device: Device, nbytes: int) -> tuple[_Slab, _Slab]:
    """This thread's two slabs of at least so many bytes on a device: pinning memory takes longer than filling it."""
    kept: tuple[_Slab, _Slab] | None = getattr(device.per_thread, "slabs", None)
    if kept is None or kept[0].nbytes < nbytes:
        kept = device.per_thread.slabs = (_Slab(device, nbytes), _Slab(device, nbytes))
    return kept
