"""PyOpenCL arrays."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array, empty, to_device

from ...errors import InvalidInput
from ...runtime import forks
from ...runtime.opencl.adopted import adopt
from ...runtime.opencl.device import Device
from ..engine import Call
from ..shapes import Shape, View
from ..views import as_host_array, device_view, is_device_array
from .on_device import DeviceCopies
from .opencl_arrays import (
    KEPT_EVENTS,
    ORDER,
    check_writable,
    facts_of,
    is_of,
    leave_event,
    overlap,
    refuse_failed,
    same_elements,
)
from .opencl_ready import OpenCLReady
from .ready import REFUSED, Ready, Recipe


class OpenCLMemory(DeviceCopies):
    """PyOpenCL arrays. Nothing is copied, no call waits; events order the calls."""

    has_plain = True

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
        if value.context is not None and not self.is_here(value):
            raise InvalidInput(
                f"{name} ({value.shape} {value.dtype}) lies in another OpenCL context than the queue: copy it to that one"
            )
        facts_of(value)  # that it fits its buffer
        return value

    def is_here(self, array: Array) -> bool:
        """Whether the array is known to lie in this context."""
        return array.context is not None and bool(array.context.int_ptr == self._context)

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
    def run_plain(a: Array, b: Any, out: Any, asked: Hashable) -> Any:
        """The product by a ready call that is found by a short key; REFUSED if there is none, or only the general way can say."""
        queue = a.queue
        if forks.alert or type(queue) is not cl.CommandQueue:
            return REFUSED
        try:
            candidates = adopt(queue).per_thread.kept.plain[asked, a.shape, b.shape, out is None]
        except (AttributeError, KeyError, TypeError):  # b of another kind, or something that cannot be hashed
            return REFUSED
        for ready in candidates:
            result = ready.run_plain(a, b, out)
            if result is not REFUSED:
                return result
        return REFUSED

    @staticmethod
    def place_of(array: Array, device: Any, queue: Any) -> tuple[Device, Any] | None:
        own = array.queue if queue is None else queue
        return (adopt(own), own) if device is None and type(own) is cl.CommandQueue else None

    @staticmethod
    def key_of(array: Array) -> tuple[Any, ...]:
        return array.shape, array.strides, array.offset, array.dtype

    @staticmethod
    def layout_of(array: Array) -> tuple[Any, ...]:
        return array.shape, array.strides, array.dtype

    @staticmethod
    def one_place(one: Array, other: Array) -> bool:
        return one.base_data is other.base_data and one.offset == other.offset

    @staticmethod
    def settled(array: Array) -> bool:
        return bool(array.size)

    def ready(self, recipe: Recipe) -> Ready:
        return OpenCLReady(OpenCLMemory(self.device, self.queue, ()), recipe)

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
        buffers = {name: array.base_data for name, array in arrays.items()}
        self.enqueue(call, buffers, arrays.values())

    def enqueue(self, call: Call, buffers: Mapping[str, Any], arrays: Collection[Array]) -> None:
        """`run`, with the buffers and all arrays that the call reads or writes."""
        with ORDER.lock:
            waits = self.waits_for(arrays)
            event = call.enqueue(buffers, self.queue, waits)
            if event is None:  # nothing to launch: the result is ready after the events
                event = cl.enqueue_marker(self.queue, waits)
            self.leave(event, arrays)

    def launch(self, start: Callable[[list[Any] | None], Any], a: Array, b: Array, target: Array) -> None:
        """Launch after the events of three arrays, and leave the launch's event there. Called with the lock of the order."""
        left, first, second, third = self._left, a.events, b.events, target.events
        # Written out for what most calls find: a new result, and events of this queue alone.
        if (
            len(first) == len(second) == 1
            and id(first[0]) in left
            and id(second[0]) in left
            and (not third or (len(third) == 1 and id(third[0]) in left))
        ):
            event = start(None)
            first[0] = second[0] = event
            if third:
                third[0] = event
            else:
                third.append(event)
            self._keep(event)
        else:
            arrays = (a, b, target)
            self.leave(start(self.waits_for(arrays)), arrays)

    def waits_for(self, arrays: Collection[Array]) -> list[Any] | None:
        """The events that a launch must wait for, or None. Called with the lock of the order, as `leave` is then."""
        left, waits = self._left, self._wait_for
        for array in arrays:
            for event in array.events:
                if id(event) not in left and not is_of(event, self.queue) and event not in waits:
                    waits = [*waits, event]
        refuse_failed(waits)
        return waits or None

    def leave(self, event: Any, arrays: Collection[Array]) -> None:
        """Leave the event of a launch on its arrays."""
        left = self._left
        for array in arrays:
            events = array.events
            if not events:
                events.append(event)
            elif len(events) == 1 and id(events[0]) in left:
                events[0] = event
            else:
                leave_event(events, event, left, self.queue)
        self._keep(event)

    def _keep(self, event: Any) -> None:
        """Know the event as one of this queue, as long as it is one of the last."""
        left = self._left
        left[id(event)] = event
        if len(left) > KEPT_EVENTS:
            left.popitem(last=False)

    def result(self, array: Array) -> Array:
        return array

    def permuted(self, result: Any, order: Sequence[int]) -> Any:
        """A view of a result with its dimensions in another order."""
        return result.transpose(order)
