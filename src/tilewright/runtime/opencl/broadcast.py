"""Copies of one array to several devices at about the same time: threads copy it to pinned memory once, devices from there.

The host's threads copy 35 to 45 GB/s, whoever wants the bytes, and each device copies up to 54 GB/s from pinned memory, whichever
device it was pinned for. On a host of four H100s with 64 processors the four together copied 152 GB/s that way. So where all
devices load one operand of a product, each by threads of its own, the threads are the limit: float32 of 32768 a side took four
GPUs 0.77 s so, and 0.57 s this way.
"""

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import Any

import numpy as np
import pyopencl as cl

from .conveyor import COPYING, parts_of
from .device import Device, check
from .pinned import PinnedRange
from .staging import PAGE_BYTES, Part, page_aligned

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
    failed: bool = False
    loads: list[Any] = field(default_factory=list)  # events of devices' copies
    used: int = 0  # when it was asked for last, by a count


class Broadcast:
    """Chunks of pinned memory, for the threads of several devices that load the same arrays.

    A chunk that holds what a device wants is copied as it is. Otherwise what it wants replaces what was asked for longest ago. So
    devices that drift apart by more than all chunks lose nothing but time.
    """

    def __init__(self, device: Device, chunks: int) -> None:
        self._device = device  # for whose context memory is pinned; others copy from it as fast
        self._chunk_bytes = CHUNK_BYTES
        self._chunks = [Chunk() for _ in range(chunks)]
        self._changed = Condition()
        self._clock = 0
        self._broken = False

    @classmethod
    def begun(cls, devices: Sequence[Device], nbytes: int) -> "Broadcast":
        """For some devices, with at most `nbytes` of pinned memory: that of an earlier call, if one of them keeps it."""
        chunks = nbytes // CHUNK_BYTES
        kept = [each.kept.pop(KEPT, None) for each in devices]  # no other call gets it
        found: Broadcast | None = next((each for each in kept if each and each._chunk_bytes == CHUNK_BYTES), None)
        if found is None:
            return cls(devices[0], chunks)
        found._chunks = [*found._chunks[:chunks], *(Chunk() for _ in range(chunks - len(found._chunks)))]
        return found

    def keep(self) -> None:
        """Keep pinned memory for the next call, when no device copies from it any more, and forget what is in it."""
        if self._broken:
            return
        for chunk in self._chunks:
            chunk.key = None
            chunk.loads.clear()
        self._device.kept[KEPT] = self

    def write(self, device: Device, queue: Any, buffer: Any, array: np.ndarray, key: Hashable) -> bool:
        """Enqueue copies of an array to a buffer. Equal keys mean equal arrays. The array has been read when this returns.

        False if memory could not be pinned or filled, for this device or another one: then the array is to be copied in another
        way, which will tell what is wrong if it still is.
        """
        asked: deque[tuple[Chunk, Part]] = deque()
        with check(f"writing {array.nbytes:,} bytes to {device.info.label}"):
            try:
                for number, part in enumerate(parts_of(buffer, array, self._chunk_bytes)):
                    if self._broken:
                        break
                    asked.append((self._ask((key, number), part.elements), part))
                    if len(asked) == AHEAD:
                        self._load(queue, *asked.popleft())
                while asked:
                    self._load(queue, *asked.popleft())
            finally:
                for chunk, _ in asked:
                    self._await(chunk)
                    self._leave(chunk)
        return not self._broken

    def _ask(self, key: Hashable, elements: np.ndarray) -> Chunk:
        """A chunk in which the elements are, or will be soon. Whoever asks leaves it again."""
        with self._changed:
            while True:
                chunk = next((each for each in self._chunks if each.key == key), None)
                found = chunk is not None
                chunk = chunk or self._free()
                if chunk is not None:
                    break
                self._changed.wait()
            if not found:
                chunk.key, chunk.missing, chunk.failed = key, 1, False
            self._clock += 1
            chunk.users, chunk.used = chunk.users + 1, self._clock
        if not found:
            self._fill(chunk, elements)
        return chunk

    def _free(self) -> Chunk | None:
        """The chunk without users that was asked for longest ago. There are more chunks than all devices ask for at a time."""
        free = [each for each in self._chunks if not each.users and not each.missing]
        return min(free, key=lambda each: each.used, default=None)

    def _fill(self, chunk: Chunk, elements: np.ndarray) -> None:
        """Have threads copy the elements to a chunk, after the devices have copied what was there."""
        pieces: deque[Part] = deque()
        left = 1
        try:
            for event in chunk.loads:
                _settle(event)
            chunk.loads.clear()
            if chunk.memory is None:
                self._pin(chunk)
            pieces.extend(parts_of(None, elements, PIECE_BYTES))
            with self._changed:
                chunk.missing += len(pieces)
            left += len(pieces)
            while pieces:
                COPYING.put(partial(self._copy, chunk, pieces[0]))
                pieces.popleft()
                left -= 1
        except Exception:  # such as no memory to pin, a device that was lost, no threads: as in `_copy`
            self._fail(chunk)
        finally:
            self._copied(chunk, left)

    def _pin(self, chunk: Chunk) -> None:
        memory = page_aligned(-(-self._chunk_bytes // PAGE_BYTES) * PAGE_BYTES)  # no other range is pinned in its pages
        chunk.pinned, chunk.memory = PinnedRange(self._device.context, memory), memory

    def _copy(self, chunk: Chunk, piece: Part) -> None:
        """In a thread: copy a piece, and say so."""
        try:
            assert chunk.memory is not None
            elements = piece.elements
            some = chunk.memory[piece.origin : piece.origin + elements.nbytes]
            np.copyto(some.view(elements.dtype).reshape(elements.shape), elements)
        except BaseException:  # who waits copies the array in another way, which tells of it
            self._fail(chunk)
        self._copied(chunk, 1)

    def _fail(self, chunk: Chunk) -> None:
        with self._changed:
            chunk.failed, chunk.key, self._broken = True, None, True

    def _copied(self, chunk: Chunk, pieces: int) -> None:
        """Threads have copied a number of pieces, or never will."""
        with self._changed:
            chunk.missing -= pieces
            self._changed.notify_all()

    def _await(self, chunk: Chunk) -> None:
        with self._changed:
            while chunk.missing:
                self._changed.wait()

    def _load(self, queue: Any, chunk: Chunk, part: Part) -> None:
        """Enqueue a device's copy of a chunk that it has asked for, when it is full."""
        event = None
        try:
            self._await(chunk)
            if not chunk.failed:
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
