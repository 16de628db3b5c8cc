"""What a GPU holds between the tasks of a worker: chunks of operands that several tasks multiply, and sums that are not complete.

Without it each task would load its chunks, and send its tile to the GPU and back. Operands of 32768 x 32768 float32 have 8 GiB
together; in chunks of 8192 x 32768, two GPUs would load 32 GiB.

A chunk is known by its object, and stays for workers alone: Dask demands that nobody changes the data of its workers
in place. What no task has used for a while is dropped.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import prod
from threading import BoundedSemaphore, RLock, Timer, local
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
from .arithmetic import Arithmetic, Factor
from .channels import Channel, Channels
from .devices import current_worker, worker_device

# Chunks take at most this part of a device's memory. Sums, tiles of other calls and other programs have the rest.
HELD_SHARE = 2
PRODUCTS = 4  # that are computed at a time; each takes at most this part of what may be held
EXPIRES_S = 10.0  # seconds without a use after which a chunk may go, and between two looks at the chunks


@dataclass(eq=False)
class _Chunk:
    """A chunk on the device, and how many products read it."""

    known: "ref[np.ndarray]"
    nbytes: int
    loaded: "Resident | None" = None
    users: int = 0
    used: float = 0.0  # when
    loading: Any = field(default_factory=RLock)  # a destructor may multiply the chunk meanwhile


class LetGo(NamedTuple):
    """A buffer that nobody holds any more, and the bytes of the sum that it had; 0 for a chunk."""

    taken: tuple[int, Any]
    sum_bytes: int


class Resident:
    """An array on a device. Whoever uses it waits for its queue before letting go."""

    def __init__(self, memory: "DeviceMemory", array: Array, buffer: LetGo) -> None:
        self.memory, self.array = memory, array
        finalize(self, memory.let_go.append, buffer).atexit = False

    def read(self, values: np.ndarray) -> None:
        """Copy it to an array of the host."""
        with self.memory.channels.channel() as channel:
            channel.reader.read(channel.queue, self.array.base_data, values)


class DeviceMemory:
    """What one device holds, for all threads of the workers that have it.

    Buffers come from the device's pool and go back to it. Freeing one may wait for all work of the device, and hold Python
    meanwhile.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        # The end of an array may come at any time, also while its own thread has a lock: the pool gets its buffer later.
        self.let_go: deque[LetGo] = deque()
        self._most = device.info.global_bytes // HELD_SHARE
        self._chunks: dict[int, _Chunk] = {}
        self._sum_bytes = 0
        self._lock = RLock()
        self._watched = False  # whether a thread will look for chunks that nobody uses
        self._products = BoundedSemaphore(PRODUCTS)
        self._own = local()
        self.channels = Channels(device)
        device.pool.holders.append(self.drop_idle)

    def multiplies(self, a: Factor, b: Factor, total: np.ndarray, arithmetic: Arithmetic) -> bool:
        """Whether products of such operands are computed here. Only types and sizes count, so that bits do not depend on what
        lies here already."""
        if not all(_plain(each.chunk) for each in (a, b)) or a.chunk.dtype != b.chunk.dtype:
            return False
        kind = a.chunk.dtype.name
        if element_type(kind).exact or sum_type(kind) != arithmetic.sum or not total.flags.c_contiguous:
            return False
        sizes = a.chunk.nbytes, b.chunk.nbytes, total.nbytes
        largest = self.device.info.max_alloc_bytes or self._most
        return min(sizes) > 0 and max(sizes) <= largest and sum(sizes) <= self._most // PRODUCTS

    def added(
        self,
        total: Resident | None,
        before: np.ndarray | None,
        shape: tuple[int, ...],
        a: Factor,
        b: Factor,
        arithmetic: Arithmetic,
    ) -> Resident | None:
        """`total` with a product added, or a new sum that begins with what was summed `before`.

        None if the device lacks memory, and nothing was added. OutOfDeviceMemory if it does so for scratch memory of a kernel
        that adds to `total`, which may be spoiled.
        """
        fresh = total is None and before is None
        begun = False
        with self._turn(), ExitStack() as used:
            try:
                with self.channels.channel() as channel:  # after an error it waits for copies, before their memory goes
                    left, right = (used.enter_context(self._resident(each.chunk, channel)) for each in (a, b))
                    total = total or self._new_sum(shape, numpy_dtype(arithmetic.sum), before, channel)
                    begun = True
                    self._multiply(
                        left[a.part], right[b.part], total.array.with_queue(channel.queue), fresh, arithmetic
                    )
                return total
            except OutOfDeviceMemory:
                if begun and not fresh:
                    raise
                total = None  # a new sum goes, too
        self.device.pool.release()
        return None

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A product's turn. One that a destructor, or a signal's handler, computes within another has that one's turn: to wait
        for its own would hold up both, perhaps in every thread."""
        if getattr(self._own, "multiplies", False):
            yield
            return
        self._own.multiplies = True
        try:
            with self._products:
                yield
        finally:
            self._own.multiplies = False

    def _multiply(self, left: Array, right: Array, out: Array, fresh: bool, arithmetic: Arithmetic) -> None:
        """Add a product to `out`, or store it, and wait."""
        gemm(
            left, right, None if fresh else out, beta=0 if fresh else 1, out=out, dtype=numpy_dtype(arithmetic.sum),
            precision=arithmetic.precision,
        )  # fmt: skip
        self.device.finish("a product of a task", left.queue)

    @property
    def crowded(self) -> bool:
        """Whether sums take more than half of what may be held: they would evict the chunks."""
        return 2 * self.sum_bytes > self._most

    @property
    def sum_bytes(self) -> int:
        """Bytes of the sums that are here."""
        self._give_back()
        return self._sum_bytes

    def drop_idle(self) -> bool:
        """Give the pool all chunks that no product reads. Whether there were any."""
        with self._lock:
            dropped = self._drop(monotonic())
        return self._give_back() or dropped

    def _drop(self, until: float) -> bool:
        """Drop chunks that no product has read after `until`. Whether there were any."""
        found = [key for key, each in list(self._chunks.items()) if not each.users and each.used <= until]
        for key in found:
            self._chunks.pop(key, None)
        return bool(found)

    def _give_back(self) -> bool:
        """Give the pool the buffers that nobody holds any more. Whether there were any."""
        found = False
        while (each := taken_from(self.let_go)) is not None:
            found = True
            with self._lock:
                self._sum_bytes -= each.sum_bytes
            self.device.pool.give([each.taken])
        return found

    @contextmanager
    def _resident(self, chunk: np.ndarray, channel: Channel) -> Iterator[Array]:
        """A chunk on the device, loaded by the first thread that wants it."""
        entry = self._entry(chunk)
        try:
            with entry.loading:
                if entry.loaded is None:
                    entry.loaded = self._loaded(chunk, channel)
            yield entry.loaded.array.with_queue(channel.queue)
        except BaseException:  # it may have events of commands that failed
            with self._lock:
                if self._chunks.get(id(chunk)) is entry:
                    del self._chunks[id(chunk)]
            raise
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
        self._watch()
        return entry

    def _end(self, key: int, gone: "ref[np.ndarray]") -> None:
        """The host's chunk is gone, and the one here with it."""
        with self._lock:
            entry = self._chunks.get(key)
            if entry is not None and entry.known is gone:
                del self._chunks[key]

    def _make_room(self, nbytes: int) -> None:
        """Evict the least recently used chunks until `nbytes` more fit. Chunks that products read stay."""
        excess = sum(each.nbytes for each in list(self._chunks.values())) + self._sum_bytes + nbytes - self._most
        if excess <= 0:
            return
        for key, each in sorted(self._chunks.items(), key=lambda item: item[1].used):
            if not each.users:
                self._chunks.pop(key, None)
                excess -= each.nbytes
                if excess <= 0:
                    return

    def _loaded(self, chunk: np.ndarray, channel: Channel) -> Resident:
        view, dense = packed(chunk)
        strides = tuple(stride * chunk.itemsize for stride in view.strides)
        made = self._new(channel, chunk.shape, chunk.dtype, strides, is_sum=False)
        channel.sender.write(channel.queue, made.array.base_data, dense)
        self.device.finish("a chunk", channel.queue)  # other threads read it by queues of their own
        return made

    def _new_sum(
        self, shape: tuple[int, ...], dtype: np.dtype, before: np.ndarray | None, channel: Channel
    ) -> Resident:
        total = self._new(channel, shape, dtype, None, is_sum=True)
        if before is not None:
            channel.sender.write(channel.queue, total.array.base_data, before)
            self.device.finish("the beginning of a sum", channel.queue)
        else:  # some drivers allocate when a buffer is first used. To wait here would let the device idle.
            with check(f"allocating {total.array.nbytes:,} bytes on {self.device.info.label}"):
                cl.enqueue_fill_buffer(channel.queue, total.array.base_data, np.uint8(0), 0, 1)
        return total

    def _new(
        self, channel: Channel, shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...] | None, is_sum: bool
    ) -> Resident:
        """An array of any contents."""
        nbytes = prod(shape) * dtype.itemsize
        sum_bytes = nbytes if is_sum else 0
        self._give_back()
        with self._lock:
            if is_sum:
                self._make_room(nbytes)
            self._sum_bytes += sum_bytes
        try:
            taken = self.device.pool.take(nbytes, self.device.allocate)
        except BaseException:
            with self._lock:
                self._sum_bytes -= sum_bytes
            raise
        return Resident(
            self, Array(channel.queue, shape, dtype, data=taken[1], strides=strides), LetGo(taken, sum_bytes)
        )

    def _watch(self) -> None:
        """Have a thread drop chunks that no task uses for a while.

        The lock is free when the thread starts: the collector may run in it, and find chunks that are gone.
        """
        with self._lock:
            if self._watched or not self._chunks:
                return
            self._watched = True
        timer = Timer(EXPIRES_S, self._expire)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # the system starts no more threads: chunks stay until others need their room
            self._watched = False

    def _expire(self) -> None:
        with self._lock:
            self._drop(monotonic() - EXPIRES_S)
            self._watched = False
        self._give_back()
        self._watch()


_memories: dict[Device, DeviceMemory] = {}
_finding = RLock()  # a destructor, or a signal's handler, may multiply meanwhile


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
            _memories.setdefault(device, DeviceMemory(device))
        return _memories[device]


def _plain(chunk: Any) -> bool:
    return type(chunk) is np.ndarray and chunk.ndim >= 2 and chunk.dtype.isnative and chunk.flags.aligned
