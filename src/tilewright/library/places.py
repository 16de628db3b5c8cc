"""Where operands live: in host memory or on a device. A place takes them, lends their buffers, and gives results back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pyopencl.array import Array, empty, to_device

from ..backend.opencl import Device, adopt
from ..dtypes import FROM_ML_DTYPES
from ..errors import InvalidInput, Unsupported
from .engine import Call, call_for, default_device
from .operands import as_host_array, device_view, host_view, is_device_array, lent_buffer
from .shapes import Shape, View
from .strided import STANDS_FOR, strided_move


class HostPlace:
    """NumPy arrays: their own memory is the buffer on a CPU device, elsewhere they are copied to the device and back."""

    def __init__(self, device: Device, queue: Any, wait_for: Sequence[Any] | None) -> None:
        self.device = device
        self.queue = queue or device.plain_queue
        self.shares_memory = device.info.kind == "cpu"
        self._wait_for = list(wait_for) if wait_for else None
        self.key = ("host", id(device), self.queue.int_ptr)

    def take(self, value: Any) -> np.ndarray:
        """The operand as an array of whole, aligned, native elements, dense where it has to be copied to a device."""
        array = as_host_array(value)
        flags, itemsize = array.flags, array.dtype.itemsize
        if flags.forc and flags.aligned and array.dtype.isnative:
            return array
        even = not any(stride % itemsize for stride in array.strides) and flags.aligned
        if not even or not array.dtype.isnative:
            return array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
        return array if self.shares_memory else np.ascontiguousarray(array)

    def signature(self, array: np.ndarray | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.dtype)

    def view(self, array: np.ndarray) -> View:
        return host_view(array)[0]

    def cast(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        return array if array.dtype == dtype else array.astype(dtype)

    def vector(self, array: np.ndarray) -> np.ndarray:
        """The array, or a copy, without gaps between its elements."""
        return np.ascontiguousarray(array)

    def empty(self, shape: Shape, dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    def overlap(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the bytes that two arrays span meet: cheap, and true a little too often."""
        return np.may_share_memory(one, other)

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two arrays are the same elements at the same places, which may be written."""
        begins = (each.__array_interface__["data"][0] for each in (one, other))
        return len(set(begins)) == 1 and self.signature(one) == self.signature(other) and other.flags.writeable

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        np.copyto(target, source, casting="same_kind")

    def run(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """Run and wait: the result is in `arrays[output]`."""
        if self.shares_memory:
            context = self.device.context
            buffers = {name: lent_buffer(context, array) for name, array in arrays.items()}
            call.enqueue(buffers, self.queue, self._wait_for)
            self.device.finish("a library call", self.queue)
            return
        buffers = {}
        for name, array in arrays.items():
            buffers[name] = self.device.allocate(array.nbytes)
            if name != output or reads_output:
                self.device.write(buffers[name], array.ravel(order="K"), self.queue)
        call.enqueue(buffers, self.queue, self._wait_for, event=False)
        target = arrays[output]
        flat = self.device.read(buffers[output], target.size, target.dtype, queue=self.queue)
        by_columns = target.flags.f_contiguous and not target.flags.c_contiguous
        target[...] = flat.reshape(target.shape[::-1]).T if by_columns else flat.reshape(target.shape)

    def result(self, array: np.ndarray) -> Any:
        """Arrays as they are; a 0-d result as NumPy's scalar."""
        return array if array.ndim else array[()]


class DevicePlace:
    """PyOpenCL arrays: nothing is copied, nothing waits; events order the calls."""

    def __init__(self, device: Device, queue: Any, wait_for: Sequence[Any] | None) -> None:
        self.device = device
        self.queue = queue
        self._wait_for = list(wait_for) if wait_for else []
        self.key = ("device", id(device), queue.int_ptr)

    def take(self, value: Any) -> Array:
        """A device array as it is; a host operand beside device operands is copied over."""
        return value if is_device_array(value) else to_device(self.queue, np.ascontiguousarray(as_host_array(value)))

    def signature(self, array: Array | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.offset, array.dtype)

    def view(self, array: Array) -> View:
        return device_view(array)

    def cast(self, array: Array, dtype: np.dtype) -> Array:
        if array.dtype == dtype:
            return array
        if not {array.dtype.name, dtype.name}.isdisjoint(FROM_ML_DTYPES):
            raise Unsupported(f"PyOpenCL converts no {array.dtype} to {dtype} on a device; pass operands of one type")
        return array.astype(dtype, queue=self.queue)

    def vector(self, array: Array) -> Array:
        """The array, or a copy, at the beginning of its buffer and without gaps between its elements."""
        if array.offset == 0 and array.flags.c_contiguous:
            return array
        copied = self.empty(array.shape, array.dtype)
        self.assign(copied, array)
        return copied

    def empty(self, shape: Shape, dtype: np.dtype) -> Array:
        return empty(self.queue, shape, dtype)

    def overlap(self, one: Array, other: Array) -> bool:
        """Whether two arrays live in one buffer: parts of it are not told apart."""
        return bool(one.base_data is not None and one.base_data == other.base_data)

    def same(self, one: Array, other: Array) -> bool:
        """Whether two arrays are the same elements at the same places."""
        return self.overlap(one, other) and self.signature(one) == self.signature(other)

    def assign(self, target: Array, source: Array) -> None:
        """Copy elements into `target`, converting them to its type."""
        same = self.cast(source, target.dtype)
        key = ("assign", self.key, self.signature(same), self.signature(target))
        stand_in = STANDS_FOR[target.dtype.itemsize]
        call = call_for(key, lambda: strided_move(self.device, self.view(same), self.view(target), stand_in))
        self.run(call, {"input": same, "output": target}, "output", False)

    def run(self, call: Call, arrays: Mapping[str, Array], output: str, reads_output: bool) -> None:
        """Enqueue after all that the operands wait for, and leave the event on the result."""
        waits = list(self._wait_for)
        for array in arrays.values():
            waits += array.events
        buffers = {name: array.base_data for name, array in arrays.items()}
        event = call.enqueue(buffers, self.queue, waits or None)
        if event is not None:
            arrays[output].add_event(event)

    def result(self, array: Array) -> Array:
        return array


Place = HostPlace | DevicePlace


def place_for(values: Sequence[Any], device: str | None, queue: Any, wait_for: Sequence[Any] | None) -> Place:
    """Where a call runs: with any device array among the operands, on its queue or the one given; else on the host's
    default device, or the one named."""
    arrays = [value for value in values if is_device_array(value)]
    if arrays:
        if device is not None:
            raise InvalidInput(f"device={device!r} is for host operands; device arrays run where they are")
        own = queue or next((array.queue for array in arrays if array.queue is not None), None)
        if own is None:
            raise InvalidInput("the PyOpenCL arrays have no queue; pass queue=")
        return DevicePlace(adopt(own), own, wait_for)
    if queue is not None:
        return HostPlace(adopt(queue), queue, wait_for)
    return HostPlace(default_device(device), None, wait_for)
