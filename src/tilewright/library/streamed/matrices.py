"""Where the tiles of a call are read and written: arrays in memory, files that are mapped, arrays that can only be sliced.

A tile lies in memory as its matrix does: by rows, or by columns if those are contiguous. What lies contiguous is called a line.
"""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np

from ...errors import StorageFailed, UnsupportedType
from ...runtime.opencl.copy_threads import share, taken_from
from ...runtime.opencl.staging import USUAL
from ..views import unmasked

CHUNK_BYTES = 2**20  # of what is converted, transposed or read at a time, by each thread
MOST_CHUNK_BYTES = 64 * 2**20  # the same of arrays with large chunks of their own


@dataclass(frozen=True)
class Part:
    """A rectangle of a matrix."""

    row: int
    rows: int
    column: int
    columns: int

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    def in_lines(self, by_columns: bool) -> "Part":
        """The same rectangle by lines: as it is, or transposed."""
        return Part(self.column, self.columns, self.row, self.rows) if by_columns else self

    @property
    def index(self) -> tuple[slice, slice]:
        return slice(self.row, self.row + self.rows), slice(self.column, self.column + self.columns)


class Matrix(ABC):
    """A matrix of the caller's. Arrays that are read into or written have the shape (lines, length of a line)."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype, by_columns: bool) -> None:
        self.shape, self.dtype, self.by_columns = shape, dtype, by_columns

    def direct(self, part: Part) -> np.ndarray | None:
        """The part's own memory, if it may be touched; None if it must be read and written."""
        return None

    @property
    def spare_bytes(self) -> int:
        """Bytes of the host's memory that reading or writing a part takes for itself."""
        return CHUNK_BYTES

    @abstractmethod
    def read(self, part: Part, into: np.ndarray) -> None:
        """Copy a part of this matrix, and convert it to the type of `into`."""

    @abstractmethod
    def write(self, part: Part, lines: np.ndarray, check: int = 0) -> int:
        """The opposite. What is written into a file is added to a check sum, which is returned."""

    @abstractmethod
    def identity(self) -> list[Any]:
        """What a journal knows the matrix by: it changes if the contents do."""


