"""PyOpenCL arrays: shared memory, queues, and the events that they wait for."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any
from weakref import ref

import pyopencl as cl
from pyopencl.array import Array
from pyopencl.tools import PooledBuffer

from ...errors import InvalidInput, LaunchFailed, quoted
from ...runtime.opencl.device import check
from ...runtime.opencl.error_codes import error_sentence
from ..shapes import share_elements
from ..views import device_view

WHOLE = (cl.Buffer, PooledBuffer)  # kinds of buffers, if they are no part of another
KEPT_EVENTS = 64  # queues, and events of each: the last ones that calls left on arrays


def check_queue(queue: Any) -> None:
    """InvalidInput for anything but a queue."""
    if not isinstance(queue, cl.CommandQueue):
        raise InvalidInput(f"queue is a {type(queue).__name__}; pass a pyopencl.CommandQueue")


def check_events(wait_for: Any) -> list[Any]:
    """`wait_for` as a list; InvalidInput for anything but a list of events."""
    # Python cannot go through memoryviews of several dimensions, which are sequences, too.
    listed = isinstance(wait_for, Sequence) and not isinstance(wait_for, memoryview | str | bytes)
    if not listed or not all(isinstance(each, cl.Event) for each in wait_for):
        raise InvalidInput(f"wait_for={quoted(wait_for)}: pass a list of pyopencl.Event")
    return list(wait_for)


def refuse_failed(events: Iterable[Any]) -> None:
    """LaunchFailed if a command that a call waits for has failed.

    Intel's driver never runs a launch after it, and says that the launch is complete.
    """
    for event in events:
        with check("asking for the status of an event"):
            status = event.command_execution_status
        if status < 0:
            raise LaunchFailed(
                f"a command that the call waits for has failed: {error_sentence(status)}; make what it should have made, "
                "and pass the event of that",
                status,
            )


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


@dataclass(frozen=True, slots=True)  # read in less time than a tuple with names
class Facts:
    """What the driver says of an array's buffer. Asking it takes longer than the rest of a call's checks."""

    base: Any
    pointer: int  # 0 for all but whole buffers
    writable: bool
    array: Any  # a weak reference: the facts go with the array


_facts: dict[int, Facts] = {}


def facts_of(array: Array) -> Facts:
    """What is known of the array's buffer. It is looked up once for each array object.

    InvalidInput if the buffer does not have all of its elements.
    """
    base, key = array.base_data, id(array)
    known = _facts.get(key)
    if known is None or known.base is not base:
        _check_span(array, base)
        whole = type(base) in WHOLE and base.associated_memobject is None
        forget = ref(array, lambda _: _facts.pop(key, None))
        known = _facts[key] = Facts(base, base.int_ptr if whole else 0, not is_read_only(base), forget)
    return known


def _check_span(array: Array, base: Any) -> None:
    """InvalidInput for an array that was made of a buffer that is too small: kernels would touch what lies beside it."""
    nbytes = getattr(base, "size", None)
    if nbytes is None or not array.size:
        return
    reach = [(side - 1) * stride for side, stride in zip(array.shape, array.strides, strict=True)]
    first = array.offset + sum(step for step in reach if step < 0)
    last = array.offset + sum(step for step in reach if step > 0) + array.dtype.itemsize
    if first < 0 or last > nbytes:
        raise InvalidInput(
            f"an array ({array.shape} {array.dtype}, strides {array.strides}, offset {array.offset}) spans the bytes {first:,} "
            f"to {last:,} of a buffer of {nbytes:,}"
        )


def overlap(one: Array, other: Array) -> bool:
    """Whether the buffers of two arrays share bytes. Two parts of one buffer count as overlapping."""
    base, other_base = one.base_data, other.base_data
    if base is None or other_base is None:
        return False
    if base is other_base:
        return True
    (first, begin, end), (second, other_begin, other_end) = memory_of(one), memory_of(other)
    return first == second and begin < other_end and other_begin < end


def may_be_written(out: Array, operands: Iterable[Array]) -> bool:
    """Whether kernels that read the operands may write to `out`: it shares no memory with them, and is not read-only."""
    written = facts_of(out)
    pointer = written.pointer
    for array in operands:
        # `facts_of` for all but new arrays: a function takes a sixth of what is done here
        known = _facts.get(id(array))
        other = known.pointer if known is not None and known.base is array.base_data else facts_of(array).pointer
        if (other == pointer or not other or not pointer) and overlap(array, out):
            return False
    return written.writable


def are_apart(out: Array, a: Array, b: Array) -> bool:
    """Whether it is known that kernels which read `a` and `b` may write to `out`: what `may_be_written` finds of most arrays, in
    half of its time. It knows of all others."""
    known, left, right = _facts.get(id(out)), _facts.get(id(a)), _facts.get(id(b))
    if known is None or left is None or right is None:
        return False
    if known.base is not out.base_data or left.base is not a.base_data or right.base is not b.base_data:
        return False
    pointer, first, second = known.pointer, left.pointer, right.pointer
    if not pointer or not first or not second:  # parts of buffers, and shared virtual memory
        return False
    return first != pointer != second and known.writable


def same_elements(one: Array, other: Array) -> bool:
    """Whether two arrays have the same elements at the same addresses."""
    if one is other:
        return True
    if (one.shape, one.strides, one.dtype) != (other.shape, other.strides, other.dtype) or not overlap(one, other):
        return False
    return bool(memory_of(one)[1] + one.offset == memory_of(other)[1] + other.offset)


def is_read_only(base: Any) -> bool:
    """Whether a buffer was made for reading alone."""
    return isinstance(base, cl.MemoryObjectHolder) and bool(base.flags & cl.mem_flags.READ_ONLY)


def check_writable(out: Array) -> None:
    """InvalidInput if the buffer is read-only, or if two elements have the same address."""
    if is_read_only(out.base_data):
        raise InvalidInput(f"out ({out.shape} {out.dtype}) is read-only: its buffer was made with READ_ONLY")
    if not out.flags.forc and share_elements(device_view(out)):
        raise InvalidInput(
            f"elements of out share memory: its shape is {out.shape}, its strides are {out.strides} bytes"
        )


class _Order:
    """Who waits for whom: the last events of each queue that calls left on arrays, and one lock.

    The lock is held from the look at the arrays' events to the new event on all arrays. Without it another thread's
    call could be enqueued after this one, and lose its event on an array that both use.
    """

    def __init__(self) -> None:
        self.lock = RLock()  # a destructor that runs inside may make a call of its own
        # They are kept so that no other object gets their id, by which they are known: asking for an event's queue is slow.
        self._left: OrderedDict[int, OrderedDict[int, Any]] = OrderedDict()

    def left_on(self, pointer: int) -> OrderedDict[int, Any]:
        """The last events of a queue, given by its pointer, that calls left on arrays."""
        with self.lock:
            left = self._left.get(pointer)
            if left is None:
                left = self._left[pointer] = OrderedDict()
                if len(self._left) > KEPT_EVENTS:
                    self._left.popitem(last=False)
            return left


ORDER = _Order()


def leave_event(events: list[Any], event: Any, left: Mapping[int, Any], queue: Any) -> None:
    """Put `event`, the last of its queue, in the place of all earlier ones of that queue.

    Otherwise the list of a matrix that is used many times would grow, and PyOpenCL waits for the oldest event of a dozen.
    """
    if len(events) == 1 and id(events[0]) in left:
        events[0] = event
    elif not events or events[-1] is not event:  # a view shares the list of its base
        events[:] = [each for each in events if id(each) not in left and not _passed(each, queue)]
        events.append(event)


def is_of(event: Any, queue: Any) -> bool:
    """Whether the event belongs to the queue. The user's own events belong to none."""
    try:
        return bool(event.command_queue == queue)
    except cl.Error:  # Intel's runtime does not keep the queue of an event
        return False


def _passed(event: Any, queue: Any) -> bool:
    """Whether nobody needs the event any more: it is complete, or a later one of its queue stands for it.

    Events that the user sets are the user's. PyOpenCL's events of transfers wait in their destructor, so they stay until then.
    """
    if isinstance(event, cl.UserEvent):
        return False
    if event.command_execution_status <= cl.command_execution_status.COMPLETE:
        return True
    return type(event) is cl.Event and is_of(event, queue)
