"""`pinned`: the caller's arrays, from which GPUs copy by themselves."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import RLock
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ..errors import InvalidInput, UnsupportedType
from ..runtime.opencl.device import Device, check
from ..runtime.opencl.pinned import PinnedRange
from .streamed.device_memory import shares_memory
from .streamed.devices import opened
from .streamed.limits import Where
from .streamed.mappings import mapped_root, span_of

_pinning = RLock()  # a destructor, or a signal's handler, may pin arrays meanwhile


class Pinned(AbstractContextManager["Pinned"]):
    """Arrays that are pinned until `close`, the end of a `with`, or the end of this object: see `pinned`."""

    def __init__(self, ranges: Sequence[PinnedRange]) -> None:
        self._ranges = tuple(ranges)

    @property
    def nbytes(self) -> int:
        """Bytes that are pinned now, each counted once: 0 after `close`, and for devices that work in the host's memory."""
        return sum({(each.first, each.last): each.last - each.first for each in self._ranges}.values())

    def close(self) -> None:
        """Let go of the arrays. Calls that use them at this moment, in other threads, keep them pinned until they end."""
        self._ranges = ()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Pinned: {self.nbytes:,} bytes>"


def pinned(*arrays: np.ndarray, device: Where = None) -> Pinned:
    """Pin NumPy arrays, so that GPUs copy from them and to them by themselves: for products of the same arrays again and again.

    Threads of a call copy ordinary arrays through pinned memory, at the rate of the host's processors and memory. From pinned
    arrays, and views of them, the device copies alone, at the rate of its bus. Products in tiles may have other tiles then, and
    so differ by rounding. To pin takes as long as one or two copies: a single call gains nothing. The system cannot swap pinned
    pages.

    Arguments:
        arrays: NumPy arrays of any shape, type and strides, and results that are passed as `out`. Their memory must not be
            a file's or shared with other processes, and stays theirs. They are kept alive as long as they are pinned.
        device: the device or devices of the calls, as for `matmul`. For one that works in the host's memory, such as a CPU,
            nothing is pinned.

    Returns a `Pinned`: leave its `with`, call its `close`, or delete it to let go of the arrays.

    Raises:
        UnsupportedType: something is no NumPy array.
        InvalidInput: an array lies in a file or in shared memory, or some of its memory is pinned already, and not all.
        LaunchFailed, OutOfDeviceMemory: the driver pins no such memory.

    >>> import numpy as np, tilewright
    >>> a, b, out = (np.ones((300, 300), np.float32) for _ in range(3))
    >>> with tilewright.pinned(a, b, out):
    ...     for _ in range(3):
    ...         _ = tilewright.matmul(a, b, out)
    >>> float(out[0, 0])
    300.0
    """
    for place, array in enumerate(arrays):
        _refuse_others(array, place)
    devices = [each for each in opened(device) if not shares_memory(each)]
    # Whole arrays before their parts, which have the same range then.
    largest_first = sorted(
        (place for place, each in enumerate(arrays) if each.nbytes), key=lambda place: -_span(arrays[place])
    )
    with _pinning:
        return Pinned([_pin(each, arrays[place], place) for place in largest_first for each in devices])


def _span(array: np.ndarray) -> int:
    first, last = byte_bounds(array)
    return int(last - first)


def _refuse_others(array: Any, place: int) -> None:
    if not isinstance(array, np.ndarray):
        raise UnsupportedType(
            f"argument {place} is a {type(array).__name__}: pass NumPy arrays, whose memory can be pinned"
        )
    if array.dtype.hasobject:
        raise UnsupportedType(f"argument {place} holds objects of Python, which no kernel reads")
    if mapped_root(array) is not None or span_of(array) is not None:
        raise InvalidInput(
            f"argument {place} lies in a file, or in memory that processes share, which is not pinned: leave it out, "
            "or pass a copy"
        )


def _pin(device: Device, array: np.ndarray, place: int) -> PinnedRange:
    with check(f"pinning {array.nbytes:,} bytes for {device.info.label}"):
        return device.pinned.pin(device.context, array, f"argument {place}")
