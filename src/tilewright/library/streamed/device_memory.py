"""Where tiles lie on a device, and how they get there and back: in the host's memory, or through pinned memory."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, ClassVar

import numpy as np
import pyopencl as cl

from ...errors import InvalidInput
from ...runtime.opencl.broadcast import Broadcast
from ...runtime.opencl.conveyor import THREADS, Conveyor, Size
from ...runtime.opencl.device import Device, check
from ...runtime.opencl.direct_copies import read_directly, write_directly
from ...runtime.opencl.staging import PAGE_BYTES, page_aligned
from ..views import lent_buffer
from .budget import Ledger
from .matrices import Matrix, Part
from .schedule import Stopped

LEAST_PIECE = 64 * 2**10
SLAB_BYTES = 32 * 2**20  # of a tile that is read from a file, or written to one, at a time
LEAST_SLAB = 2**20
# Where a device keeps pinned memory for later calls: four, since several may run at a time, such as tasks of a Dask worker.
STAGING = tuple(("staging in both directions", number) for number in range(4))
# Two tiles are stored at a time: the threads copy pieces of one while the device sends the first pieces of the other.
STORES = 2
# The pieces of pinned memory for loads, and for each tile that is stored: together more than the threads, because the device
# copies some of them meanwhile.
PIECES = max(2, THREADS * 3 // 2), max(2, THREADS * 3 // 4)
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
    stores: ClassVar[int] = 1  # tiles that are stored at a time, each by a thread

    def __post_init__(self) -> None:
        self.compute = (cl.CommandQueue(self.device.context, self.device.device),)

    def allocate(self, nbytes: int, what: str) -> Slot:
        size = nbytes + PAGE_BYTES
        for ledger in self.ledgers:
            ledger.take(size, what)
        host = page_aligned(nbytes)
        return Slot(lent_buffer(self.device.context, host), host, size)

    def fill(self, slot: Slot, matrix: Matrix, part: Part, form: Form, key: Hashable = None) -> None:
        assert slot.host is not None
        form.read(matrix, part, form.lines(part, slot.host))

    def drain(self, slot: Slot, matrix: Matrix, part: Part, form: Form, store: int) -> int:
        """Write a tile to its matrix, by the thread of this number. The check sum of what a file got."""
        assert slot.host is not None
        return matrix.write(part, form.lines(part, slot.host))

    def finish(self) -> None:
        for queue in self.compute:
            queue.finish()

    def close(self, failed: bool) -> None:
        """Give the queue back."""
        del self.compute


class SeparateMemory:
    """Tiles of a device with memory of its own: copied by a queue to it and one back for each tile that is stored, beside two
    queues of the kernels.

    One tile's last work-groups leave units idle, where those of the next tile begin, which is in the other queue.
    """

    stores: ClassVar[int] = STORES

    def __init__(
        self,
        device: Device,
        device_ledger: Ledger,
        host_ledger: Ledger,
        host_bytes: int,
        broadcast: Broadcast | None = None,
        pooled: bool = False,
    ) -> None:
        """With `pooled`, buffers are those of the device's pool, which may be larger than what is taken from the ledger."""
        self.device, self.ledgers, self._broadcast = device, (device_ledger,), broadcast
        self._pooled, self._taken = pooled, list[tuple[int, Any]]()
        queues = [cl.CommandQueue(device.context, device.device) for _ in range(3 + STORES)]
        self.compute: tuple[Any, ...] = (queues[0], queues[1])
        self._up, self._down = queues[2], queues[3:]
        self._sizes, slab_bytes = staging_within(host_bytes)
        pinned = self._sizes[0].nbytes + STORES * self._sizes[1].nbytes
        host_ledger.take(pinned + (1 + STORES) * slab_bytes, f"pinned memory for {device.info.label}")
        self._sender, *self._readers = conveyors_for(device, self._sizes)
        self._load_slab, *self._store_slabs = [np.empty(slab_bytes, np.uint8) for _ in range(1 + STORES)]

    def allocate(self, nbytes: int, what: str) -> Slot:
        for ledger in self.ledgers:
            ledger.take(nbytes, what)
        if not self._pooled:
            return Slot(self.device.allocate(nbytes), None, nbytes)
        taken = self.device.pool.take(nbytes, self.device.allocate)
        self._taken.append(taken)
        return Slot(taken[1], None, nbytes)

    def fill(self, slot: Slot, matrix: Matrix, part: Part, form: Form, key: Hashable = None) -> None:
        """Begin to copy a part of a matrix to a buffer. If other devices load it, too, all of them name it by one `key`."""
        own = matrix.direct(part)
        if own is not None and matrix.dtype == form.dtype and matrix.by_columns == form.by_columns:
            if not (write_directly(self.device, self._up, slot.buffer, own) or self._loaded_by_all(slot, own, key)):
                self._sender.write(self._up, slot.buffer, own)
        else:
            for some, origin in form.slabs(part, self._load_slab.nbytes):
                lines = form.lines(some, self._load_slab)
                form.read(matrix, some, lines)
                self._sender.write(self._up, slot.buffer, lines, origin)
        with check(f"copying a tile to {self.device.info.label}"):
            slot.filled = cl.enqueue_marker(self._up)
            self._up.flush()

    def _loaded_by_all(self, slot: Slot, array: np.ndarray, key: Hashable) -> bool:
        """Copy what other devices load, too, from where all do; False if nobody else loads it, or that failed."""
        if key is None or self._broadcast is None:
            return False
        return self._broadcast.write(self.device, self._up, slot.buffer, array, key)

    def drain(self, slot: Slot, matrix: Matrix, part: Part, form: Form, store: int) -> int:
        reader, queue, slab = self._readers[store], self._down[store], self._store_slabs[store]
        own = matrix.direct(part)
        if own is not None and matrix.dtype == form.dtype:
            if not read_directly(self.device, queue, slot.buffer, own):
                reader.read(queue, slot.buffer, own)
            return 0
        check_sum = 0
        for some, origin in form.slabs(part, slab.nbytes):
            lines = form.lines(some, slab)
            reader.read(queue, slot.buffer, lines, origin)
            check_sum = matrix.write(some, lines, check_sum)
        return check_sum

    def finish(self) -> None:
        for queue in (self._up, *self.compute, *self._down):
            queue.finish()

    def close(self, failed: bool) -> None:
        """Keep pinned memory and the pool's buffers for the next call. After a failure free them."""
        if not failed:
            keep_conveyors(self.device, self._sizes, (self._sender, *self._readers))
            self.device.pool.give(self._taken)
        self._taken = []
        del self._sender, self._readers, self._broadcast, self._load_slab, self._store_slabs


