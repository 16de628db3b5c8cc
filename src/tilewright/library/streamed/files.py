"""Matrices in files that NumPy has mapped, read and written by calls instead of through the mapping.

Pages of a mapping count as the process's memory for as long as the system likes. A file that is shorter than its mapping, or a
full disk, ends a process that touches the mapping by a signal. A call says how many bytes it read, and why it wrote fewer.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np

from ...errors import StorageFailed
from ...runtime.opencl.staging import USUAL
from .mappings import Span, in_memory, mapped_root, mapping_at
from .matrices import CHUNK_BYTES, Matrix, Part, in_threads


class OpenFile:
    """A file by its own descriptor, for reads and writes at an offset from any thread."""

    def __init__(self, path: Path, writable: bool) -> None:
        self.path = path
        self._descriptor = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | getattr(os, "O_BINARY", 0))
        self._lock = Lock()
        self.status = os.fstat(self._descriptor)

    def read(self, into: np.ndarray, offset: int) -> None:
        """Fill a contiguous array from an offset on. StorageFailed if the file ends before."""
        view = into.reshape(-1).view(np.uint8).data
        while len(view):
            try:
                count = self._read_some(view, offset)
            except OSError as error:
                raise StorageFailed(f"reading {len(view):,} bytes at {offset:,} of {self.path}: {error}") from error
            if not count:
                raise StorageFailed(
                    f"{self.path} ends at {os.fstat(self._descriptor).st_size:,} bytes, and a tile needs {len(view):,} bytes "
                    f"from {offset:,} on: the file was cut short after it was mapped"
                )
            view, offset = view[count:], offset + count

    def write(self, lines: np.ndarray, offset: int) -> None:
        view = lines.reshape(-1).view(np.uint8).data
        while len(view):
            try:
                count = self._write_some(view, offset)
            except OSError as error:
                raise StorageFailed(
                    f"writing {len(view):,} bytes at {offset:,} of {self.path}: {error.strerror}; make room, then make the "
                    "same call again: it goes on after the tiles that are done"
                ) from error
            view, offset = view[count:], offset + count

    def times_changes(self) -> bool:
        """Whether whatever changes the file from now on will change its time.

        A mapped page gives the file a new time when it is written to for the first time after it was stored: so all pages
        are stored now. File systems in memory never store any.
        """
        try:
            os.fsync(self._descriptor)
        except OSError:  # such as on Windows, of a file that is only read
            return False
        return not in_memory(self.status.st_dev)

    def _read_some(self, view: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            count: int = os.preadv(self._descriptor, [view], offset)
            return count
        with self._lock:  # Windows has no calls with an offset
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            found = os.read(self._descriptor, len(view))
        view[: len(found)] = found
        return len(found)

    def _write_some(self, view: memoryview, offset: int) -> int:
        if hasattr(os, "pwrite"):
            written: int = os.pwrite(self._descriptor, view, offset)
            return written
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return int(os.write(self._descriptor, view))

    def __del__(self) -> None:
        if (descriptor := getattr(self, "_descriptor", None)) is not None:
            os.close(descriptor)


OpenFiles = dict[tuple[Path, bool], OpenFile]  # by their names, and whether they are written


class FileMatrix(Matrix):
    """A matrix in a file: element (l, i) of line l lies at offset + l * line + i * itemsize."""

    def __init__(self, file: OpenFile, offset: int, array: np.ndarray, by_columns: bool) -> None:
        super().__init__((array.shape[0], array.shape[1]), array.dtype, by_columns)
        self.file = file
        lines = array.T if by_columns else array
        self._offset, self._line, self._length = offset, int(lines.strides[0]), int(lines.shape[1])

    def span(self) -> Span:
        status = self.file.status
        reach = (self.shape[1 if self.by_columns else 0] - 1) * self._line
        length = self._length * self.dtype.itemsize
        return Span(status.st_dev, status.st_ino, self._offset + min(reach, 0), self._offset + max(reach, 0) + length)

    def read(self, part: Part, into: np.ndarray) -> None:
        own = part.in_lines(self.by_columns)
        same = into.dtype == self.dtype and into.strides[1] == into.itemsize

        def some(first: int, last: int) -> None:
            found = into[first:last] if same else np.empty((last - first, own.columns), self.dtype)
            for lines, place in self._runs(own, first, last, found):
                self.file.read(lines, place)
            if not same:
                np.copyto(into[first:last], found, casting="unsafe")

        in_threads(own.rows, own.elements * self.dtype.itemsize, USUAL.threads, some)

    def write(self, part: Part, lines: np.ndarray, check: int = 0) -> int:
        own = part.in_lines(self.by_columns)
        for first, last in self._chunks(own):
            found = np.ascontiguousarray(lines[first:last].astype(self.dtype, copy=False))
            for some, place in self._runs(own, first, last, found):
                self.file.write(some, place)
            check = crc32(found.view(np.uint8).data, check)
        return check

    def check(self, part: Part) -> int:
        """The check sum of what the file has there."""
        own, check = part.in_lines(self.by_columns), 0
        for first, last in self._chunks(own):
            found = np.empty((last - first, own.columns), self.dtype)
            for some, place in self._runs(own, first, last, found):
                self.file.read(some, place)
            check = crc32(found.view(np.uint8).data, check)
        return check

    def _chunks(self, own: Part) -> Iterator[tuple[int, int]]:
        step = max(1, CHUNK_BYTES // max(1, own.columns * self.dtype.itemsize))
        for first in range(0, own.rows, step):
            yield first, min(first + step, own.rows)

    def _runs(self, own: Part, first: int, last: int, lines: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """The lines from `first` to `last`, each with its place in the file; all at once where they follow each other."""
        place = self._offset + (own.row + first) * self._line + own.column * self.dtype.itemsize
        if self._line == own.columns * self.dtype.itemsize and lines.flags.c_contiguous:
            yield lines, place
            return
        for number in range(last - first):
            yield lines[number], place + number * self._line

    @property
    def spare_bytes(self) -> int:
        line_bytes = int(self._length * self.dtype.itemsize)
        return max(CHUNK_BYTES, line_bytes) * (USUAL.threads + 1)

    def identity(self) -> list[Any]:
        known = [] if self.file.times_changes() else [self.contents]
        status = self.file.path.stat()
        return ["file", str(self.file.path), status.st_size, status.st_mtime_ns, *self.place, *known]

    @property
    def place(self) -> list[Any]:
        """Where the matrix lies in its file."""
        return [self._offset, self._line, list(self.shape), self.dtype.str, self.by_columns]

    @property
    def contents(self) -> int:
        """The check sum of the whole matrix."""
        return self.check(Part(0, self.shape[0], 0, self.shape[1]))


def file_matrix(array: np.ndarray, opened: OpenFiles, writable: bool = False) -> FileMatrix | None:
    """The file behind a view of a memmap with two dimensions. None if there is none, or elements of a line have gaps.

    StorageFailed if the file has become shorter than the array.
    """
    root = mapped_root(array)
    if root is None or not array.size:
        return None
    sizes, itemsize = array.shape, array.itemsize
    strides = [stride if side > 1 else itemsize for stride, side in zip(array.strides, sizes, strict=True)]
    if itemsize not in strides:
        return None
    by_columns = strides[1] != itemsize or (strides[0] == itemsize and sizes[0] > 1)
    try:
        path = Path(str(root.filename)).resolve()  # one name, and so one journal, whatever links lead there
        file = opened.get((path, writable)) or OpenFile(path, writable)
    except OSError:  # removed or forbidden since it was mapped: the mapping still works
        return None
    address, begin = (each.__array_interface__["data"][0] for each in (array, root))
    there = mapping_at(begin)
    if there is not None and there.inode != file.status.st_ino:  # the name is another file's by now
        return None
    opened[path, writable] = file
    made = FileMatrix(file, root.offset + address - begin, array, by_columns)
    if (size := path.stat().st_size) < made.span().last:
        raise StorageFailed(
            f"{path} has {size:,} bytes, and the array in it ends at {made.span().last:,}: it was cut short after it was mapped"
        )
    return made
