"""PyOpenCL arrays: shared memory, queues, and the events that they wait for."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

import pyopencl as cl
from pyopencl.array import Array

from ...errors import InvalidInput
from ..shapes import share_elements
from ..views import device_view

KEPT_EVENTS = 64  # events kept for each queue: the last ones that calls added to arrays


def check_queue(queue: Any) -> None:
    """InvalidInput for anything but a queue."""
    if not isinstance(queue, cl.CommandQueue):
        raise InvalidInput(f"queue is a {type(queue).__name__}; pass a pyopencl.CommandQueue")


def check_events(wait_for: Any) -> list[Any]:
    """`wait_for` as a list; InvalidInput for anything but a list of events."""
    if not isinstance(wait_for, Sequence) or not all(isinstance(each, cl.Event) for each in wait_for):
        raise InvalidInput(f"wait_for={wait_for!r}: pass a list of pyopencl.Event")
    return list(wait_for)


def memory_of(array: Array) -> tuple[int, int, int]:
    """An identifier of the array's allocation, and the first and last byte of its buffer in it.

    A sub-buffer is part of its parent. All shared virtual memory is one allocation.
    """
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
    """Whether the buffers of two arrays share bytes. Two parts of one buffer count as overlapping."""
    if one.base_data is None or other.base_data is None:
        return False
    if one.base_data is other.base_data:
        return True
    (first, begin, end), (second, other_begin, other_end) = memory_of(one), memory_of(other)
    return first == second and begin < other_end and other_begin < end


def same_elements(one: Array, other: Array) -> bool:
    """Whether two arrays have the same elements at the same addresses."""
    if one is other:
        return True
    if (one.shape, one.strides, one.dtype) != (other.shape, other.strides, other.dtype) or not overlap(one, other):
        return False
    return bool(memory_of(one)[1] + one.offset == memory_of(other)[1] + other.offset)


def check_writable(out: Array) -> None:
    """InvalidInput if the buffer is read-only, or if two elements have the same address."""
    base = out.base_data
    if isinstance(base, cl.MemoryObjectHolder) and base.flags & cl.mem_flags.READ_ONLY:
        raise InvalidInput(f"out ({out.shape} {out.dtype}) is read-only: its buffer was made with READ_ONLY")
    if not out.flags.forc and share_elements(device_view(out)):
        raise InvalidInput(
            f"elements of out share memory: its shape is {out.shape}, its strides are {out.strides} bytes"
        )


class _Left:
    """The last events of each queue that calls added to arrays. They are kept so that no other object gets their id."""

    def __init__(self) -> None:
        self._events: dict[int, OrderedDict[int, Any]] = {}
        self._lock = Lock()

    def leave(self, arrays: Sequence[Array], event: Any, queue: int) -> None:
        """Add `event` to the arrays: their next user waits for it.

        It replaces earlier events of the same queue, which complete before it. Otherwise the list of a matrix that is read
        many times would grow, and PyOpenCL waits for the oldest event of a dozen.
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
            if not any(each is event for each in array.events):  # a view shares the list of its base
                array.add_event(event)


leave_event = _Left().leave
