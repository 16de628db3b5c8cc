"""Copies of large arrays to or from a device: threads fill or empty pinned pieces, and one thread alone calls the driver.

Where each copying thread enqueues its own pieces and waits for them (staging.py), many threads are slower than few. On a machine
with two H100s and 32 processors, where NumPy alone copies 60 GB/s by 12 threads, 28 such threads loaded some 10 GB/s for a
product in tiles, and 8 threads 22. This way 8 threads load 24 to 30 GB/s and 16 threads 33, beside what is stored. Why is not
known: calls of the driver and the interpreter's lock may wait for each other.

All conveyors of a process share the threads that copy, which take pieces in the order of their coming. Loads and stores had 8
and 3 threads of their own on 16 processors: one group stood still while only the other had work. Float16 of 32768 a side in tiles
took an H100 0.30 s that way, and 0.19 s with 12 threads for both (8 threads: 0.22 s, 16: 0.20 s).
"""

from collections import deque
from collections.abc import Iterator
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from ..processors import usable_processors
from .copy_threads import Helpers
from .device import Device, check
from .staging import PINNED, READ, WRITE, Part, as_words, divided

# Those that call the driver need processors, too: threads of more processors than there are cost time.
THREADS = min(16, max(1, usable_processors() * 3 // 4))

COPYING = Helpers(THREADS)  # for all conveyors


class Size(NamedTuple):
    """How many pieces of pinned memory there are at most, and the bytes of each."""

    pieces: int
    piece_bytes: int

    @property
    def nbytes(self) -> int:
        return self.pieces * self.piece_bytes


class _Copied(NamedTuple):
    """What a thread has done."""

    pinned: np.ndarray
    part: Part
    error: BaseException | None


Copies = SimpleQueue[_Copied]


class Conveyor:
    """For one direction and one thread that calls it. Arrays are in the order of their buffers: C order, any strides."""

    def __init__(self, device: Device, size: Size) -> None:
        self._device, self._size = device, size
        self._idle: list[np.ndarray] = []
        self._pinned = 0
        self._moving: deque[tuple[Any, np.ndarray]] = deque()  # to the device, in the order of its queue

    def write(self, queue: Any, buffer: Any, array: np.ndarray, origin: int = 0) -> None:
        """Enqueue copies of an array to a buffer from byte `origin` on. The array has been read when this returns."""
        todo = deque(parts_of(buffer, array, self._size.piece_bytes, origin))
        filled: Copies = SimpleQueue()
        filling = 0
        with check(f"writing {array.nbytes:,} bytes to {self._device.info.label}"):
            try:
                while todo or filling:
                    while todo and (pinned := self._free(wait=not filling)) is not None:
                        COPYING.put(partial(_copy, pinned, todo.popleft(), filled, True))
                        filling += 1
                    pinned, part, error = filled.get()
                    filling -= 1
                    if error is not None:
                        self._idle.append(pinned)
                        try:
                            raise error
                        finally:
                            del error  # or it would know itself by its own traceback, and keep the caller's arrays
                    self._moving.append((self._begun(queue, pinned, part, True), pinned))
            finally:
                self._idle += [filled.get().pinned for _ in range(filling)]

    def read(self, queue: Any, buffer: Any, array: np.ndarray, origin: int = 0) -> None:
        """Copy a buffer from byte `origin` on to an array after all commands in the queue, and wait."""
        todo = deque(parts_of(buffer, array, self._size.piece_bytes, origin))
        reading: deque[tuple[Any, np.ndarray, Part]] = deque()
        emptied: Copies = SimpleQueue()
        emptying = 0
        with check(f"reading {array.nbytes:,} bytes from {self._device.info.label}"):
            try:
                while todo or reading or emptying:
                    while todo and (pinned := self._free(wait=False)) is not None:
                        part = todo.popleft()
                        reading.append((self._begun(queue, pinned, part, False), pinned, part))
                    if reading:
                        event, pinned, part = reading.popleft()
                        event.wait()
                        COPYING.put(partial(_copy, pinned, part, emptied, False))
                        emptying += 1
                    while emptying and (not emptied.empty() or not reading):
                        pinned, part, error = emptied.get()
                        emptying -= 1
                        self._idle.append(pinned)
                        if error is not None:
                            try:
                                raise error
                            finally:
                                del error
                        if todo:
                            break
            finally:
                self._idle += [emptied.get().pinned for _ in range(emptying)]
                for event, pinned, _ in reading:
                    event.wait()
                    self._idle.append(pinned)

    def _begun(self, queue: Any, pinned: np.ndarray, part: Part, writes: bool) -> Any:
        """The event of the device's copy of a piece, which it begins."""
        some = pinned[: part.elements.nbytes]
        try:
            if writes:
                event = cl.enqueue_copy(queue, part.buffer, some, dst_offset=part.origin, is_blocking=False)
            else:
                event = cl.enqueue_copy(queue, some, part.buffer, src_offset=part.origin, is_blocking=False)
        except BaseException:
            self._idle.append(pinned)
            raise
        queue.flush()
        return event

    def _free(self, wait: bool) -> np.ndarray | None:
        """A piece that nobody uses; None if there is none, unless this is to `wait` for the device's oldest copy."""
        if self._idle:
            return self._idle.pop()
        if self._pinned < self._size.pieces:
            made = self._new_piece()
            self._pinned += 1
            return made
        if not self._moving:
            return None
        event, pinned = self._moving[0]
        if not wait and event.command_execution_status > cl.command_execution_status.COMPLETE:
            return None
        self._moving.popleft()
        event.wait()  # a failed copy is told here
        return pinned

    def _new_piece(self) -> np.ndarray:
        nbytes = self._size.piece_bytes
        with check(f"allocating {nbytes:,} bytes of pinned memory for {self._device.info.label}"):
            buffer = cl.Buffer(self._device.context, PINNED, nbytes)
            queue = self._device.plain_queue
            mapped: np.ndarray
            mapped, _ = cl.enqueue_map_buffer(queue, buffer, READ | WRITE, 0, (nbytes,), np.dtype(np.uint8))
        return mapped


def parts_of(buffer: Any, array: np.ndarray, most: int, origin: int = 0) -> Iterator[Part]:
    """An array in C order in parts of at most so many bytes, with their places in a buffer from byte `origin` on."""
    words = as_words(array)
    if words.flags.c_contiguous:
        words = words.reshape(-1)
    return divided(buffer, words, most, origin) if words.size else iter(())


def _copy(pinned: np.ndarray, part: Part, done: Copies, fills: bool) -> None:
    """In a thread: fill a piece, or empty it."""
    error = None
    try:
        elements = part.elements
        some = pinned[: elements.nbytes].view(elements.dtype).reshape(elements.shape)
        np.copyto(*((some, elements) if fills else (elements, some)))
    except BaseException as found:
        error = found
    done.put(_Copied(pinned, part, error))
    del error
