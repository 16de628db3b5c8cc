"""What a GPU holds between the tasks of a worker: chunks of operands that several tasks multiply, and sums that are not complete.

Otherwise each task would load its chunks, and send its tile to the GPU and back. For 32768 x 32768 x 32768 in chunks of
8192 x 32768 two H100s loaded 32 GiB of operands so, which have 8 GiB.

A chunk is known by its object, and held for workers alone: Dask demands that nobody changes the data of its workers
in place. What no task has used for a while is dropped.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock, Timer, local
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
from ..library.streamed.device_memory import conveyors_for, keep_conveyors, shares_memory, staging_within
from ..library.streamed.planning import MOST_STAGING
from ..library.views import packed
from ..runtime.opencl.conveyor import Conveyor
from ..runtime.opencl.device import Device, check
from .arithmetic import Arithmetic
from .devices import current_worker, worker_device

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


class Lane(NamedTuple):
    """What a thread copies and computes with."""

    queue: Any
    sender: Conveyor
    reader: Conveyor


@dataclass(eq=False)
class _Chunk:
    """A chunk on the device, and how many products read it."""

    known: "ref[np.ndarray]"
    nbytes: int
    array: Any = None  # once it is loaded
    users: int = 0
    used: float = 0.0  # when
    loading: Lock = field(default_factory=Lock)


class DeviceSum:
    """The sum of a tile on a device. Whoever uses it has the tile's lock."""

    def __init__(self, memory: "DeviceMemory", array: Array) -> None:
        self.memory, self.array = memory, array
        finalize(self, memory.forget_sum, array.nbytes).atexit = False

    def read(self, values: np.ndarray) -> None:
        """Copy the sum to an array of the host."""
        with self.memory.lane() as lane:
            lane.reader.read(lane.queue, self.array.base_data, values)


class DeviceMemory:
    """What one device holds, for all threads of the workers that have it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._most = device.info.global_bytes // HELD
        self._chunks: dict[int, _Chunk] = {}
        self._sum_bytes = 0
        self._lock = RLock()  # the end of a chunk or a sum may come while its own thread has it
        self._timer: Timer | None = None
        self._own = local()

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
        total: DeviceSum | None,
        before: np.ndarray | None,
        shape: tuple[int, ...],
        a: Factor,
        b: Factor,
        arithmetic: Arithmetic,
    ) -> DeviceSum | None:
        """`total` with a product added, or a new sum that begins with what was summed `before`. None if there is no room."""
        kind, beta = numpy_dtype(arithmetic.sum), 0 if total is None and before is None else 1
        with self.lane() as lane, ExitStack() as used:
            try:
                left, right = (used.enter_context(self._held(each.chunk, lane)) for each in (a, b))
                total = total or self._new_sum(shape, kind, before, lane)
            except OutOfDeviceMemory:
                self.drop_idle()
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
        return 2 * self._sum_bytes > self._most

    @contextmanager
    def lane(self) -> Iterator[Lane]:
        """This thread's queue, and pinned memory. Who uses it waits for the queue."""
        try:
            queue = self._own.queue
        except AttributeError:
            queue = self._own.queue = cl.CommandQueue(self.device.context, self.device.device)
        sizes, _ = staging_within(MOST_STAGING)
        conveyors = conveyors_for(self.device, sizes)
        try:
            yield Lane(queue, conveyors[0], conveyors[1])
        except BaseException:
            _finish_before_raising(queue)  # nothing is kept: an error may have left copies half done
            raise
        keep_conveyors(self.device, sizes, conveyors)

    def drop_idle(self) -> None:
        """Free all chunks that no product reads."""
        with self._lock:
            for key, each in list(self._chunks.items()):
                if not each.users:
                    self._chunks.pop(key, None)

    def forget_sum(self, nbytes: int) -> None:
        with self._lock:
            self._sum_bytes -= nbytes

    @contextmanager
    def _held(self, chunk: np.ndarray, lane: Lane) -> Iterator[Any]:
        """A chunk on the device, loaded by the first thread that wants it."""
        entry = self._entry(chunk)
        try:
            with entry.loading:
                if entry.array is None:
                    entry.array = self._loaded(chunk, lane)
            yield entry.array.with_queue(lane.queue)
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
            entry.users, entry.used = entry.users + 1, monotonic()
            if self._timer is None:
                self._start_timer()
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

    def _loaded(self, chunk: np.ndarray, lane: Lane) -> Array:
        view, dense = packed(chunk)
        buffer = self.device.allocate(chunk.nbytes)
        lane.sender.write(lane.queue, buffer, dense)
        self.device.finish("a chunk", lane.queue)  # other threads read it by queues of their own
        strides = tuple(stride * chunk.itemsize for stride in view.strides)
        return Array(lane.queue, chunk.shape, chunk.dtype, data=buffer, strides=strides)

    def _new_sum(self, shape: tuple[int, ...], dtype: np.dtype, before: np.ndarray | None, lane: Lane) -> DeviceSum:
        array = Array(lane.queue, shape, dtype, data=self.device.allocate(int(np.prod(shape)) * dtype.itemsize))
        with self._lock:
            self._make_room(array.nbytes)
            self._sum_bytes += array.nbytes
        total = DeviceSum(self, array)
        if before is not None:
            lane.sender.write(lane.queue, array.base_data, before)
        else:  # some drivers allocate when a buffer is first used
            with check(f"allocating {array.nbytes:,} bytes on {self.device.info.label}"):
                cl.enqueue_fill_buffer(lane.queue, array.base_data, np.uint8(0), 0, 1)
        self.device.finish("the beginning of a sum", lane.queue)
        return total

    def _start_timer(self) -> None:
        self._timer = Timer(EXPIRES_S, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def _expire(self) -> None:
        """In a thread: drop what was not used for a while, and look again later."""
        with self._lock:
            oldest = monotonic() - EXPIRES_S
            for key, each in list(self._chunks.items()):
                if not each.users and each.used <= oldest:
                    self._chunks.pop(key, None)
            self._timer = None
            if self._chunks:
                self._start_timer()


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
        return _memories.setdefault(device, DeviceMemory(device))


def _plain(chunk: Any) -> bool:
    return type(chunk) is np.ndarray and chunk.ndim >= 2 and chunk.dtype.isnative and chunk.flags.aligned


def _finish_before_raising(queue: Any) -> None:
    """Wait for copies from and to memory that the caller may free."""
    try:
        queue.finish()
    except cl.Error:  # the error that is being raised is the cause
        return
