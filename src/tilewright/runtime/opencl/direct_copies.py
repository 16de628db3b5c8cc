"""Copies between buffers and pinned arrays, which the device does alone: no thread of the host touches the bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np
import pyopencl as cl

from .device import Device, check
from .pinned import PinnedRange

# The least bytes of a row, and of a command, that the device copies by itself. An H100 copies rows of 512 bytes at 26 GB/s, of
# 4 KiB at 33, of 16 KiB at 49 to 55. A command takes some 10 us of Python.
LEAST_ROW, LEAST_COMMAND = 512, 256 * 2**10
# The most bytes of a command that copies rows, and the commands of a copy that the device has at a time. While it copies rows,
# NVIDIA's driver tells nobody of a kernel's end: one command for 537 MB held up all others for 17 ms.
MOST_BY_ROWS, IN_FLIGHT = 16 * 2**20, 2


@dataclass(frozen=True)
class Rows:
    """Rows of one length at a fixed `pitch`, in bytes. The first begins `begin` bytes into a pinned range."""

    begin: int
    row_bytes: int
    rows: int
    pitch: int

    def span(self, first: int, rows: int) -> slice:
        """Where some of the rows lie in the range."""
        begin = self.begin + first * self.pitch
        return slice(begin, begin + (rows - 1) * self.pitch + self.row_bytes)


def rows_of(array: np.ndarray, first: int) -> list[Rows]:
    """The rows of an array in C order, in as few blocks as can be, by their place behind the address `first`.

    An empty list if they are no such blocks, or if those are small.
    """
    sides, strides = _merged(array)
    *outer_sides, rows = sides[:-1] or [1]
    *outer_strides, pitch = strides[:-1] or [array.nbytes]
    row_bytes = sides[-1] * strides[-1]
    least = min(array.nbytes, LEAST_COMMAND)
    if strides[-1] != array.itemsize or pitch < row_bytes or row_bytes < LEAST_ROW or rows * row_bytes < least:
        return []
    begin = array.__array_interface__["data"][0] - first
    places = (begin + sum(map(mul, index, outer_strides)) for index in np.ndindex(*outer_sides))
    return [Rows(place, row_bytes, rows, pitch) for place in places]


def range_copied_directly(device: Device, array: np.ndarray) -> PinnedRange | None:
    """The pinned range of an array that the device copies by itself, as matrices of rows or of columns; None for others."""
    pinned = device.pinned.holding(array)
    if pinned is None or not any(rows_of(each, pinned.first) for each in (array, array.mT)):
        return None
    return pinned


def _merged(array: np.ndarray) -> tuple[list[int], list[int]]:
    """An array's sides and strides in bytes, where neighbours that lie behind one another are one dimension."""
    sides, strides = [1], [array.itemsize]
    for side, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if side == 1:
            continue
        if sides[0] == 1 or stride == sides[0] * strides[0]:
            strides[0] = strides[0] if sides[0] > 1 else stride
            sides[0] *= side
        else:
            sides.insert(0, side)
            strides.insert(0, stride)
    return sides, strides


# A copy whose end nobody has waited for: what must stay pinned until then, and its event. Python drops the last of a tuple
# first, and who drops an event of PyOpenCL's copies waits for it: so an error or Ctrl-C lets go of nothing too early.
Copy = tuple[PinnedRange, Any]
Begun = list[Copy]


def begin_write(device: Device, queue: Any, buffer: Any, array: np.ndarray) -> Begun | None:
    """Begin to copy an array to a buffer. None, and nothing done, if the array is not pinned, or not in long rows.

    Arrays are in the order of their buffers: C order, any strides.
    """
    return _begun(device, queue, buffer, array, True)


def write_directly(device: Device, queue: Any, buffer: Any, array: np.ndarray) -> bool:
    """The same to its end; False if nothing was done."""
    return ended(device, begin_write(device, queue, buffer, array))


def read_directly(device: Device, queue: Any, buffer: Any, array: np.ndarray) -> bool:
    """Copy a buffer to an array after all commands in the queue, and wait; False if nothing was done."""
    return ended(device, _begun(device, queue, buffer, array, False))


def _begun(device: Device, queue: Any, buffer: Any, array: np.ndarray, writes: bool) -> Begun | None:
    pinned = device.pinned.holding(array) if array.nbytes else None
    blocks = [] if pinned is None else rows_of(array, pinned.first)
    if pinned is None or not blocks:
        return None
    what = f"writing {array.nbytes:,} bytes to" if writes else f"reading {array.nbytes:,} bytes from"
    begun: Begun = []
    with check(f"{what} {device.info.label}"):
        for copy in _commands(queue, buffer, pinned, blocks, writes):
            begun.append(copy)
            queue.flush()
            if len(begun) > IN_FLIGHT:
                begun[0][1].wait()
                del begun[0]
    return begun


def ended(device: Device, begun: Begun | None) -> bool:
    """Wait for what was begun, and say whether anything was."""
    with check(f"copying pinned memory to or from {device.info.label}"):
        for copy in begun or ():
            copy[1].wait()
    return begun is not None


def _commands(queue: Any, buffer: Any, pinned: PinnedRange, blocks: list[Rows], writes: bool) -> Iterator[Copy]:
    """Copies of blocks that lie behind one another in a buffer: each is enqueued when it is asked for."""
    row = 0
    for block in blocks:
        step = max(1, MOST_BY_ROWS // block.row_bytes)
        for first in range(0, block.rows, step):
            rows = min(step, block.rows - first)
            host = pinned.bytes[block.span(first, rows)]
            if rows == 1:
                where: dict[str, Any] = {"dst_offset" if writes else "src_offset": row * block.row_bytes}
            else:
                where = {
                    "buffer_origin": (0, row, 0), "buffer_pitches": (block.row_bytes, 0), "host_origin": (0, 0, 0),
                    "host_pitches": (block.pitch, 0), "region": (block.row_bytes, rows, 1),
                }  # fmt: skip
            target, source = (buffer, host) if writes else (host, buffer)
            yield pinned, cl.enqueue_copy(queue, target, source, is_blocking=False, **where)
            row += rows
