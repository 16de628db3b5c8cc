"""The arrays of a case on a device: views with offsets and strides into larger buffers."""

from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from .bench import Bench
from .cases import Case
from .memory import Block
from .operands import Laid

# Operands that are passed from the host together with those of a device.
BESIDE = "host"


class DeviceArrays:
    """The arrays of a case as PyOpenCL's, and what their buffers hold afterwards."""

    def __init__(self, case: Case, laid: dict[str, Laid], bench: Bench) -> None:
        self._bench = bench
        self._buffers: dict[int, Any] = {}
        self._events: dict[int, Any] = {}
        self.arrays: dict[str, Any] = {}
        for name, each in laid.items():
            self.arrays[name] = self._passed(name, each, case)

    def _passed(self, name: str, laid: Laid, case: Case) -> Any:
        if laid.given.form == BESIDE or (case.fault == "out on the host" and name == "out"):
            return laid.view
        queue = self._bench.queues[laid.given.queue]
        if case.fault == "two contexts" and name == "b":
            queue = self._bench.elsewhere
        if case.fault == "queue out of order":
            queue = self._bench.out_of_order
        whole = self._buffer(laid.block, queue)
        begin = laid.block.origin + laid.begin - laid.place.low
        if laid.given.sub:
            align = max(self._bench.info.base_align_bytes, 16)
            origin = (laid.block.origin + laid.begin) // align * align
            whole, begin = whole.get_sub_region(origin, laid.block.data.nbytes - origin), begin - origin
        place = laid.place
        made = Array(queue, place.shape, place.dtype, data=whole, offset=begin, strides=place.strides)
        made.add_event(self._events[id(laid.block)])
        return made

    def _buffer(self, block: Block, queue: Any) -> Any:
        """The block's bytes on the device: on their way there, by an event that the arrays wait for."""
        if id(block) not in self._buffers:
            buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, block.before.nbytes)
            self._events[id(block)] = cl.enqueue_copy(queue, buffer, block.before, is_blocking=False)
            queue.flush()
            self._buffers[id(block)] = buffer
        return self._buffers[id(block)]

    def now(self, block: Block) -> np.ndarray:
        """What the block's buffer holds; the block itself if an operand was passed from the host."""
        buffer = self._buffers.get(id(block))
        if buffer is None:
            return block.data
        found = np.empty_like(block.before)
        queue = self._bench.reader if buffer.context == self._bench.device.context else self._bench.elsewhere
        cl.enqueue_copy(queue, found, buffer)
        return found

    def fetched(self, result: Any, out: Any) -> np.ndarray | str:
        """The result's elements, once its own events are over: nothing else is waited for. Or what is wrong with it."""
        if not isinstance(result, Array):
            return f"a {type(result).__name__} came back for device arrays"
        if result.events:
            cl.wait_for_events(result.events)
        if result.size == 0:
            return np.empty(result.shape, result.dtype)
        data = np.empty(result.base_data.size, np.uint8)
        cl.enqueue_copy(self._bench.reader, data, result.base_data)
        return np.ndarray(result.shape, result.dtype, data.data, result.offset, result.strides).copy()

    def sent(self, array: np.ndarray) -> np.ndarray:
        """Another array for a call on this device: it may lie in the host's memory."""
        return array

    def left(self) -> str:
        return ""

    def close(self) -> None:
        self.arrays.clear()
        self._buffers.clear()
        self._events.clear()
