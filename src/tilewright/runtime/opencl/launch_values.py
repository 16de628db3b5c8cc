"""What a program gave to a kernel's parameters, and its reading: buffers are copied to the host before the launch."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any
from weakref import ref

import numpy as np

from ...core.captured import (
    BufferValue,
    CapturedKernel,
    CapturedLaunch,
    LocalValue,
    NullValue,
    RawValue,
    UnreadValue,
    Value,
)
from .image_values import copy_from_image, image_bytes, image_value, is_image, sampler_value

MOST_BYTES = 1 << 29  # of the buffers of one launch: more would take seconds to copy and to interpret
POLL_S = 0.0005
TOKEN = "_tilewright_alive"  # an attribute of buffers that ends with them


@dataclass(frozen=True)
class GivenBytes:
    """An argument by value."""

    data: bytes


@dataclass(frozen=True)
class GivenBuffer:
    """The handle of a buffer or an `image`. The object itself is not kept, so that a program frees its memory as before: `alive`
    says whether it still exists. None if PyOpenCL's version cannot tell; then `kept` holds it."""

    handle: int
    size: int
    alive: "ref[_Token] | None"
    kept: Any = None
    image: bool = False


@dataclass(frozen=True)
class GivenOther:
    """What needs no reading, or cannot be read."""

    value: Value


Given = GivenBytes | GivenBuffer | GivenOther


class _Token:
    """Lives as long as the buffer whose attribute it is: PyOpenCL's own objects take no weak references."""


def given_value(value: Any) -> Given:
    """What was given to `Kernel.set_arg`."""
    import pyopencl as cl

    if value is None:
        return GivenOther(NullValue())
    if isinstance(value, cl.LocalMemory):
        return GivenOther(LocalValue(value.size))
    if isinstance(value, cl.MemoryObjectHolder):
        return _given_buffer(value)
    if isinstance(value, cl.Sampler):
        return GivenOther(sampler_value(value))
    if hasattr(cl, "SVMPointer") and isinstance(value, cl.SVMPointer):
        return GivenOther(UnreadValue("is shared virtual memory (SVM), whose pointers are not followed; give a Buffer"))
    try:
        return GivenBytes(bytes(memoryview(value).cast("B")))
    except (TypeError, ValueError):
        return GivenOther(UnreadValue(f"is a {type(value).__name__}, which is not read"))


def _given_buffer(buffer: Any) -> GivenBuffer:
    image = is_image(buffer)
    try:
        token = vars(buffer).setdefault(TOKEN, _Token())
    except TypeError:  # no attributes
        return GivenBuffer(buffer.int_ptr, buffer.size, None, buffer, image)
    return GivenBuffer(buffer.int_ptr, buffer.size, ref(token), image=image)


@dataclass(frozen=True)
class PendingLaunch:
    """A launch that is about to be enqueued. `given` has what was set for each parameter, by its index."""

    kernel: CapturedKernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...]
    queue: Any
    count: int
    given: Mapping[int, Given]
    wait_for: Any

    def capture(self, patience: float) -> CapturedLaunch:
        """The launch with its values. Work that the program enqueued before is waited for, at most `patience` s."""
        handles = {each.handle: each for each in self.given.values() if isinstance(each, GivenBuffer)}
        total = sum(each.size for each in handles.values())
        reading = _Reading(self.queue, self.wait_for, monotonic() + patience, total)
        values = tuple(self._value(index, reading) for index in range(self.count))
        return CapturedLaunch(self.kernel, self.global_size, self.local_size, self.offset, values)

    def _value(self, index: int, reading: "_Reading") -> Value:
        given = self.given.get(index)
        if given is None:
            return UnreadValue("was set before watching began")
        if isinstance(given, GivenBytes):
            return RawValue(given.data)
        return reading.buffer(given) if isinstance(given, GivenBuffer) else given.value


_unfinished: list[Any] = []  # copies that were given up: the driver may still write to their arrays


class _Reading:
    """Copies buffers to the host, each of them once."""

    def __init__(self, queue: Any, wait_for: Any, until: float, total: int) -> None:
        self._queue, self._wait_for, self._until, self._total = queue, wait_for, until, total
        self._read: dict[int, Value] = {}

    def buffer(self, given: GivenBuffer) -> Value:
        if given.handle not in self._read:
            self._read[given.handle] = self._value(given)
        return self._read[given.handle]

    def _value(self, given: GivenBuffer) -> Value:
        import pyopencl as cl

        if self._total > MOST_BYTES:
            return UnreadValue(
                f"is one of the buffers of this launch, which hold {self._total:,} bytes; at most {MOST_BYTES:,} are read back"
            )
        what = "an image" if given.image else "a buffer"
        if given.alive is not None and given.alive() is None:
            return UnreadValue(f"is {what} that was released before the launch")
        made = cl.Image if given.image else cl.MemoryObject
        memory = given.kept or made.from_int_ptr(given.handle, True)
        host = np.empty(image_bytes(memory) if given.image else given.size, np.uint8)
        try:
            status = self._copied(host, memory)
        except cl.Error as error:
            return UnreadValue(f"is {what} that cannot be read back ({error})")
        if status > cl.command_execution_status.COMPLETE:
            return UnreadValue(f"is {what} whose contents did not arrive in time: the launch waits for other work")
        if status < cl.command_execution_status.COMPLETE:
            return UnreadValue(f"is {what} that cannot be read back (its copy ended with status {status})")
        if given.image:
            return image_value(memory, host)
        flags = memory.get_info(cl.mem_info.FLAGS)
        return BufferValue(host, given.handle, not flags & cl.mem_flags.READ_ONLY)

    def _copied(self, host: Any, memory: Any) -> int:
        """Copy a buffer: the status of the copy when it ended, or when time was over. A buffer that the host may not read is
        copied to one that it may read, first."""
        import pyopencl as cl

        copy = copy_from_image if is_image(memory) else cl.enqueue_copy
        try:
            done = copy(self._queue, host, memory, is_blocking=False, wait_for=self._wait_for)
        except cl.LogicError:
            if is_image(memory):
                raise
            other = cl.Buffer(self._queue.context, cl.mem_flags.READ_WRITE, host.nbytes)
            copied = cl.enqueue_copy(
                self._queue, other, memory, byte_count=host.nbytes, wait_for=self._wait_for
            )  # raises the error again if it has another reason
            done = cl.enqueue_copy(self._queue, host, other, is_blocking=False, wait_for=[copied])
        self._queue.flush()
        while (status := done.command_execution_status) > cl.command_execution_status.COMPLETE:
            if monotonic() > self._until:
                _unfinished.append((done, host))
                break
            sleep(POLL_S)
        return int(status)