Sizes = tuple[Size, Size]  # of copies to a device, and of those of a tile from it
Kept = tuple[Sizes, tuple[Conveyor, ...]]


def conveyors_for(device: Device, sizes: Sizes) -> tuple[Conveyor, ...]:
    """For copies to a device, and for each tile that is stored: those of a call before, if their sizes are the same."""
    for place in STAGING:
        kept: Kept | None = device.kept.pop(place, None)  # no other call gets it
        if kept is not None and kept[0] == sizes:
            return kept[1]
    return Conveyor(device, sizes[0]), *(Conveyor(device, sizes[1]) for _ in range(STORES))


def keep_conveyors(device: Device, sizes: Sizes, conveyors: tuple[Conveyor, ...]) -> None:
    """Keep pinned memory for a later call: to pin it took an H200's driver 0.1 s."""
    kept: Kept = sizes, conveyors
    for place in STAGING:
        if device.kept.setdefault(place, kept) is kept:
            return


Memory = SharedMemory | SeparateMemory


def shares_memory(device: Device) -> bool:
    """Whether a device's kernels work in the host's memory."""
    return device.info.kind == "cpu"


def staging_within(host_bytes: int) -> tuple[Sizes, int]:
    """How copies are divided, and the bytes of a slab, for so many bytes of the host. InvalidInput if they are too few."""
    conveyors = 1 + STORES
    least = conveyors * (2 * LEAST_PIECE + LEAST_SLAB)
    if host_bytes < least:
        raise InvalidInput(
            f"a limit of {host_bytes:,} bytes of the host is too small: copies to a device with memory of its own take "
            f"{least:,} bytes"
        )
    slab = min(SLAB_BYTES, max(LEAST_SLAB, host_bytes // (2 * conveyors) // LEAST_SLAB * LEAST_SLAB))
    pinned = host_bytes - conveyors * slab
    piece = min(PIECE_BYTES, pinned // (2 * conveyors) // LEAST_PIECE * LEAST_PIECE)
    pieces = pinned // piece
    back = min(PIECES[1], max(2, pieces // (2 * STORES)))
    return (Size(min(PIECES[0], pieces - STORES * back), piece), Size(back, piece)), slab
