"""The files behind mapped memory, whatever has mapped it: NumPy's memmaps, `mmap`, memory that processes share.

Two mappings of one file are two places to NumPy, and one memory to who writes there.
"""

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds

SHARED_MODES = ("r", "r+", "w+")  # of NumPy's memmap: pages that are written in mode "c" never reach the file
MAPS, MOUNTS = Path("/proc/self/maps"), Path("/proc/self/mountinfo")  # of Linux


@dataclass(frozen=True)
class Span:
    """The bytes of a file that an array has."""

    device: int
    inode: int
    first: int
    last: int

    def overlaps(self, other: "Span") -> bool:
        same = (self.device, self.inode) == (other.device, other.inode)
        return same and self.first < other.last and other.first < self.last


class Mapping(NamedTuple):
    """Addresses that show a file from an offset on. `shared` pages are those of the file, others are copied when written."""

    first: int
    last: int
    shared: bool
    offset: int
    device: int
    inode: int


def _mappings() -> Iterator[Mapping]:
    for line in MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
        addresses, rights, offset, device, inode = line.split()[:5]
        first, last = (int(text, 16) for text in addresses.split("-"))
        major, minor = (int(text, 16) for text in device.split(":"))
        yield Mapping(first, last, rights[3] == "s", int(offset, 16), os.makedev(major, minor), int(inode))


def mapping_at(address: int) -> Mapping | None:
    """What is mapped at an address; None if nothing is, or the system does not say."""
    if not MAPS.exists():
        return None
    return next((each for each in _mappings() if each.first <= address < each.last), None)


def mapped_root(array: np.ndarray) -> np.memmap | None:
    """The memmap that an array is a view of; None if there is none, or its pages are not those of a file with a name."""
    found: Any = array
    while isinstance(found, np.ndarray):
        if isinstance(found, np.memmap) and isinstance(found.base, mmap.mmap):
            return found if found.filename is not None and found.mode in SHARED_MODES else None
        found = found.base
    return None


def span_of(array: np.ndarray) -> Span | None:
    """The bytes of a file among which an array lies; None for memory that is no file's."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.base is None or not array.size:  # NumPy's own memory
        return None
    first, last = byte_bounds(array)
    if MAPS.exists():
        found = mapping_at(first)
        if found is None or not found.shared or not found.inode:
            return None
        begin = found.offset + first - found.first
        return Span(found.device, found.inode, begin, begin + last - first)
    named = mapped_root(array)
    if named is None or not Path(str(named.filename)).exists():
        return None
    status = Path(str(named.filename)).stat()
    begin = named.offset + first - named.__array_interface__["data"][0]
    return Span(status.st_dev, status.st_ino, begin, begin + last - first)


def in_memory(device: int) -> bool:
    """Whether a file system has no disk. Where the system does not say, it has one."""
    if not MOUNTS.exists():
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        mount, _, kind = line.partition(" - ")
        if mount.split()[2] == number:
            return kind.split()[0] in ("tmpfs", "ramfs", "hugetlbfs")
    return False
