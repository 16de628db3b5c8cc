"""The memory that a call's arrays lie in: the host's or a device's. It converts operands, binds buffers and returns results."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array, empty, to_device

from ..core.types import DOUBLES
from ..errors import InvalidInput, Unsupported
from ..kernels.copy.copy_nd import SPELLED
from ..runtime.forks import refuse_if_forked
from ..runtime.opencl.device import Device, adopt
from .copy_calls import STANDS_FOR, converting_copy, strided_copy
from .device_arrays import check_events, check_queue, check_writable, leave_event, overlap, same_elements
from .engine import Call, call_for, default_device
from .shapes import Shape, View, distinct
from .views import as_host_array, device_view, host_view, is_device_array, lent_buffer, whole_elements


class HostMemory:
    """NumPy arrays. A CPU device uses their memory; for others they are copied to the device and back."""

    def __init__(self, device: Device, queue: Any) -> None:
        self.device = device
        self.queue = queue or device.plain_queue
        self.shares_memory = device.info.kind == "cpu"
        self.key = ("host", id(device), self.queue.int_ptr)

    def as_array(self, value: Any, name: str) -> np.ndarray:
        """The caller's value as an array of any type and layout. `name` is the argument's, for errors."""
        return as_host_array(value, name)

    def as_operand(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The operand in that type and in a layout that kernels can read: dense if it must be copied to a device."""
        if array.dtype != dtype:
            array = array.astype(dtype)
        if whole_elements(array) and (self.shares_memory or array.flags.forc):
            return array
        return np.array(array, order="C", copy=True)

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """NumPy has all conversions that the rules allow."""

    def as_out(self, out: Any) -> np.ndarray:
        """The caller's array for the result. InvalidInput if it is not a NumPy array, or read-only."""
        if not isinstance(out, np.ndarray):
            raise InvalidInput(f"out is a {type(out).__name__}; for NumPy operands, pass a NumPy array")
        if not out.flags.writeable:
            raise InvalidInput(f"out ({out.shape} {out.dtype}) is read-only: pass a writable array")
        return as_host_array(out, "out")

    def writable_by_kernels(self, out: np.ndarray) -> bool:
        """Whether kernels can write to the array's own memory."""
        if not whole_elements(out):
            return False
        return out.flags.forc or (self.shares_memory and distinct(host_view(out)[0]))

    def signature(self, array: np.ndarray | None) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.dtype)

    def view(self, array: np.ndarray) -> View:
        return host_view(array)[0]

    def dense(self, array: np.ndarray, shape: Shape) -> np.ndarray:
        """The array broadcast to a shape, as a dense copy."""
        return np.array(np.broadcast_to(array, shape), order="C", copy=True)

    def as_vector(self, array: np.ndarray) -> np.ndarray:
        """The array, or a copy, with contiguous elements."""
        return np.ascontiguousarray(array)

    def empty(self, shape: Shape, dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    def overlap(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the byte ranges of two arrays overlap. Interleaved arrays count as overlapping: the exact test is slow."""
        return np.may_share_memory(one, other)

    def same_elements(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two arrays have the same elements at the same addresses."""
        if one is other:
            return True
        begins = (each.__array_interface__["data"][0] for each in (one, other))
        return len(set(begins)) == 1 and self.signature(one) == self.signature(other)

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        """Copy elements into `target` and convert them to its type. The rules have allowed the conversion."""
        np.copyto(target, source, casting="unsafe")

    def run(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """Run and wait: the result is in `arrays[output]`. After it has returned or raised, nothing is written."""
        if not self.shares_memory:
            self._run_on_copies(call, arrays, output, reads_output)
            return
        context = self.device.context
        buffers = {name: lent_buffer(context, array) for name, array in arrays.items()}
        try:
            call.enqueue(buffers, self.queue)  # with an event: without one Intel's CPU runtime takes 4 us more
            self.device.finish("a call on host arrays", self.queue)
        except BaseException:
            self._finish_before_raising()
            raise

    def _finish_before_raising(self) -> None:
        """Wait for running launches, also after Ctrl-C: they write to memory that the caller may free."""
        while True:
            try:
                self.queue.finish()
                return
            except KeyboardInterrupt:
                continue
            except cl.Error:  # the error that is being raised is the cause
                return

    def _run_on_copies(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """The same on a device with separate memory."""
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
        """The array; a 0-d one as a NumPy scalar."""
        return array if array.ndim else array[()]


class DeviceMemory:
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

    def as_operand(self, array: Any, dtype: np.dtype) -> Array:
        """The operand in that type, in a buffer of this context."""
        if isinstance(array, np.ndarray):
            array = array if array.dtype == dtype else array.astype(dtype)
            return to_device(self.queue, np.ascontiguousarray(array))
        return array if array.dtype == dtype else self._cast(array, dtype)

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """Unsupported if no kernel has the conversion. Called before anything is enqueued."""
        if source == target:
            return
        if not source.isnative:
            raise Unsupported(f"a device array is byte-swapped ({source}): swap its bytes on the host")
        for name in (source.name, target.name):
            if name not in SPELLED:
                raise Unsupported(f"no kernel converts {source} to {target} on a device: pass operands of one type")
            if name in DOUBLES and not self.device.info.fp64:
                raise Unsupported(f"{self.device.info.label} has no fp64, which {name} needs")

    def _cast(self, array: Array, dtype: np.dtype) -> Array:
        """A dense copy of the array in another type."""
        self.check_conversion(array.dtype, dtype)
        converted = self.empty(array.shape, dtype)
        self._copy(converted, array, self.view(array))
        return converted

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

    def dense(self, array: Array, shape: Shape) -> Array:
        """The array broadcast to a shape, as a dense copy."""
        copied = self.empty(shape, array.dtype)
        self._copy(copied, array, self.view(array).broadcast(shape))
        return copied

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

    def assign(self, target: Array, source: Any) -> None:
        """Copy elements into `target` and convert them to its type. The arrays share no memory."""
        taken = source if is_device_array(source) else self.as_operand(source, target.dtype)
        self._copy(target, taken, self.view(taken))

    def _copy(self, target: Array, source: Array, seen: View) -> None:
        """Copy the elements of `source` in the view `seen` into `target`, and convert them if the types differ."""
        key = ("assign", self.key, seen, self.signature(source), self.signature(target))
        call = call_for(self.device, key, lambda: self._prepare_copy(target, source, seen))
        self.run(call, {"input": source, "output": target}, "output", False)

    def _prepare_copy(self, target: Array, source: Array, seen: View) -> Call:
        if source.dtype == target.dtype:
            return strided_copy(self.device, seen, self.view(target), STANDS_FOR[target.dtype.itemsize])
        self.check_conversion(source.dtype, target.dtype)
        return converting_copy(self.device, seen, self.view(target), (source.dtype, target.dtype))

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


Memory = HostMemory | DeviceMemory


def memory_for(values: Sequence[Any], device: Any, queue: Any, wait_for: Any) -> Memory:
    """The memory of a call: DeviceMemory if any operand is a device array, otherwise HostMemory.

    A call runs on `queue`, or on the first device array's queue, or on `device`, or on the default device.
    LaunchFailed in a process that was forked after its parent had used the driver.
    """
    if queue is not None:
        check_queue(queue)
    events = () if wait_for is None else check_events(wait_for)
    arrays = [value for value in values if isinstance(value, Array)]
    if device is not None and (arrays or queue is not None):
        other = "device arrays have one" if arrays else "the queue has one"
        raise InvalidInput(f"device={device!r} is for host operands without a queue; {other}, so leave it out")
    own = queue
    if arrays and own is None:
        own = next((array.queue for array in arrays if array.queue is not None), None)
        if own is None:
            raise InvalidInput("the PyOpenCL arrays have no queue: pass queue=")
    opened = default_device(device) if own is None else adopt(own)
    refuse_if_forked(opened.info.platform)
    if arrays:
        return DeviceMemory(opened, own, events)
    if events:
        cl.wait_for_events(events)  # the host may read the arrays in this call
    return HostMemory(opened, own)
