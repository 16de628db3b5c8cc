"""Copies between arrays of the host and buffers of a device with its own memory, through pinned memory.

A driver copies ordinary memory in pieces through pinned memory of its own, by one thread, one piece after the other. An H200
gets 2.8 GB/s in, and 1 GB/s out into pages that were never touched; from pinned memory it gets 54. So several threads copy
pieces of an array to pinned memory here, while the device copies the pieces before, and none waits for another.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from ..processors import usable_processors
from .copy_threads import MOST_THREADS, share, taken_from
from .device import Device, check
from .direct_copies import Begun, begin_write, ended, read_directly

READ, WRITE = cl.map_flags.READ, cl.map_flags.WRITE
PINNED = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
LEAST_PART = 256 * 2**10  # bytes: some 30 us of copying, more than the Python of a part
PAGE_BYTES = 4096
TOUCH_BYTES = PAGE_BYTES // 4  # NumPy lets other threads run in operations of more than 500 elements


def _usual_threads() -> int:
    """Half the processors that this process may use: copies wait for memory, and callers have work of their own."""
    return min(MOST_THREADS, max(1, usable_processors() // 2))


@dataclass(frozen=True)
class Limits:
    """How copies are divided. `python -m tools.host_copies --limits` measures around the first two."""

    plain_bytes: int = 64 * 2**10  # smaller arrays are copied by the driver: 23 us, less than events and pieces cost
    piece_bytes: int = 4 * 2**20  # a thread copies one in some 500 us, twenty times the Python for it; a thread has two
    share_bytes: int = 2 * 2**20  # another thread for each so many bytes: of 1, 2 and 4 MiB it was the fastest or even
    threads: int = _usual_threads()


USUAL = Limits()


class Part(NamedTuple):
    """A piece of an array, and where it begins in its buffer."""

    buffer: Any
    origin: int
    elements: np.ndarray


class _Piece:
    """Pinned bytes, and the device's last copy from or to them."""

    def __init__(self, pinned: np.ndarray) -> None:
        self._pinned = pinned
        self._event: Any = None

    def _settled(self, elements: np.ndarray) -> np.ndarray:
        """The piece as an array like `elements`, when the device has done with it. A failed copy is told once."""
        event, self._event = self._event, None  # dropping an event of PyOpenCL's transfers waits for it, too
        if event is not None:
            event.wait()
        return self._pinned[: elements.nbytes].view(elements.dtype).reshape(elements.shape)

    @property
    def pending(self) -> bool:
        """Whether the device's copy has yet to end."""
        return self._event is not None and self._event.command_execution_status > cl.command_execution_status.COMPLETE

    def write(self, part: Part, queue: Any) -> None:
        np.copyto(self._settled(part.elements), part.elements)
        pinned = self._pinned[: part.elements.nbytes]
        self._event = cl.enqueue_copy(queue, part.buffer, pinned, dst_offset=part.origin, is_blocking=False)
        queue.flush()  # the device begins

    def begin_read(self, part: Part, queue: Any) -> None:
        self._settled(part.elements)
        pinned = self._pinned[: part.elements.nbytes]
        self._event = cl.enqueue_copy(queue, pinned, part.buffer, src_offset=part.origin, is_blocking=False)
        queue.flush()

    def end_read(self, part: Part) -> None:
        np.copyto(part.elements, self._settled(part.elements))


Lane = tuple[_Piece, _Piece]  # of one thread: it copies one while the device copies the other


