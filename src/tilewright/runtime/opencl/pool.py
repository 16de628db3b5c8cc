"""Buffers of a device that are used again, because allocating one takes as long as copying a small matrix.

Who takes a buffer gives it back when no command uses it any more, so any thread may take it next, for any queue.
"""

from collections.abc import Callable, Iterable
from threading import RLock
from typing import Any

# What a pool may hold while nobody uses it: the share of a device's memory that other programs hardly miss, and as many
# buffers as the arrays of some twenty products.
KEPT_SHARE = 16
KEPT_BUFFERS = 64
STEPS = 8  # sizes between two powers of two: at most an eighth of a buffer is not used
LEAST_STEP = 256


def rounded(nbytes: int) -> int:
    """The size of the buffer for so many bytes: few different ones, so that arrays of similar sizes can share them."""
    step = max((1 << max(nbytes, 1).bit_length() - 1) // STEPS, LEAST_STEP)
    return -(-max(nbytes, 1) // step) * step


class BufferPool:
    """The idle buffers of one device, the one that was given back last at the end."""

    def __init__(self, global_bytes: int, largest: int) -> None:
        self.most_bytes = global_bytes // KEPT_SHARE  # of idle buffers
        self._largest = largest  # bytes of one buffer; 0 for no limit
        self._idle: list[tuple[int, Any]] = []
        self._lock = RLock()  # a destructor, or a signal's handler, may make a call meanwhile
        # Called by `release`, without the pool's lock: they give back what they hold for later, and say whether they did.
        self.holders: list[Callable[[], bool]] = []

    @property
    def idle_bytes(self) -> int:
        """Bytes of the buffers that nobody uses."""
        with self._lock:
            return sum(size for size, _ in self._idle)

    def take(self, nbytes: int, allocate: Callable[[int], Any]) -> tuple[int, Any]:
        """A buffer of at least `nbytes`, with any contents, and its size, which `give` wants back. `allocate` makes a new one."""
        size = rounded(nbytes)
        if self._largest and size > self._largest:
            size = nbytes
        with self._lock:
            for place in range(len(self._idle) - 1, -1, -1):
                if self._idle[place][0] == size:
                    return self._idle.pop(place)
        return size, allocate(size)

    def give(self, taken: Iterable[tuple[int, Any]]) -> None:
        """Give buffers back that no command uses. The least recently used ones are freed above the limits."""
        with self._lock:
            self._idle += taken
            held = sum(size for size, _ in self._idle)
            while self._idle and (held > self.most_bytes or len(self._idle) > KEPT_BUFFERS):
                held -= self._idle.pop(0)[0]

    def release(self) -> bool:
        """Free all idle buffers. Whether there were any: then a failed allocation is worth another try."""
        given = [give_back() for give_back in list(self.holders)]
        with self._lock:
            dropped, self._idle = self._idle, []
        return bool(dropped) or any(given)
