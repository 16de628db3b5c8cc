"""Where operands live: in host memory or on a device. A place takes them, lends their buffers, and gives results back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array, empty, to_device

from ..core.types import DOUBLES
from ..errors import InvalidInput, Unsupported
from ..kernels.copy.many import SPELLED
from ..runtime.forks import refuse_if_forked
from ..runtime.opencl.device import Device, adopt
from .copy_calls import STANDS_FOR, converting_copy, strided_copy
from .device_arrays import check_events, check_queue, check_writable, leave_event, overlap, same_elements
from .engine import Call, call_for, default_device
from .shapes import Shape, View, distinct
from .views import as_host_array, device_view, host_view, is_device_array, lent_buffer, whole_elements


class HostMemory:
    """NumPy arrays: their own memory is the buffer on a CPU device, elsewhere they are copied to the device and back."""

    def __init__(self, device: Device, queue: Any) -> None:
        self.device = device
        self.queue = queue or device.plain_queue
        self.shares_memory = device.info.kind == "cpu"
        self.key = ("host", id(device), self.queue.int_ptr)

    def as_array(self, value: Any) -> np.ndarray:
        """What a caller passed, as an array of any type and layout."""
        return as_host_array(value)

    def as_operand(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The operand in that type and as kernels can read it: dense where it has to be copied to a device."""
        if array.dtype != dtype:
            array = array.astype(dtype)
        if whole_elements(array) and (self.shares_memory or array.flags.forc):
            return array
        return np.array(array, order="C", copy=True)

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """NumPy converts anything that the rules allow."""

    def as_out(self, out: Any) -> np.ndarray:
        """The caller's array for the result; InvalidInput if it is none or must not be written."""
        if not isinstance(out, np.ndarray):
            raise InvalidInput(f"out is a {type(out).__name__}; results of NumPy operands go to a NumPy array")
        if not out.flags.writeable:
            raise InvalidInput(f"out is read-only, an array {out.shape} {out.dtype}: results cannot go there")
        return as_host_array(out)

    def writable_by_kernels(self, out: np.ndarray) -> bool:
        """Whether kernels can write the array where it lies."""
        if not whole_elements(out):
            return False
        return out.flags.forc or (self.shares_memory and distinct(host_view(out)[0]))

    def signature(self, array: np.ndarray | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.dtype)

    def view(self, array: np.ndarray) -> View:
        return host_view(array)[0]

    def dense(self, array: np.ndarray, shape: Shape) -> np.ndarray:
        """The array repeated to a shape, every element in a place of its own."""
        return np.array(np.broadcast_to(array, shape), order="C", copy=True)

    def as_vector(self, array: np.ndarray) -> np.ndarray:
        """The array, or a copy, without gaps between its elements."""
        return np.ascontiguousarray(array)

    def empty(self, shape: Shape, dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    def overlap(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the bytes that two arrays span meet: cheap, and true a little too often."""
        return np.may_share_memory(one, other)

    def same_elements(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two arrays are the same elements at the same places."""
        if one is other:
            return True
        begins = (each.__array_interface__["data"][0] for each in (one, other))
        return len(set(begins)) == 1 and self.signature(one) == self.signature(other)

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        """Copy elements into `target`, converting them to its type: a conversion that the rules have allowed."""
        np.copyto(target, source, casting="unsafe")

    def run(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """Run and wait: the result is in `arrays[output]`. Nothing is written any more once this has returned or raised."""
        if not self.shares_memory:
            self._run_on_copies(call, arrays, output, reads_output)
            return
        context = self.device.context
        buffers = {name: lent_buffer(context, array) for name, array in arrays.items()}
        try:
            call.enqueue(buffers, self.queue, event=False)
            self.device.finish("a call on host arrays", self.queue)
        except BaseException:
            self._finish_before_raising()
            raise

    def _finish_before_raising(self) -> None:
        """Wait for launches that are under way: they write to memory that the caller may free. Ctrl-C waits, too."""
        while True:
            try:
                self.queue.finish()
                return
            except KeyboardInterrupt:
                continue
            except cl.Error:  # the error that is being raised says more
                return

    def _run_on_copies(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """The same on a device with memory of its own."""
        buffers = {}
        for name, array in arrays.items():
            buffers[name] = self.device.allocate(array.nbytes)
            if name != output or reads_output:
                self.device.write(buffers[name], array.ravel(order="K"), self.queue)
        call.enqueue(buffers, self.queue, event=False)
        target = arrays[output]
        flat = self.device.read(buffers[output], target.size, target.dtype, queue=self.queue)
        by_columns = target.flags.f_contiguous and not target.flags.c_contiguous
        target[...] = flat.reshape(target.shape[::-1]).T if by_columns else flat.reshape(target.shape)

    def result(self, array: np.ndarray) -> Any:
        """Arrays as they are; a 0-d result as NumPy's scalar."""
        return array if array.ndim else array[()]


class DeviceMemory:
    """PyOpenCL arrays: nothing is copied, nothing waits; events order the calls."""

    def __init__(self, device: Device, queue: Any, wait_for: Sequence[Any]) -> None:
        self.device = device
        self.queue = queue
        self._wait_for = list(wait_for)
        self._context = device.context.int_ptr
        self._pointer = queue.int_ptr
        self.key = ("device", id(device), self._pointer)

    def as_array(self, value: Any) -> Any:
        """A device array as it is; a host operand beside device operands as a NumPy array, for `as_operand` to copy over."""
        if not is_device_array(value):
            return as_host_array(value)
        if value.context is not None and value.context.int_ptr != self._context:
            raise InvalidInput(
                f"an array {value.shape} {value.dtype} lies in another OpenCL context than the call's queue: copy it over"
            )
        return value

    def as_operand(self, array: Any, dtype: np.dtype) -> Array:
        """The operand in that type, in a buffer of this context."""
        if isinstance(array, np.ndarray):
            array = array if array.dtype == dtype else array.astype(dtype)
            return to_device(self.queue, np.ascontiguousarray(array))
        return array if array.dtype == dtype else self._cast(array, dtype)

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """Unsupported if no device array is converted so. To be asked before anything is enqueued."""
        if source == target:
            return
        if not source.isnative:
            raise Unsupported(f"a device array of byte-swapped {source}: swap its bytes on the host")
        for name in (source.name, target.name):
            if name not in SPELLED:
                raise Unsupported(f"no kernel converts {source} to {target} on a device; pass operands of one type")
            if name in DOUBLES and not self.device.info.fp64:
                raise Unsupported(f"{self.device.info.label} has no double precision, which {name} needs")

    def _cast(self, array: Array, dtype: np.dtype) -> Array:
        """The array in another type, dense."""
        self.check_conversion(array.dtype, dtype)
        converted = self.empty(array.shape, dtype)
        self._copy(converted, array, self.view(array))
        return converted

    def as_out(self, out: Any) -> Array:
        """The caller's array for the result; InvalidInput if it is none or must not be written."""
        if not is_device_array(out):
            raise InvalidInput(f"out is a {type(out).__name__}; results of PyOpenCL operands go to a PyOpenCL array")
        seen: Array = self.as_array(out)
        check_writable(seen)
        return seen

    def writable_by_kernels(self, out: Array) -> bool:
        """Kernels write any device array where it lies."""
        return True

    def signature(self, array: Array | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.offset, array.dtype)

    def view(self, array: Array) -> View:
        return device_view(array)

    def dense(self, array: Array, shape: Shape) -> Array:
        """The array repeated to a shape, every element in a place of its own."""
        copied = self.empty(shape, array.dtype)
        self._copy(copied, array, self.view(array).broadcast(shape))
        return copied

    def as_vector(self, array: Array) -> Array:
        """The array, or a copy, at the beginning of its buffer and without gaps between its elements."""
        if array.offset == 0 and array.flags.c_contiguous:
            return array
        copied = self.empty(array.shape, array.dtype)
        self.assign(copied, array)
        return copied

    def empty(self, shape: Shape, dtype: np.dtype) -> Array:
        return empty(self.queue, shape, dtype)

    def overlap(self, one: Any, other: Array) -> bool:
        """Whether two arrays live in buffers that share bytes."""
        return is_device_array(one) and overlap(one, other)

    def same_elements(self, one: Any, other: Array) -> bool:
        """Whether two arrays are the same elements at the same places."""
        return is_device_array(one) and same_elements(one, other)

    def assign(self, target: Array, source: Any) -> None:
        """Copy elements into `target`, converting them to its type. The two share no memory."""
        taken = source if is_device_array(source) else self.as_operand(source, target.dtype)
        self._copy(target, taken, self.view(taken))

    def _copy(self, target: Array, source: Array, seen: View) -> None:
        """Copy what is `seen` of `source` into `target`, converting it where their types differ."""
        key = ("assign", self.key, seen, self.signature(source), self.signature(target))
        call = call_for(self.device, key, lambda: self._prepare_copy(target, source, seen))
        self.run(call, {"input": source, "output": target}, "output", False)

    def _prepare_copy(self, target: Array, source: Array, seen: View) -> Call:
        if source.dtype == target.dtype:
            return strided_copy(self.device, seen, self.view(target), STANDS_FOR[target.dtype.itemsize])
        self.check_conversion(source.dtype, target.dtype)
        return converting_copy(self.device, seen, self.view(target), (source.dtype, target.dtype))

    def run(self, call: Call, arrays: Mapping[str, Array], output: str, reads_output: bool) -> None:
        """Enqueue after all that the arrays wait for, and have whoever uses them next wait for this."""
        waits = list(self._wait_for)
        for array in arrays.values():
            waits += array.events
        buffers = {name: array.base_data for name, array in arrays.items()}
        event = call.enqueue(buffers, self.queue, waits or None)
        if event is None:  # nothing to launch: the result is ready once all that it waits for is
            event = cl.enqueue_marker(self.queue, waits or None)
        leave_event(tuple(arrays.values()), event, self._pointer)

    def result(self, array: Array) -> Array:
        return array


Memory = HostMemory | DeviceMemory


def memory_for(values: Sequence[Any], device: Any, queue: Any, wait_for: Any) -> Memory:
    """Where a call runs: with any device array among the operands, on its queue or the one given; else on the host's
    default device, or the one named. LaunchFailed in a process that was forked from one that had used the driver."""
    if queue is not None:
        check_queue(queue)
    events = () if wait_for is None else check_events(wait_for)
    arrays = [value for value in values if isinstance(value, Array)]
    if device is not None and (arrays or queue is not None):
        other = "device arrays run where they are" if arrays else "the queue has one"
        raise InvalidInput(f"device={device!r} is for host operands without a queue; {other}")
    own = queue
    if arrays and own is None:
        own = next((array.queue for array in arrays if array.queue is not None), None)
        if own is None:
            raise InvalidInput("the PyOpenCL arrays have no queue; pass queue=")
    opened = default_device(device) if own is None else adopt(own)
    refuse_if_forked(opened.info.platform)
    if arrays:
        return DeviceMemory(opened, own, events)
    if events:
        cl.wait_for_events(events)  # host arrays are read by this call, whatever the device's queue does
    return HostMemory(opened, own)