class Staging:
    """The pinned pieces of one thread that calls the library on one device, and the copies through them.

    Arrays are in the order of their buffers: C order, any strides, any alignment.
    """

    def __init__(self, device: Device, limits: Limits | None = None) -> None:
        self._device = device
        self._limits = limits or USUAL
        self._lanes: list[Lane] = []
        self._begun: Begun = []

    def write(self, queue: Any, copies: Sequence[tuple[Any, np.ndarray]]) -> None:
        """Enqueue copies of arrays to buffers, in order with what follows on `queue`.

        When this returns, all arrays have been read but pinned ones, which the device copies by itself until `read` returns.
        """
        copies = [each for each in copies if not self._began_directly(queue, *each)]
        staged = [each for each in copies if self._is_staged(each[1])]
        for buffer, array in copies:
            if array.nbytes and not self._is_staged(array):
                self._device.write(buffer, as_words(array), queue)
        total = sum(array.nbytes for _, array in staged)
        todo = deque(part for buffer, array in staged for part in self._parts(buffer, array, total))

        def work(lane: Lane) -> None:
            pieces = cycle(lane)
            while (part := taken_from(todo)) is not None:
                next(pieces).write(part, queue)

        if todo:
            with check(f"writing {total:,} bytes to {self._device.info.label}"):
                share(work, self._lanes_for(total), todo)

    def read(self, queue: Any, buffer: Any, array: np.ndarray) -> None:
        """Copy a buffer to an array after all commands in the queue, and wait."""
        if not self._is_staged(array) or not read_directly(self._device, queue, buffer, array):
            self._read_by_threads(queue, buffer, array)
        ended(self._device, self._begun)
        self.forget()

    def forget(self) -> None:
        """Keep no pinned array of a call whose queue has finished."""
        self._begun = []

    def _read_by_threads(self, queue: Any, buffer: Any, array: np.ndarray) -> None:
        if not self._is_staged(array):
            words = as_words(array)
            words[...] = self._device.read(buffer, words.size, words.dtype, 0, queue).reshape(words.shape)
            return
        todo = deque(self._parts(buffer, array, array.nbytes))
        lanes = self._lanes_for(array.nbytes)
        each = -(-len(todo) // len(lanes))  # what one thread may take before it is its turn
        touches = array.flags.c_contiguous and array.nbytes >= self._limits.share_bytes

        def work(lane: Lane) -> None:
            reading = deque((piece, part) for piece in lane[:each] if (part := taken_from(todo)) is not None)
            for piece, part in reading:
                piece.begin_read(part, queue)
            own = _touched(reading, todo, each) if touches and reading else deque()
            while reading:
                piece, part = reading.popleft()
                piece.end_read(part)
                if (following := taken_from(own) or taken_from(todo)) is not None:
                    piece.begin_read(following, queue)
                    reading.append((piece, following))

        with check(f"reading {array.nbytes:,} bytes from {self._device.info.label}"):
            share(work, lanes, todo)

    def _began_directly(self, queue: Any, buffer: Any, array: np.ndarray) -> bool:
        """Whether the device copies an array by itself, which it has begun then."""
        begun = begin_write(self._device, queue, buffer, array) if self._is_staged(array) else None
        self._begun += begun or []
        return begun is not None

    def _is_staged(self, array: np.ndarray) -> bool:
        """Whether an array is too large for the driver's own copy."""
        return array.nbytes >= max(self._limits.plain_bytes, 1)

    def _parts(self, buffer: Any, array: np.ndarray, total: int) -> list[Part]:
        """The array in parts of equal work for all threads, of which each fits a piece."""
        limits = self._limits
        most = max(-(-total // self._threads(total)), LEAST_PART)
        most = min(-(-most // PAGE_BYTES) * PAGE_BYTES, limits.piece_bytes)
        words = as_words(array)
        if words.flags.c_contiguous:
            words = words.reshape(-1)
        return list(divided(buffer, words, most))

    def _threads(self, nbytes: int) -> int:
        return max(1, min(self._limits.threads, nbytes // self._limits.share_bytes))

    def _lanes_for(self, nbytes: int) -> list[Lane]:
        """The pieces of each thread that copies so many bytes, pinned when they are first needed."""
        count, size = self._threads(nbytes), self._limits.piece_bytes
        while len(self._lanes) < count:
            with check(f"allocating {2 * size:,} bytes of pinned memory for {self._device.info.label}"):
                buffer = cl.Buffer(self._device.context, PINNED, 2 * size)
                mapped, _ = cl.enqueue_map_buffer(
                    self._device.plain_queue, buffer, READ | WRITE, 0, (2 * size,), np.dtype(np.uint8)
                )
            self._lanes.append((_Piece(mapped[:size]), _Piece(mapped[size:])))
        return self._lanes[:count]


def take_staging(device: Device) -> Staging:
    """This thread's pieces on a device, for one call until `keep_staging`.

    A destructor, or a signal's handler, that makes another call meanwhile gets pieces of its own.
    """
    kept: Staging | None = vars(device.per_thread).pop("staging", None)
    return kept or Staging(device)


def keep_staging(device: Device, staging: Staging) -> None:
    """Keep pieces for this thread's next call."""
    device.per_thread.staging = staging


def _touched(reading: deque[tuple[_Piece, Part]], todo: deque[Part], most: int) -> deque[Part]:
    """Parts that this thread takes, and whose pages it touches, as long as the device has nothing for it to copy.

    The system then provides pages of a new array during the product. That takes longer than copying to them.
    """
    own: deque[Part] = deque()
    begun = [part for _, part in reading]
    while reading[0][0].pending:
        if begun:
            part = begun.pop()
        elif len(own) + len(reading) < most and (following := taken_from(todo)) is not None:
            own.append(part := following)
        else:
            break
        some = part.elements[:: max(1, TOUCH_BYTES // part.elements.itemsize)]
        np.copyto(some, some.copy())  # they may hold something
    return own


def page_aligned(nbytes: int) -> np.ndarray:
    """New memory of the host, from the beginning of a page on. It takes a page more than `nbytes`."""
    memory = np.empty(nbytes + PAGE_BYTES, np.uint8)
    begin = -memory.__array_interface__["data"][0] % PAGE_BYTES
    return memory[begin : begin + max(nbytes, 1)]


def as_words(array: np.ndarray) -> np.ndarray:
    """The array with elements that NumPy copies without its interpreter's lock, whatever they mean."""
    return array.view(f"u{array.itemsize}") if array.itemsize in (1, 2, 4, 8) else array.view(f"V{array.itemsize}")


def divided(buffer: Any, array: np.ndarray, most: int, origin: int = 0) -> Iterator[Part]:
    """Parts of at most so many bytes: of whole sub-arrays of as many leading dimensions as fit. The first is at `origin`."""
    sides = array.shape or (1,)
    array = array.reshape(sides)
    side = next(place for place in range(len(sides)) if prod(sides[place + 1 :]) * array.itemsize <= most)
    inner = prod(sides[side + 1 :]) * array.itemsize
    rows = most // inner
    for number, outer in enumerate(product(*map(range, sides[:side]))):
        for begin in range(0, sides[side], rows):
            place = origin + (number * sides[side] + begin) * inner
            yield Part(buffer, place, array[outer][begin : begin + rows])
