"""`pinned`: the caller's arrays, from which GPUs copy by themselves."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np

from ..errors import InvalidInput, UnsupportedType
from ..runtime.opencl.device import Device, check
from ..runtime.opencl.pinned import PinnedRange
from .streamed.device_memory import shares_memory
from .streamed.devices import opened
from .streamed.limits import Where
from .streamed.mappings import mapped_root, span_of

_pinning = Lock()


class Pinned(AbstractContextManager["Pinned"]):
    """Arrays that are pinned until `close`, the end of a `with`, or the end of this object: see `pinned`."""

    def __init__(self, ranges: Sequence[PinnedRange]) -> None:
        self._ranges = tuple(ranges)

    @property
    def nbytes(self) -> int:
        """Bytes that are pinned now, each counted once: 0 after `close`, and for devices that work in the host's memory."""
        return sum({(each.first, each.last): each.last - each.first for each in self._ranges}.values())

    def close(self) -> None:
        """Let go of the arrays. Calls that copy from them at this moment, in other threads, keep them pinned until they end."""
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
    arrays, and views of them, the device copies alone, at the rate of its bus. Results are the same. To pin takes as long as one
    or two copies, so that a single call gains nothing by it. The system cannot swap pinned pages.

    Arguments:
        arrays: NumPy arrays of any shape, type and strides, and results that are passed as `out`. Their memory must not be a
            file's, and stays theirs. They are kept alive as long as they are pinned.
        device: the device or devices of the calls, as for `matmul`. For one that works in the host's memory, such as a CPU,
            nothing is pinned.

    Returns a `Pinned`: leave its `with`, call its `close`, or delete it to let go of the arrays.

    Raises:
        UnsupportedType: something is no NumPy array.
        InvalidInput: an array lies in a file, or shares some of its memory, and not all, with one that is pinned already.
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
    with _pinning:
        return Pinned([_pin(each, array) for array in arrays if array.size for each in devices])


def _refuse_others(array: Any, place: int) -> None:
    if not isinstance(array, np.ndarray):
        raise UnsupportedType(
            f"argument {place} is a {type(array).__name__}: pass NumPy arrays, whose memory can be pinned"
        )
    if array.dtype.hasobject:
        raise UnsupportedType(f"argument {place} holds objects of Python, which no kernel reads")
    if mapped_root(array) is not None or span_of(array) is not None:
        raise InvalidInput(
            f"argument {place} lies in a file, which is read and written by calls of the system: leave it out"
        )


def _pin(device: Device, array: np.ndarray) -> PinnedRange:
    with check(f"pinning {array.nbytes:,} bytes for {device.info.label}"):
        return device.pinned.pin(device.context, array)
