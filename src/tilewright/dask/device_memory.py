"""What a GPU holds between the tasks of a worker: chunks of operands that several tasks multiply, and sums that are not complete.

Otherwise each task would load its chunks, and send its tile to the GPU and back. For 32768 x 32768 x 32768 in chunks of
8192 x 32768 two H100s loaded 32 GiB of operands so, which have 8 GiB.

A chunk is known by its object, and held for workers alone: Dask demands that nobody changes the data of its workers
in place. What no task has used for a while is dropped.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import prod
from threading import Lock, RLock, Timer
from time import monotonic
from typing import Any, NamedTuple
from weakref import finalize, ref

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from ..core.types import element_type, numpy_dtype
from ..errors import OutOfDeviceMemory
from ..library.engine import default_device
from ..library.products import gemm
from ..library.result_types import sum_type
from ..library.streamed.device_memory import shares_memory
from ..library.views import packed
from ..runtime.opencl.copy_threads import taken_from
from ..runtime.opencl.device import Device, check
from .arithmetic import Arithmetic
from .devices import current_worker, worker_device
from .lanes import Lane, Lanes

HELD = 2  # chunks and sums take at most this part of a device's memory; tiles of other calls, and other programs, have the rest
ONE_PRODUCT = 4  # of that, what one product may take: as many as a worker usually has threads compute at a time
EXPIRES_S = 10.0  # after so many seconds without a use a chunk is dropped


class Factor(NamedTuple):
    """An operand of one product: a chunk, and the part of it that is multiplied."""

    chunk: Any
    part: tuple[slice, ...]

    @property
    def values(self) -> Any:
        return self.chunk[self.part]


@dataclass(eq=False)
class _Chunk:
    """A chunk on the device, and how many products read it."""

    known: "ref[np.ndarray]"
    nbytes: int
    held: "Held | None" = None  # once it is loaded
    users: int = 0
    used: float = 0.0  # when
    loading: Lock = field(default_factory=Lock)


class Ended(NamedTuple):
    """A buffer that nobody holds any more, and the bytes of the sum that it had; 0 for a chunk."""

    taken: tuple[int, Any]
    sum_bytes: int


class Held:
    """An array on a device. Whoever uses it waits for its queue before letting go."""

    def __init__(self, memory: "DeviceMemory", array: Array, ended: Ended) -> None:
        self.memory, self.array = memory, array
        finalize(self, memory.ended.append, ended).atexit = False

    def read(self, values: np.ndarray) -> None:
        """Copy it to an array of the host."""
        with self.memory.lanes.lane() as lane:
            lane.reader.read(lane.queue, self.array.base_data, values)


class DeviceMemory:
    """What one device holds, for all threads of the workers that have it.

    Buffers come from the device's pool and go back to it. To free one, a driver may wait for all that the device does, and
    Python with it.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        # The end of an array may come at any time, also while its own thread has a lock: the pool gets its buffer later.
        self.ended: deque[Ended] = deque()
        self._most = device.info.global_bytes // HELD
        self._chunks: dict[int, _Chunk] = {}
        self._sum_bytes = 0
        self._lock = RLock()
        self._timer: Timer | None = None
        self.lanes = Lanes(device)
        device.pool.holders.append(self.drop_idle)

    def multiplies(self, a: Factor, b: Factor, total: np.ndarray, arithmetic: Arithmetic) -> bool:
        """Whether products of such operands are computed here. Only types and sizes count, so that bits do not depend on what is
        held."""
        if not all(_plain(each.chunk) for each in (a, b)) or a.chunk.dtype != b.chunk.dtype:
            return False
        kind = a.chunk.dtype.name
        if element_type(kind).exact or sum_type(kind) != arithmetic.sum or not total.flags.c_contiguous:
            return False
        sizes = a.chunk.nbytes, b.chunk.nbytes, total.nbytes
        largest = self.device.info.max_alloc_bytes or self._most
        return min(sizes) > 0 and max(sizes) <= largest and sum(sizes) <= self._most // ONE_PRODUCT

    def added(
        self,
        total: Held | None,
        before: np.ndarray | None,
        shape: tuple[int, ...],
        a: Factor,
        b: Factor,
        arithmetic: Arithmetic,
    ) -> Held | None:
        """`total` with a product added, or a new sum that begins with what was summed `before`. None if there is no room."""
        kind, beta = numpy_dtype(arithmetic.sum), 0 if total is None and before is None else 1
        with ExitStack() as used, self.lanes.lane() as lane:  # commands have ended before chunks may go
            try:
                left, right = (used.enter_context(self._held(each.chunk, lane)) for each in (a, b))
                total = total or self._new_sum(shape, kind, before, lane)
            except OutOfDeviceMemory:
                self.device.pool.release()
                return None
            out = total.array.with_queue(lane.queue)
            gemm(
                left[a.part], right[b.part], out if beta else None, beta=beta, out=out, dtype=kind, precision=arithmetic.precision
            )  # fmt: skip
            self.device.finish("a product of a task", lane.queue)
        return total

    @property
    def crowded(self) -> bool:
        """Whether sums take more than half of what may be held: chunks would have to go."""
        return 2 * self.sum_bytes > self._most

    @property
    def sum_bytes(self) -> int:
        """Bytes of the sums that are here."""
        self._give_back()
        return self._sum_bytes

    def drop_idle(self) -> None:
        """Give the pool all chunks that no product reads."""
        with self._lock:
            self._drop(monotonic())
        self._give_back()

    def _drop(self, until: float) -> None:
        """Drop chunks that no product reads, and none has read since."""
        for key, each in list(self._chunks.items()):
            if not each.users and each.used <= until:
                self._chunks.pop(key, None)

    def _give_back(self) -> None:
        """Give the pool the buffers that nobody holds any more."""
        while (each := taken_from(self.ended)) is not None:
            with self._lock:
                self._sum_bytes -= each.sum_bytes
            self.device.pool.give([each.taken])

    @contextmanager
    def _held(self, chunk: np.ndarray, lane: Lane) -> Iterator[Any]:
        """A chunk on the device, loaded by the first thread that wants it."""
        entry = self._entry(chunk)
        try:
            with entry.loading:
                if entry.held is None:
                    entry.held = self._loaded(chunk, lane)
            yield entry.held.array.with_queue(lane.queue)
        finally:
            with self._lock:
                entry.users, entry.used = entry.users - 1, monotonic()

    def _entry(self, chunk: np.ndarray) -> _Chunk:
        """The chunk's place, which one more product reads."""
        key = id(chunk)
        with self._lock:
            entry = self._chunks.get(key)
            if entry is None or entry.known() is not chunk:
                self._make_room(chunk.nbytes)
                known = ref(chunk, lambda gone: self._end(key, gone))
                entry = self._chunks[key] = _Chunk(known, chunk.nbytes)
            if self._timer is None:
                self._start_timer()
            entry.users, entry.used = entry.users + 1, monotonic()
            return entry

    def _end(self, key: int, gone: "ref[np.ndarray]") -> None:
        """The host's chunk is gone, and the one here with it."""
        with self._lock:
            entry = self._chunks.get(key)
            if entry is not None and entry.known is gone:
                del self._chunks[key]

    def _make_room(self, nbytes: int) -> None:
        """Drop what was used longest ago, until so many bytes more may be held. What products use stays."""
        held = sum(each.nbytes for each in list(self._chunks.values())) + self._sum_bytes
        for key, each in sorted(self._chunks.items(), key=lambda item: item[1].used):
            if held + nbytes <= self._most:
                return
            if not each.users:
                self._chunks.pop(key, None)
                held -= each.nbytes

    def _loaded(self, chunk: np.ndarray, lane: Lane) -> Held:
        view, dense = packed(chunk)
        strides = tuple(stride * chunk.itemsize for stride in view.strides)
        made = self._new(lane, chunk.shape, chunk.dtype, strides)
        lane.sender.write(lane.queue, made.array.base_data, dense)
        self.device.finish("a chunk", lane.queue)  # other threads read it by queues of their own
        return made

    def _new_sum(self, shape: tuple[int, ...], dtype: np.dtype, before: np.ndarray | None, lane: Lane) -> Held:
        total = self._new(lane, shape, dtype, None, 1)
        if before is not None:
            lane.sender.write(lane.queue, total.array.base_data, before)
        else:  # some drivers allocate when a buffer is first used
            with check(f"allocating {total.array.nbytes:,} bytes on {self.device.info.label}"):
                cl.enqueue_fill_buffer(lane.queue, total.array.base_data, np.uint8(0), 0, 1)
        self.device.finish("the beginning of a sum", lane.queue)
        return total

    def _new(
        self, lane: Lane, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...] | None, sums: int = 0
    ) -> Held:
        """An array of any contents, that of a chunk or of `sums`."""
        nbytes = prod(shape) * dtype.itemsize
        self._give_back()
        with self._lock:
            if sums:
                self._make_room(nbytes)
            self._sum_bytes += sums * nbytes
        try:
            taken = self.device.pool.take(nbytes, self.device.allocate)
        except BaseException:
            with self._lock:
                self._sum_bytes -= sums * nbytes
            raise
        return Held(self, Array(lane.queue, shape, dtype, data=taken[1], strides=strides), Ended(taken, sums * nbytes))

    def _start_timer(self) -> None:
        timer = Timer(EXPIRES_S, self._expire)
        timer.daemon = True
        timer.start()
        self._timer = timer

    def _expire(self) -> None:
        """In a thread: drop what was not used for a while, and look again later."""
        with self._lock:
            self._drop(monotonic() - EXPIRES_S)
            self._timer = None
            if self._chunks:
                self._start_timer()
        self._give_back()


_memories: dict[Device, DeviceMemory] = {}
_finding = Lock()


def worker_memory() -> DeviceMemory | None:
    """The memory of the GPU of the worker that runs this task. None outside of workers, and on devices that work in the host's
    memory, where nothing is copied."""
    if current_worker() is None:
        return None
    device = default_device(worker_device())
    if shares_memory(device):
        return None
    with _finding:
        if device not in _memories:
            _memories[device] = DeviceMemory(device)
        return _memories[device]


def _plain(chunk: Any) -> bool:
    return type(chunk) is np.ndarray and chunk.ndim >= 2 and chunk.dtype.isnative and chunk.flags.aligned
