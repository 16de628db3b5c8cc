"""PyOpenCL arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array, empty, to_device

from ...errors import InvalidInput
from ...runtime.opencl.device import Device, adopt
from ..engine import Call
from ..shapes import Shape, View
from ..views import as_host_array, device_view, is_device_array
from .on_device import DeviceCopies
from .opencl_arrays import ORDER, check_writable, is_read_only, leave_event, overlap, same_elements


class OpenCLMemory(DeviceCopies):
    """PyOpenCL arrays. Nothing is copied, no call waits; events order the calls."""

    def __init__(self, device: Device, queue: Any, wait_for: Sequence[Any], allocator: Any = None) -> None:
        self.device = device
        self.queue = queue
        self._wait_for = list(wait_for)
        self._allocator = allocator
        self._context = device.context.int_ptr
        self._left = ORDER.left_on(queue.int_ptr)
        self.key = ("device", id(device), queue.int_ptr)

    def as_array(self, value: Any, name: str) -> Any:
        """A device array as it is. A host operand becomes a NumPy array, which `as_operand` copies to the device."""
        if not is_device_array(value):
            return as_host_array(value, name)
        if value.context is not None and value.context.int_ptr != self._context:
            raise InvalidInput(
                f"{name} ({value.shape} {value.dtype}) lies in another OpenCL context than the queue: copy it to that one"
            )
        return value

    def holds(self, value: Any) -> bool:
        return is_device_array(value)

    def as_operand(self, array: Any, dtype: np.dtype) -> Array:
        """The operand in that type, in a buffer of this context."""
        if isinstance(array, np.ndarray):
            array = array if array.dtype == dtype else array.astype(dtype)
            return to_device(self.queue, np.ascontiguousarray(array))
        return array if array.dtype == dtype else self._cast(array, dtype)

    def as_out(self, out: Any) -> Array:
        """The caller's array for the result. InvalidInput if it is not a PyOpenCL array, or read-only."""
        if not is_device_array(out):
            raise InvalidInput(f"out is a {type(out).__name__}; for PyOpenCL operands, pass a PyOpenCL array")
        seen: Array = self.as_array(out, "out")
        check_writable(seen)
        return seen

    def writable_by_kernels(self, out: Array) -> bool:
        """Kernels can write to any device array."""
        return True

    def signature(self, array: Array | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.offset, array.dtype)

    def view(self, array: Array) -> View:
        return device_view(array)

    def as_vector(self, array: Array) -> Array:
        """The array, or a copy, with contiguous elements at offset 0 of its buffer."""
        if array.offset == 0 and array.flags.c_contiguous:
            return array
        copied = self.empty(array.shape, array.dtype)
        self.assign(copied, array)
        return copied

    def empty(self, shape: Shape, dtype: np.dtype) -> Array:
        return empty(self.queue, shape, dtype, allocator=self._allocator)

    @staticmethod
    def place_of(array: Array, device: Any, queue: Any) -> tuple[Device, Any] | None:
        own = array.queue if queue is None else queue
        return (adopt(own), own) if device is None and type(own) is cl.CommandQueue else None

    @staticmethod
    def key_of(array: Array) -> tuple[Any, ...]:
        return array.shape, array.strides, array.offset, array.dtype

    @staticmethod
    def settled(array: Array) -> bool:
        return bool(array.size)

    def fits(self, arrays: Iterable[Array], out: Array | None) -> bool:
        """Whether the arrays lie in this context, and `out` can be written to and shares no memory with the others."""
        for array in arrays:
            context = array.context
            if context is None or context.int_ptr != self._context or (out is not None and overlap(array, out)):
                return False
        if out is None:
            return True
        context = out.context
        return context is not None and context.int_ptr == self._context and not is_read_only(out.base_data)

    def kept(self) -> "OpenCLMemory":
        """The same for later calls: without the events and the allocator of this one."""
        return OpenCLMemory(self.device, self.queue, ())

    def another(self, array: Array) -> Callable[[Iterable[Array]], Array]:
        """Makes arrays like this one, with memory of their own. PyOpenCL's constructor takes ten times as long."""
        _ = array.flags.forc  # PyOpenCL keeps the flags on the array
        known, size, own = {**vars(array), "base_data": None, "events": ()}, array.nbytes, self.device.allocate

        def make(operands: Iterable[Array]) -> Array:
            allocator = None
            for operand in operands:
                if operand.allocator is not None:
                    allocator = operand.allocator
                    break
            made = Array.__new__(Array)
            attributes = vars(made)
            attributes.update(known)
            attributes["events"] = []
            attributes["allocator"] = allocator
            attributes["base_data"] = own(size) if allocator is None else allocator(size)
            return made

        return make

    def overlap(self, one: Any, other: Array) -> bool:
        """Whether the buffers of two arrays share bytes."""
        return is_device_array(one) and overlap(one, other)

    def same_elements(self, one: Any, other: Array) -> bool:
        """Whether two arrays have the same elements at the same addresses."""
        return is_device_array(one) and same_elements(one, other)

    def run(self, call: Call, arrays: Mapping[str, Array], output: str, reads_output: bool) -> None:
        """Enqueue after the arrays' events, and leave the last event on the arrays.

        Events of calls on the same queue are not waited for: it runs its commands in order.
        """
        queue, left = self.queue, self._left
        with ORDER.lock:
            waits = self._wait_for
            for array in arrays.values():
                for event in array.events:
                    if id(event) not in left and event.command_queue != queue:
                        waits = [*waits, event]
            buffers = {name: array.base_data for name, array in arrays.items()}
            event = call.enqueue(buffers, queue, waits or None)
            if event is None:  # nothing to launch: the result is ready after the events
                event = cl.enqueue_marker(queue, waits or None)
            for array in arrays.values():
                events = array.events
                if len(events) == 1 and id(events[0]) in left:
                    events[0] = event
                else:
                    leave_event(events, event, left, queue)
            ORDER.record(left, event)

    def result(self, array: Array) -> Array:
        return array

    def permuted(self, result: Any, order: Sequence[int]) -> Any:
        """A view of a result with its dimensions in another order."""
        return result.transpose(order)
