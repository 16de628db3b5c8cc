"""Scratch memory: what calls share, and how much of it is kept."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakMethod, finalize

from ..core.device import DeviceInfo
from ..errors import OutOfDeviceMemory
from ..runtime.opencl.pool import BufferPool

# Bytes that a thread keeps on a device. One with memory of its own may keep a larger part of that: what is not kept is freed
# after the call, and NVIDIA's drivers wait for the call's end first, with Python's lock. A product of float32 has a copy of A,
# 1 GiB of 16384 x 16384.
KEPT_SCRATCH_BYTES = 256 * 2**20
KEPT_SCRATCH_SHARE = 32
GROWTH = 1.5  # of a buffer that is too small: to free it takes as long, so there should be few steps

Scratch = Mapping[str, Any]  # a plan's buffers, by their names


def scratch_limit(info: DeviceInfo) -> int:
    """The bytes that a thread may keep on a device."""
    own = 0 if info.host_unified else info.global_bytes // KEPT_SCRATCH_SHARE
    return max(KEPT_SCRATCH_BYTES, own)


class KeptScratch:
    """The buffers of one thread on one device, by queues and places. Calls on one queue share them, because they run one after
    the other.
    """

    def __init__(self) -> None:
        self._buffers: OrderedDict[tuple[int, int], tuple[Any, int]] = OrderedDict()
        self.dropped = 0  # how often a buffer was: who has the address of one asks whether it is the same number

    def take(self, queue: Any, sizes: Sequence[int], device: Any, limited: bool = True) -> list[Any]:
        """A buffer of at least each size. The least recently used ones are dropped above `scratch_limit`, if it is `limited`."""
        found, limit = [], scratch_limit(device.info)
        try:
            for place, nbytes in enumerate(sizes):
                key = (getattr(queue, "int_ptr", queue), place)  # a queue of OpenCL, or the handle of CUDA's stream
                buffer, held = self._buffers.pop(key, (None, 0))
                if held < nbytes:
                    buffer = None  # its memory may be needed for the larger one
                    self.dropped += held > 0
                    buffer, held = self._new(nbytes, min(int(held * GROWTH), limit), device)
                self._buffers[key] = (buffer, held)
                found.append(buffer)
        finally:
            if limited:
                self._trim(limit)
        return found

    def _trim(self, limit: int) -> None:
        buffers = self._buffers  # another thread's `drop` leaves this one to us
        while buffers and sum(held for _, held in buffers.values()) > limit:
            buffers.popitem(last=False)
            self.dropped += 1

    def _new(self, nbytes: int, grown: int, device: Any) -> tuple[Any, int]:
        """A buffer of `grown` bytes, or of `nbytes` where there is no room for that, and its size."""
        most = device.info.max_alloc_bytes
        if grown > nbytes and not (most and grown > most):
            try:
                return device.allocate(grown), grown
            except OutOfDeviceMemory:
                pass
        try:
            return device.allocate(nbytes), nbytes
        except OutOfDeviceMemory:
            if not self.drop():
                raise
        return device.allocate(nbytes), nbytes

    def drop(self) -> bool:
        """Drop all buffers, because memory is lacking; also in another thread than ours. Whether there were any."""
        dropped, self._buffers = self._buffers, OrderedDict()
        self.dropped += bool(dropped)
        return bool(dropped)


def give_when_lacking(kept: KeptScratch, pool: BufferPool) -> None:
    """Let the pool ask for scratch memory before it says that there is no memory, as long as `kept` lives."""
    drop = WeakMethod(kept.drop)

    def given() -> bool:
        found = drop()
        return found is not None and found()

    pool.holders.append(given)
    finalize(kept, pool.holders.remove, given).atexit = False
