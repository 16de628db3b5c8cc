"""Where tiles lie on a device, and how they get there and back: in the host's memory, or through pinned memory."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

import numpy as np
import pyopencl as cl

from ...errors import InvalidInput
from ...runtime.opencl.conveyor import Conveyor, Size
from ...runtime.opencl.device import Device, check
from ...runtime.processors import usable_processors
from ..views import lent_buffer
from .budget import Ledger
from .matrices import Matrix, Part
from .schedule import Stopped

PAGE_BYTES = 4096
LEAST_PIECE = 64 * 2**10
SLAB_BYTES = 32 * 2**20  # of a tile that is read from a file, or written to one, at a time
LEAST_SLAB = 2**20
PAIR = "staging in both directions"  # by which a device keeps it
# The threads that fill pinned memory and empty it for one device: products load more than they store. Float16 of 44,544 a side in
# tiles took an H100 with 32 processors 0.63 s by 8 and 3 threads, 0.56 by 12 and 4, 0.47 by 16 and 6, all with pieces of 8 MiB;
# with 4 MiB 0.57 by 8 and 3, 0.52 by 12 and 4. Of two devices each loads by
# half of the processors at most: 0.22 s there, and not 0.26, for float16 of 32768 a side.
THREADS = min(16, max(1, usable_processors() // 2)), min(6, max(1, usable_processors() * 3 // 16))
PIECE_BYTES = 4 * 2**20


@dataclass(eq=False)
class Slot:
    """A buffer of a device, what is in it, and how many steps use it."""

    buffer: Any
    host: np.ndarray | None
    nbytes: int
    key: Hashable = None
    users: int = 0
    filled: Any = None  # the event after which it is
    used: int = 0  # when it was taken last, by a count


class Slots:
    """The buffers of one kind. Those with wanted contents are taken as they are, then the one that was used longest ago."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._changed = Condition()
        self._closed = False
        self._clock = 0

    def take(self, key: Hashable) -> tuple[Slot, bool]:
        """A buffer for what `key` names, and whether it must be filled. Waits until no step uses one."""
        with self._changed:
            while True:
                if self._closed:
                    raise Stopped
                found = next((slot for slot in self._slots if slot.key == key), None)
                free = [slot for slot in self._slots if not slot.users]
                slot = found or min(free, key=lambda each: each.used, default=None)
                if slot is not None:
                    self._clock += 1
                    slot.users, slot.used, slot.key = slot.users + 1, self._clock, key
                    return slot, found is None
                self._changed.wait()

    def give(self, slot: Slot) -> None:
        with self._changed:
            slot.users -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Who waits gets nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


