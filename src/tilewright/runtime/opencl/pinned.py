"""Arrays of the caller's whose pages a driver has pinned: the device copies from them and to them by itself.

NVIDIA's driver pins the memory of a buffer that is made of it (CL_MEM_USE_HOST_PTR), from any address on, and takes none of the
device's memory for it. Until the buffer is released, copies by the memory's own address run at the rate of the bus, in other
contexts, too: on an H100 54 to 55 GB/s each way, and 6 to 8 before and after. A copy that begins within such a buffer and ends
outside is slow, and by rows it is refused. So a copy is of one range, or goes another way.
"""

from typing import Any
from weakref import ref

import numpy as np
import pyopencl as cl
from numpy.lib.array_utils import byte_bounds

from ...errors import InvalidInput

PINNING = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR


class _Span:
    """The bytes that an array spans, as NumPy takes them from any object. It keeps the array alive."""

    def __init__(self, array: np.ndarray) -> None:
        first, last = byte_bounds(array)
        self.keep = array
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (last - first,), "data": (first, False)}


class PinnedRange:
    """Bytes that are pinned for as long as anyone has this object: who copies from them or to them does, too."""

    def __init__(self, context: Any, array: np.ndarray) -> None:
        self.first, self.last = byte_bounds(array)
        self.bytes = np.asarray(_Span(array))
        self._buffer = cl.Buffer(context, PINNING, hostbuf=self.bytes)  # which keeps the bytes until it is released

    def holds(self, first: int, last: int) -> bool:
        return self.first <= first and last <= self.last


class PinnedRanges:
    """The pinned ranges of one device. They are known as long as they are: nothing here keeps one."""

    def __init__(self) -> None:
        self._known: tuple[ref[PinnedRange], ...] = ()  # replaced as a whole: who looks needs no lock

    def pin(self, context: Any, array: np.ndarray, name: str) -> PinnedRange:
        """The range that holds an array's bytes: one that is pinned already, or a new one. One thread at a time may call this.

        InvalidInput if some of the bytes are pinned, and not all: the driver would take neither range for one. It names the
        array by `name`, and keeps no range: whoever keeps the error would.
        """
        while True:
            before = self._known
            known = self.holding(array)
            if known is not None:
                return known
            first, last = byte_bounds(array)
            if shared := self._pinned_bytes(first, last):
                raise InvalidInput(
                    f"of the {last - first:,} bytes that {name} spans, {shared:,} are pinned already, by another array: pin the "
                    "array that has the memory of both, before any part of it"
                )
            made = PinnedRange(context, array)
            after = (*(ref(each) for each in self._alive()), ref(made))
            if self._known is before:
                self._known = after
                return made
            del made  # a destructor that ran meanwhile has pinned something, perhaps these bytes

    def _pinned_bytes(self, first: int, last: int) -> int:
        return sum(max(0, min(each.last, last) - max(each.first, first)) for each in self._alive())

    def holding(self, array: np.ndarray) -> PinnedRange | None:
        """The pinned range that holds all bytes of an array; None if there is none."""
        if not self._known:
            return None
        first, last = byte_bounds(array)
        return next((each for each in self._alive() if each.holds(first, last)), None)

    def _alive(self) -> list[PinnedRange]:
        return [found for each in self._known if (found := each()) is not None]
