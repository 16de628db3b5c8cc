"""Segments: the bytes behind one variable, buffer or array, with one copy for each owner."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.types import Space
from .compiled_code import Site, Value
from .shadow import Shadow

SHIFT = 40
ORIGIN = 1 << 39
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Access:
    """What one access moves for each lane: `count` elements of `dtype`, at addresses that must be multiples of `alignment`.
    `check` is false for reads of bytes that may be unset (parts of a vector being assigned)."""

    dtype: "np.dtype[Any]"
    count: int
    alignment: int
    site: Site
    counted: bool = True

    @property
    def size(self) -> int:
        return self.dtype.itemsize * self.count


class Segment:
    """One variable, buffer or array: `size` bytes for each owner; `base` is the first byte of each lane's copy."""

    def __init__(
        self, number: int, name: str, space: Space, size: int, data: npt.NDArray[np.uint8], base: Offsets | None
    ) -> None:
        self.number = number
        self.address = np.int64((number << SHIFT) + ORIGIN)
        self.name = name
        self.space = space
        self.size = size
        self.data = data
        self.base = base
        self.row = (0, 0)  # bytes of a row and of an element, of a two-dimensional array
        self.off_chip = False  # of private memory: whether its traffic counts
        self.writable = True
        self.written = False
        self.contested: npt.NDArray[np.bool_] | None = None  # bytes that several work-items wrote, no barrier between
        self.shadow: Shadow | None = None
        self.unset: Unset | None = None
        self._views: dict[tuple[Any, int], npt.NDArray[Any]] = {}

    def view(self, dtype: "np.dtype[Any]", count: int) -> npt.NDArray[Any]:
        """The bytes as elements, or as rows of `count` elements."""
        key = (dtype, count)
        if key not in self._views:
            step = dtype.itemsize * count
            whole = self.data[: self.data.size // step * step].view(dtype)
            self._views[key] = whole if count == 1 else whole.reshape(-1, count)
        return self._views[key]

    def contest(self, cells: Offsets, granule: int) -> None:
        """Marks cells of `granule` bytes that several work-items wrote."""
        if self.contested is None:
            self.contested = np.zeros(round_up(self.data.size, 16), bool)
        self.contested.reshape(-1, granule)[cells] = True

    def own(self) -> None:
        """Copies the caller's array before the first write."""
        if not self.written:
            self.data = self.data.copy()
            self._views.clear()
            self.written = True

    def gather(self, offsets: Offsets, dtype: "np.dtype[Any]", count: int, low: int) -> Value:
        """Elements at byte `offsets` (of all copies together): (lanes,) or (count, lanes); `low` is the bitwise or of
        the offsets."""
        size = dtype.itemsize
        if low % size:
            raw = self.data[offsets + np.arange(size * count)[:, None]]
            values = np.ascontiguousarray(raw.T).view(dtype)
            return values[:, 0] if count == 1 else np.ascontiguousarray(values.T)
        if count == 1:
            return self.view(dtype, 1).take(places(offsets // size))
        row = size * count
        if low % row == 0 and row & (row - 1) == 0:  # the copies of lanes and groups start at multiples of it, too
            return np.ascontiguousarray(self.view(dtype, count).take(places(offsets // (size * count)), axis=0).T)
        return self.view(dtype, 1).take(places(offsets // size + np.arange(count)[:, None]))

    def scatter(self, offsets: Offsets, values: npt.NDArray[Any], dtype: "np.dtype[Any]", count: int, low: int) -> None:
        size = dtype.itemsize
        if low % size:
            raw = np.ascontiguousarray(values.T.reshape(len(offsets), count)).view(np.uint8)
            self.data[offsets[:, None] + np.arange(size * count)] = raw
        elif count == 1:
            self.view(dtype, 1)[offsets // size] = values
        else:
            self.view(dtype, 1)[offsets // size + np.arange(count)[:, None]] = values


class Unset:
    """Which bytes of private memory have been written, in cells of `granule` bytes."""

    def __init__(self, size: int) -> None:
        self.granule = 16
        self.written = np.zeros(-(-size // 16), bool)

    def cells(self, offsets: Offsets, size: int, unit: int) -> Offsets:
        if unit < self.granule:
            self.written = self.written.repeat(self.granule // unit)
            self.granule = unit
        first = offsets // self.granule
        count = size // self.granule
        return first if count <= 1 else first + np.arange(count)[:, None]


def places(numbers: Offsets) -> npt.NDArray[np.intp]:
    """Elements' numbers as `take` wants them: where addresses have 32 bits, as in a browser, it refuses others."""
    return numbers.astype(np.intp, copy=False)


def nothing(access: Access, lanes: int) -> Value:
    """Zeros in the shape that `access` loads: one for all lanes if `lanes` is 0."""
    if lanes == 0:
        return access.dtype.type(0) if access.count == 1 else np.zeros((access.count, 1), access.dtype)
    return np.zeros(lanes if access.count == 1 else (access.count, lanes), access.dtype)


def round_up(size: int, multiple: int) -> int:
    return -(-max(size, 1) // multiple) * multiple
