"""PyOpenCL arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array, empty, to_device

from ...errors import InvalidInput
from ...runtime.opencl.device import Device
from ..engine import Call
from ..shapes import Shape, View
from ..views import as_host_array, device_view, is_device_array
from .on_device import DeviceCopies
from .opencl_arrays import check_writable, leave_event, overlap, same_elements


class OpenCLMemory(DeviceCopies):
    """PyOpenCL arrays. Nothing is copied, no call waits; events order the calls."""

    def __init__(self, device: Device, queue: Any, wait_for: Sequence[Any]) -> None:
        self.device = device
        self.queue = queue
        self._wait_for = list(wait_for)
        self._context = device.context.int_ptr
        self._pointer = queue.int_ptr
        self.key = ("device", id(device), self._pointer)

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
        return empty(self.queue, shape, dtype)

    def overlap(self, one: Any, other: Array) -> bool:
        """Whether the buffers of two arrays share bytes."""
        return is_device_array(one) and overlap(one, other)

    def same_elements(self, one: Any, other: Array) -> bool:
        """Whether two arrays have the same elements at the same addresses."""
        return is_device_array(one) and same_elements(one, other)

    def run(self, call: Call, arrays: Mapping[str, Array], output: str, reads_output: bool) -> None:
        """Enqueue after the arrays' events, and add the last event to the arrays."""
        waits = list(self._wait_for)
        for array in arrays.values():
            waits += array.events
        buffers = {name: array.base_data for name, array in arrays.items()}
        event = call.enqueue(buffers, self.queue, waits or None)
        if event is None:  # nothing to launch: the result is ready after the events
            event = cl.enqueue_marker(self.queue, waits or None)
        leave_event(tuple(arrays.values()), event, self._pointer)

    def result(self, array: Array) -> Array:
        return array

    def permuted(self, result: Any, order: Sequence[int]) -> Any:
        """A view of a result with its dimensions in another order."""
        return result.transpose(order)
