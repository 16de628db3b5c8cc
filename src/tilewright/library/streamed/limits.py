"""What a call is given about where it runs, and whether it asks for tiles. Each call comes here: the rest is imported later."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core.checked import checked_switch
from ...core.types import ELEMENT_TYPES
from ...errors import InvalidInput, quoted
from ..memory.host import HostMemory
from ..requests import Options
from .devices import several

FITS_SHARE = 15 / 16  # of a device's memory that operands and result may take to be multiplied in one piece
# Operands and result have at least this where tiles without a limit are considered: overlap.py.
OVERLAPPED_BYTES = 512 * 2**20


Bytes: TypeAlias = int | str | None  # a limit as callers write it
Where: TypeAlias = str | int | Sequence[str | int] | None  # one device, several, or the default one


# A named tuple, since each call makes one.
class Limits(NamedTuple):
    """What a call is given about where it runs, as the caller writes it."""

    device: Any = None
    max_device_bytes: Bytes = None
    max_host_bytes: Bytes = None
    progress: bool = False

    @property
    def given(self) -> bool:
        """Whether any of it asks for tiles."""
        device, device_bytes, host_bytes, progress = self
        limited = device_bytes is not None or host_bytes is not None or progress
        return limited or (device is not None and several(device))


def limits_of(device: Any, max_device_bytes: Bytes, max_host_bytes: Bytes, progress: Any) -> Limits:
    """The limits of a call's arguments. InvalidInput for a `progress` that is neither True nor False."""
    return Limits(device, max_device_bytes, max_host_bytes, checked_switch("progress", progress))


NO_LIMITS = Limits()  # of nearly all calls, which make none


def plain_options(casting: Any, dtype: Any, precision: str | None) -> Options:
    """Those of a `matmul`."""
    return Options(1, 0, "N", "N", None, casting, dtype, precision)


NOTHING_ADDED = (None, None, None, None)  # for c, bias and scales of a `matmul`


def refuse_with_limits(**others: Any) -> None:
    """InvalidInput for arguments that a call in tiles cannot have."""
    for name, value in others.items():
        if value is not None:
            raise InvalidInput(
                f"{name}={quoted(value)} cannot stand beside limits of memory, progress or several devices: leave it out"
            )


def bytes_of(arrays: Sequence[Any], result_elements: int = 0) -> int:
    """The bytes of NumPy arrays and of a result."""
    given = [array for array in arrays if isinstance(array, np.ndarray)]
    itemsize = max((_result_itemsize(array.dtype) for array in given), default=0)
    return sum(array.nbytes for array in given) + result_elements * itemsize


@lru_cache(maxsize=256)
def _result_itemsize(dtype: np.dtype) -> int:
    """Bytes of an element of a product: those of int8 and of 8-bit floats are wider than their operands."""
    kind = ELEMENT_TYPES.get(dtype.name)
    return dtype.itemsize if kind is None else ELEMENT_TYPES[kind.result].itemsize


def too_large(memory: Any, nbytes: int) -> bool:
    """Whether NumPy arrays and a result, `nbytes` together, do not fit the device of a call: tiles are computed then."""
    return isinstance(memory, HostMemory) and nbytes > FITS_SHARE * memory.device.info.global_bytes


def has_long_copies(memory: Any, nbytes: int) -> bool:
    """Whether the call copies them to a device, and they are large enough for copies beside the product."""
    return isinstance(memory, HostMemory) and nbytes >= OVERLAPPED_BYTES and not memory.shares_memory


def result_elements(a: Any, b: Any, trans_a: str = "N", trans_b: str = "N") -> int:
    """Elements of the product of two NumPy matrices or stacks; 0 for other operands, which are too small to matter."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or min(a.ndim, b.ndim) < 2:
        return 0
    rows, columns = a.shape[-2 if trans_a == "N" else -1], b.shape[-1 if trans_b == "N" else -2]
    sides = zip_longest(reversed(a.shape[:-2]), reversed(b.shape[:-2]), fillvalue=1)
    return int(rows * columns * prod(map(max, sides)))
