"""What is asked of PyOpenCL's arrays: whose memory they share, whose queue and context, and which events they wait for."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from ..errors import InvalidInput, Unsupported
from .shapes import distinct
from .views import device_view

KEPT_EVENTS = 64  # of each queue: the last ones that calls have left on arrays
LARGEST_CHECKED = 2**24  # elements of an out whose dimensions are interleaved: their places are listed


def check_queue(queue: Any) -> None:
    """InvalidInput for what is no queue."""
    if not isinstance(queue, cl.CommandQueue):
        raise InvalidInput(f"queue is a {type(queue).__name__}; it is a pyopencl.CommandQueue")


def check_events(wait_for: Any) -> list[Any]:
    """The events that a caller wants a call to wait for; InvalidInput for anything else."""
    if not isinstance(wait_for, Sequence) or not all(isinstance(each, cl.Event) for each in wait_for):
        raise InvalidInput(f"wait_for={wait_for!r}: it is a list of pyopencl.Event")
    return list(wait_for)


def memory_of(array: Array) -> tuple[int, int, int]:
    """The allocation that an array lies in, and the bytes of it that the array's buffer spans: a sub-buffer is seen as a
    part of its parent. Shared virtual memory is one allocation of addresses."""
    base = array.base_data
    if base is None:
        return 0, 0, 0
    if isinstance(base, cl.SVMPointer):
        begin = int(base.svm_ptr)
        return -1, begin, begin + int(base.size or 0)
    parent = base.associated_memobject
    if parent is None:
        return base.int_ptr, 0, base.size
    return parent.int_ptr, base.offset, base.offset + base.size


def overlap(one: Array, other: Array) -> bool:
    """Whether two arrays live in buffers that share bytes: parts of one buffer are not told apart."""
    if one.base_data is None or other.base_data is None:
        return False
    if one.base_data is other.base_data:
        return True
    (first, begin, end), (second, other_begin, other_end) = memory_of(one), memory_of(other)
    return first == second and begin < other_end and other_begin < end


def same_elements(one: Array, other: Array) -> bool:
    """Whether two arrays are the same elements at the same places."""
    if one is other:
        return True
    if (one.shape, one.strides, one.dtype) != (other.shape, other.strides, other.dtype) or not overlap(one, other):
        return False
    return bool(memory_of(one)[1] + one.offset == memory_of(other)[1] + other.offset)


def check_writable(out: Array) -> None:
    """InvalidInput if kernels must not write there, or if two of its elements are one place in memory."""
    base = out.base_data
    if isinstance(base, cl.MemoryObjectHolder) and base.flags & cl.mem_flags.READ_ONLY:
        raise InvalidInput(f"out is read-only: its buffer was made with READ_ONLY, {out.shape} {out.dtype}")
    if not out.flags.forc and share_elements(out):
        raise InvalidInput(
            f"elements of out share memory: its shape is {out.shape}, its strides are {out.strides} bytes"
        )


def share_elements(array: Array) -> bool:
    """Whether two elements of an array are one place in memory."""
    view = device_view(array)
    if array.size < 2 or distinct(view):
        return False
    if array.size > LARGEST_CHECKED:
        raise Unsupported(
            f"out has {array.size:,} elements in interleaved dimensions; up to {LARGEST_CHECKED:,} are checked"
        )
    places = np.zeros((), np.int64)
    for side, stride in zip(view.shape, view.strides, strict=True):
        places = places[..., None] + np.arange(side, dtype=np.int64) * stride
    return bool(np.unique(places).size < array.size)


class _Left:
    """The events that calls have left on arrays, the last ones of each queue. They are held, so that an id is theirs alone."""

    def __init__(self) -> None:
        self._events: dict[int, OrderedDict[int, Any]] = {}
        self._lock = Lock()

    def leave(self, arrays: Sequence[Array], event: Any, queue: int) -> None:
        """Have everyone who uses the arrays next wait for `event`.

        It takes the place of earlier ones of the same queue, which finish before it. Else the list of a matrix that is
        read again and again would grow, and PyOpenCL waits for the oldest of a dozen.
        """
        with self._lock:
            own = self._events.setdefault(queue, OrderedDict())
            for array in arrays:
                events = array.events
                if events:
                    events[:] = [each for each in events if id(each) not in own]
            own[id(event)] = event
            if len(own) > KEPT_EVENTS:
                own.popitem(last=False)
            if len(self._events) > KEPT_EVENTS:
                del self._events[next(iter(self._events))]
        for array in arrays:
            if not any(each is event for each in array.events):  # views share the list of what they look at
                array.add_event(event)


leave_event = _Left().leave