class MemoryMatrix(Matrix):
    """A NumPy array with two dimensions and any strides."""

    def __init__(self, array: np.ndarray) -> None:
        rows, columns = array.strides
        by_columns = abs(rows) < abs(columns) and array.shape[0] > 1 and array.shape[1] > 1
        super().__init__((array.shape[0], array.shape[1]), array.dtype, by_columns)
        self._lines = array.T if by_columns else array

    def direct(self, part: Part) -> np.ndarray:
        found: np.ndarray = self._lines[part.in_lines(self.by_columns).index]
        return found

    def read(self, part: Part, into: np.ndarray) -> None:
        copied(self.direct(part), into)

    def write(self, part: Part, lines: np.ndarray, check: int = 0) -> int:
        copied(lines, self.direct(part))
        return check

    def identity(self) -> list[Any]:
        check = 0
        step = max(1, CHUNK_BYTES // max(1, self._lines.shape[1] * self.dtype.itemsize))
        for first in range(0, len(self._lines), step):
            check = crc32(np.ascontiguousarray(self._lines[first : first + step]).view(np.uint8).data, check)
        return ["memory", list(self.shape), self.dtype.str, self.by_columns, check]


def _rows_of(chunks: Any) -> int:
    """The rows of an array's largest chunk: zarr and h5py say one number for each dimension, Dask the sides of all chunks."""
    if not chunks:
        return 1
    sides = chunks[-2]
    return max((int(each) for each in sides), default=1) if isinstance(sides, tuple) else int(sides)


class SlicedMatrix(Matrix):
    """An array with `shape`, `dtype` and slices, such as those of zarr and h5py. Rows are read in the array's own chunks.

    Who writes a part of a chunk reads the chunk, changes and writes it: only one thread at a time may, by the array's `lock`.
    """

    def __init__(self, array: Any, lock: Lock, index: tuple[int, ...] = (), by_columns: bool = False) -> None:
        lines, length = (int(side) for side in array.shape[-2:])
        super().__init__((length, lines) if by_columns else (lines, length), np.dtype(array.dtype), by_columns)
        self._array, self._lock, self._index = array, lock, index
        chunks = getattr(array, "chunks", None)
        self._row_bytes = max(1, length * self.dtype.itemsize)
        # Of a chunk that is read in parts each part would decompress the whole.
        wanted = max(_rows_of(chunks), CHUNK_BYTES // self._row_bytes)
        self._step = max(1, min(lines, wanted, MOST_CHUNK_BYTES // self._row_bytes))

    @property
    def spare_bytes(self) -> int:
        return 2 * self._step * self._row_bytes

    def read(self, part: Part, into: np.ndarray) -> None:
        own = part.in_lines(self.by_columns)
        for first in range(0, own.rows, self._step):
            count = min(self._step, own.rows - first)
            index = Part(own.row + first, count, own.column, own.columns).index
            with self._lock, told(self._array, "reading"):
                given = self._array[(*self._index, *index)]
                found = np.asanyarray(given)
            if found.dtype.hasobject:
                raise UnsupportedType(
                    f"a slice of a {type(self._array).__name__} is a {type(given).__name__}, which is no array of numbers: "
                    "pass a NumPy array"
                )
            found = unmasked(found, f"a {type(self._array).__name__} is read")
            if found.shape != (count, own.columns):
                raise short_read(type(self._array).__name__, (count, own.columns), found.shape)
            np.copyto(into[first : first + count], found, casting="unsafe")

    def write(self, part: Part, lines: np.ndarray, check: int = 0) -> int:
        own = part.in_lines(self.by_columns)
        for first in range(0, own.rows, self._step):
            count = min(self._step, own.rows - first)
            index = Part(own.row + first, count, own.column, own.columns).index
            some = lines[first : first + count].astype(self.dtype, copy=False)
            with self._lock, told(self._array, "writing"):
                self._array[(*self._index, *index)] = some
        return check

    def identity(self) -> list[Any]:
        place: Any = place_of(self._array)
        known = place if any(place) else self._contents()
        return [type(self._array).__name__, list(self.shape), self.dtype.str, self.by_columns, list(self._index), known]

    def _contents(self) -> int:
        """The check sum of the whole matrix, of an array that does not say where it is stored."""
        lines, length = self.shape[::-1] if self.by_columns else self.shape
        check = 0
        for first in range(0, lines, self._step):
            count = min(self._step, lines - first)
            found = np.empty((count, length), self.dtype)
            self.read(Part(first, count, 0, length).in_lines(self.by_columns), found)
            check = crc32(found.view(np.uint8).data, check)
        return check


@contextmanager
def told(array: Any, what: str) -> Iterator[None]:
    """Make a StorageFailed of what an array's own library says, such as of a file that is closed or read-only."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise StorageFailed(f"{what} a {type(array).__name__}: {error}") from error


def place_of(array: Any) -> list[str]:
    """Where an array that can only be sliced is stored, by what zarr and h5py say; empty strings where they do not say."""
    store, file = getattr(array, "store", ""), getattr(getattr(array, "file", None), "filename", "")
    root = getattr(store, "root", None)
    places = [
        os.path.realpath(root) if isinstance(root, os.PathLike) else str(store),
        os.path.realpath(file) if file else "",
    ]
    return [str(getattr(array, name, "")) for name in ("name", "path")] + places


def short_read(name: str, wanted: object, found: object) -> StorageFailed:
    return StorageFailed(f"{name} gave {found} where {wanted} was asked for: it is shorter than its shape says")


def copied(source: np.ndarray, target: np.ndarray) -> None:
    """Copy lines to lines by several threads, and convert them to the target's type. The rules have allowed the conversion."""
    count = min(USUAL.threads, max(1, target.nbytes // USUAL.share_bytes))
    in_threads(len(target), target.nbytes, count, lambda first, last: _copy(source[first:last], target[first:last]))


def _copy(source: np.ndarray, target: np.ndarray) -> None:
    np.copyto(target, source, casting="unsafe")


def in_threads(lines: int, nbytes: int, threads: int, work: Any) -> None:
    """Call `work(first, last)` for ranges of lines of about CHUNK_BYTES until all are done."""
    step = max(1, CHUNK_BYTES * lines // max(nbytes, 1))
    todo = deque((first, min(first + step, lines)) for first in range(0, lines, step))

    def some(_: int) -> None:
        while (taken := taken_from(todo)) is not None:
            work(*taken)

    share(some, range(min(threads, max(1, len(todo)))), todo)