@dataclass(frozen=True)
class Form:
    """How a tile lies in its buffer: its type, and by rows or by columns."""

    dtype: np.dtype
    by_columns: bool

    def lines(self, part: Part, memory: np.ndarray) -> np.ndarray:
        """The first bytes of some memory as the lines of a part."""
        own = part.in_lines(self.by_columns)
        whole = memory[: part.elements * self.dtype.itemsize].view(self.dtype)
        return whole.reshape(own.rows, own.columns)

    def read(self, matrix: Matrix, part: Part, lines: np.ndarray) -> None:
        """Read a part of a matrix into lines of this form, whatever the matrix has."""
        matrix.read(part, lines if matrix.by_columns == self.by_columns else lines.T)

    def slabs(self, part: Part, nbytes: int) -> Iterator[tuple[Part, int]]:
        """A part in slabs of at most so many bytes, each with its place in bytes: whole lines, or pieces of long ones."""
        own, itemsize = part.in_lines(self.by_columns), self.dtype.itemsize
        length = min(own.columns, max(1, nbytes // itemsize))
        step = max(1, nbytes // (own.columns * itemsize)) if length == own.columns else 1
        for first in range(0, own.rows, step):
            count = min(step, own.rows - first)
            for begin in range(0, own.columns, length):
                some = Part(own.row + first, count, own.column + begin, min(length, own.columns - begin))
                yield some.in_lines(self.by_columns), (first * own.columns + begin) * itemsize


@dataclass
class SharedMemory:
    """Tiles of a device that works in the host's memory."""

    device: Device
    ledgers: tuple[Ledger, ...]
    compute: tuple[Any, ...] = field(init=False)  # queues of the kernels

    def __post_init__(self) -> None:
        self.compute = (cl.CommandQueue(self.device.context, self.device.device),)

    def allocate(self, nbytes: int, what: str) -> Slot:
        size = nbytes + PAGE_BYTES
        for ledger in self.ledgers:
            ledger.take(size, what)
        memory = np.empty(size, np.uint8)
        begin = -memory.__array_interface__["data"][0] % PAGE_BYTES
        host = memory[begin : begin + max(nbytes, 1)]
        return Slot(lent_buffer(self.device.context, host), host, size)

    def fill(self, slot: Slot, matrix: Matrix, part: Part, form: Form) -> None:
        assert slot.host is not None
        form.read(matrix, part, form.lines(part, slot.host))

    def drain(self, slot: Slot, matrix: Matrix, part: Part, form: Form) -> int:
        """Write a tile to its matrix. The check sum of what a file got."""
        assert slot.host is not None
        return matrix.write(part, form.lines(part, slot.host))

    def finish(self) -> None:
        for queue in self.compute:
            queue.finish()

    def close(self, failed: bool) -> None:
        """Give the queue back."""
        del self.compute


class SeparateMemory:
    """Tiles of a device with memory of its own: copied by a queue for each direction, beside two queues of the kernels.

    One tile's last work-groups leave units idle, where those of the next tile begin, which is in the other queue.
    """

    def __init__(
        self, device: Device, device_ledger: Ledger, host_ledger: Ledger, host_bytes: int, devices: int = 1
    ) -> None:
        self.device, self.ledgers = device, (device_ledger,)
        one, other, self._up, self._down = (cl.CommandQueue(device.context, device.device) for _ in range(4))
        self.compute: tuple[Any, ...] = (one, other)
        self._sizes, self._slab_bytes = staging_within(host_bytes)
        pinned = sum(each.nbytes for each in self._sizes)
        host_ledger.take(pinned + 2 * self._slab_bytes, f"pinned memory for {device.info.label}")
        self._sender, self._reader = _conveyors(device, self._sizes)
        self._sender.use(max(1, min(self._sizes[0].threads, usable_processors() // 2 // devices)))
        self._slabs = [np.empty(self._slab_bytes, np.uint8) for _ in range(2)]

    def allocate(self, nbytes: int, what: str) -> Slot:
        for ledger in self.ledgers:
            ledger.take(nbytes, what)
        return Slot(self.device.allocate(nbytes), None, nbytes)

    def fill(self, slot: Slot, matrix: Matrix, part: Part, form: Form) -> None:
        own = matrix.direct(part)
        if own is not None and matrix.dtype == form.dtype and matrix.by_columns == form.by_columns:
            self._sender.write(self._up, slot.buffer, own)
        else:
            for some, origin in form.slabs(part, self._slab_bytes):
                lines = form.lines(some, self._slabs[0])
                form.read(matrix, some, lines)
                self._sender.write(self._up, slot.buffer, lines, origin)
        with check(f"copying a tile to {self.device.info.label}"):
            slot.filled = cl.enqueue_marker(self._up)
            self._up.flush()

    def drain(self, slot: Slot, matrix: Matrix, part: Part, form: Form) -> int:
        own = matrix.direct(part)
        if own is not None and matrix.dtype == form.dtype:
            self._reader.read(self._down, slot.buffer, own)
            return 0
        check_sum = 0
        for some, origin in form.slabs(part, self._slab_bytes):
            lines = form.lines(some, self._slabs[1])
            self._reader.read(self._down, slot.buffer, lines, origin)
            check_sum = matrix.write(some, lines, check_sum)
        return check_sum

    def finish(self) -> None:
        for queue in (self._up, *self.compute, self._down):
            queue.finish()

    def close(self, failed: bool) -> None:
        """Keep pinned memory for the next call of this kind: to pin it took an H200's driver 0.1 s. After a failure free it."""
        if not failed:
            self.device.kept[PAIR] = self._sizes, (self._sender, self._reader)
        del self._sender, self._reader
        self._slabs.clear()


Sizes = tuple[Size, Size]  # of copies to a device, and from it


def _conveyors(device: Device, sizes: Sizes) -> tuple[Conveyor, Conveyor]:
    """For copies to a device and from it: those of the call before, if their sizes are the same."""
    kept: tuple[Sizes, tuple[Conveyor, Conveyor]] | None = device.kept.pop(PAIR, None)
    if kept is not None and kept[0] == sizes:
        return kept[1]
    return Conveyor(device, sizes[0]), Conveyor(device, sizes[1])


Memory = SharedMemory | SeparateMemory


def shares_memory(device: Device) -> bool:
    """Whether a device's kernels work in the host's memory."""
    return device.info.kind == "cpu"


def staging_within(host_bytes: int) -> tuple[Sizes, int]:
    """How copies are divided, and the bytes of a slab, for so many bytes of the host. InvalidInput if they are too few."""
    least = 2 * (2 * LEAST_PIECE + LEAST_SLAB)
    if host_bytes < least:
        raise InvalidInput(
            f"a limit of {host_bytes:,} bytes of the host is too small: copies to a device with memory of its own take "
            f"{least:,} bytes"
        )
    slab = min(SLAB_BYTES, max(LEAST_SLAB, host_bytes // 4 // LEAST_SLAB * LEAST_SLAB))
    pinned = (host_bytes - 2 * slab) // 2  # of two pieces for each thread
    piece = min(PIECE_BYTES, pinned // 2 // LEAST_PIECE * LEAST_PIECE)
    back = min(THREADS[1], max(1, pinned // piece // 4))
    return (Size(min(THREADS[0], pinned // piece - back), piece), Size(back, piece)), slab
