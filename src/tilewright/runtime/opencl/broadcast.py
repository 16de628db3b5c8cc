"""Copies of arrays to several devices that need the same bytes at about the same time: threads copy them to pinned memory once.

The host's threads copy 35 to 45 GB/s, whoever wants the bytes, and each device copies up to 54 GB/s from pinned memory, whichever
device it was pinned for. On a host of four H100s with 64 processors the four together copied 152 GB/s that way. So where all
devices load one operand of a product, each by threads of its own, the threads are the limit: float32 of 32768 a side took four
GPUs 0.75 s, two 0.72.
"""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any

import numpy as np
import pyopencl as cl

from .conveyor import COPYING, parts_of
from .device import Device, check
from .pinned import PinnedRange
from .staging import Part

CHUNK_BYTES = 16 * 2**20  # that a device copies by one command: 0.3 ms, thirty times the Python for it
PIECE_BYTES = 4 * 2**20  # that a thread copies
AHEAD = 6  # chunks that a device's thread has asked for: with 3 four H100s took 647 ms for 567
KEPT = ("broadcast", 0)  # where a device keeps pinned memory for later calls: to pin 1 GiB takes 0.1 to 0.3 s


@dataclass(eq=False)
class Chunk:
    """Pinned memory, what is in it, and who uses it."""

    memory: np.ndarray | None = None  # pinned when it is first needed
    pinned: PinnedRange | None = None
    key: Hashable = None
    users: int = 0  # devices that have asked for it and not begun to copy it
    missing: int = 0  # pieces that threads have yet to copy; 1 more until all are in their hands
    error: BaseException | None = None
    loads: list[Any] = field(default_factory=list)  # events of devices' copies
    used: int = 0  # when it was asked for last, by a count


class Broadcast:
    """Chunks of pinned memory, for the threads of several devices that each load arrays of which the others load the same.

    A chunk that holds what a device wants is copied as it is. Otherwise what it wants replaces what was asked for longest ago. So
    devices that drift apart by more than all chunks lose nothing but time.
    """

    def __init__(self, device: Device, chunks: int) -> None:
        self._context = device.context  # for which memory is pinned; others copy from it as fast
        self._chunks = [Chunk() for _ in range(chunks)]
        self._changed = Condition()
        self._clock = 0

    @classmethod
    def begun(cls, device: Device, nbytes: int) -> "Broadcast":
        """Of at most so many bytes: that of a call before, if it was as large."""
        chunks = nbytes // CHUNK_BYTES
        kept: Broadcast | None = device.kept.pop(KEPT, None)  # no other call gets it
        return kept if kept is not None and len(kept._chunks) == chunks else cls(device, chunks)

    def keep(self, device: Device) -> None:
        """Keep pinned memory for the next call, when no device copies from it any more."""
        self._forget()
        device.kept[KEPT] = self

    def write(self, device: Device, queue: Any, buffer: Any, array: np.ndarray, key: Hashable) -> None:
        """Enqueue copies of an array to a buffer. Equal keys mean equal arrays. The array has been read when this returns."""
        asked: deque[tuple[Chunk, Part]] = deque()
        with check(f"writing {array.nbytes:,} bytes to {device.info.label}"):
            try:
                for number, part in enumerate(parts_of(buffer, array, CHUNK_BYTES)):
                    asked.append((self._ask((key, number), part.elements), part))
                    if len(asked) == AHEAD:
                        self._load(queue, *asked.popleft())
                while asked:
                    self._load(queue, *asked.popleft())
            finally:
                for chunk, _ in asked:
                    self._leave(chunk)

    def _forget(self) -> None:
        """Forget what chunks hold: the arrays may change."""
        for chunk in self._chunks:
            chunk.key, chunk.error = None, None
            chunk.loads.clear()

    def _ask(self, key: Hashable, elements: np.ndarray) -> Chunk:
        """A chunk in which the elements are, or will be soon. Whoever asks leaves it again."""
        with self._changed:
            self._clock += 1
            chunk = next((each for each in self._chunks if each.key == key), None)
            found = chunk is not None
            if chunk is None:
                chunk = self._free()
                chunk.key, chunk.missing, chunk.error = key, 1, None
            chunk.users, chunk.used = chunk.users + 1, self._clock
        if not found:
            self._fill(chunk, elements)
        return chunk

    def _free(self) -> Chunk:
        """The chunk without users that was asked for longest ago. There are more than all devices ask for at a time."""
        while True:
            free = [each for each in self._chunks if not each.users and not each.missing]
            if free:
                return min(free, key=lambda each: each.used)
            self._changed.wait()

    def _fill(self, chunk: Chunk, elements: np.ndarray) -> None:
        """Have threads copy the elements to a chunk, after the devices have copied what was there."""
        pieces: deque[Part] = deque()
        try:
            for event in chunk.loads:
                _settle(event)
            chunk.loads.clear()
            if chunk.memory is None:
                memory = np.empty(CHUNK_BYTES, np.uint8)
                chunk.pinned, chunk.memory = PinnedRange(self._context, memory), memory
            pieces.extend(parts_of(None, elements, PIECE_BYTES))
            with self._changed:
                chunk.missing += len(pieces)
            while pieces:
                COPYING.put(partial(self._copy, chunk, pieces[0]))
                pieces.popleft()
        except BaseException as error:
            chunk.error = error
            self._leave(chunk)
            raise
        finally:
            self._copied(chunk, 1 + len(pieces))

    def _copy(self, chunk: Chunk, piece: Part) -> None:
        """In a thread: copy a piece, and say so."""
        try:
            assert chunk.memory is not None
            elements = piece.elements
            some = chunk.memory[piece.origin : piece.origin + elements.nbytes]
            np.copyto(some.view(elements.dtype).reshape(elements.shape), elements)
        except BaseException as error:
            chunk.error = error
        self._copied(chunk, 1)

    def _copied(self, chunk: Chunk, pieces: int) -> None:
        """So many pieces are copied, or never will be."""
        with self._changed:
            chunk.missing -= pieces
            if chunk.error is not None:
                chunk.key = None  # nobody else asks for it
            self._changed.notify_all()

    def _load(self, queue: Any, chunk: Chunk, part: Part) -> None:
        """Enqueue a device's copy of a chunk that it has asked for, when it is full."""
        event = None
        try:
            with self._changed:
                while chunk.missing:
                    self._changed.wait()
            if chunk.error is not None:
                raise chunk.error
            assert chunk.memory is not None
            some = chunk.memory[: part.elements.nbytes]
            event = cl.enqueue_copy(queue, part.buffer, some, dst_offset=part.origin, is_blocking=False)
            queue.flush()
        finally:
            self._leave(chunk, event)

    def _leave(self, chunk: Chunk, event: Any = None) -> None:
        with self._changed:
            chunk.users -= 1
            if event is not None:
                chunk.loads.append(event)
            self._changed.notify_all()


def _settle(event: Any) -> None:
    """Wait for a device's copy. One that failed has ended, too: its device hears of it by what waits for the copy."""
    try:
        event.wait()
    except cl.Error:
        return
