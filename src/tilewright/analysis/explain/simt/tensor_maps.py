"""Tensor maps as the interpreter keeps them: sixteen 64-bit words in a buffer, of which the kernel only hands on the address.

A driver's encoding is not public. Here word 0 says that the others are a tensor map: the bytes of an element, the swizzle,
sizes, strides and box.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....core.tensor_map import TensorMap
from ....core.types import element_type
from ....errors import Unsupported

WORDS, MOST_DIMENSIONS = 16, 2
KIND = int.from_bytes(b"tilewrig")  # word 0 of a map: other buffers have it by no accident
CHUNK = 16  # bytes that a swizzle moves together


@dataclass(frozen=True)
class BoxCopy:
    """A matrix in global memory and the box that one request of TMA copies: sizes, stride and box in bytes and rows."""

    row_bytes: int  # of the matrix
    rows: int
    stride: int
    box_bytes: int
    box_rows: int
    itemsize: int
    swizzle: int

    @property
    def nbytes(self) -> int:
        return self.box_bytes * self.box_rows

    def sources(self, x: int, y: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The bytes from the matrix's beginning of every chunk of the box at column `x` and row `y`, and which are inside."""
        row, at = np.divmod(np.arange(self.nbytes // CHUNK, dtype=np.int64), self.box_bytes // CHUNK)
        row, at = row + y, at * CHUNK + x * self.itemsize
        inside = (row >= 0) & (row < self.rows) & (at >= 0) & (at < self.row_bytes)
        return row * self.stride + at, inside

    def targets(self, to: int) -> npt.NDArray[np.int64]:
        """The local addresses of the chunks of a box at `to`: permuted by the address, as the swizzle says."""
        return swizzled(to + np.arange(self.nbytes // CHUNK, dtype=np.int64) * CHUNK, self.swizzle)


def swizzled(addresses: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """Bits 4 and up of an address, as many as chunks of 16 bytes fill `width`, are changed by those from bit 7 on."""
    return addresses ^ ((addresses >> 7) % max(width // CHUNK, 1) << 4)


def encode(given: TensorMap, name: str) -> npt.NDArray[np.uint64]:
    """The words of a map; Unsupported for one that is not interpreted."""
    if len(given.sizes) != MOST_DIMENSIONS or given.dtype == "tf32":
        raise Unsupported(
            f"the tensor map {name} has {len(given.sizes)} dimensions of {given.dtype}; explain runs those of two, without "
            "conversion to tf32"
        )
    itemsize = element_type(given.dtype).itemsize
    words = [KIND, itemsize, given.swizzle, *given.sizes, *given.strides, *given.box]
    return np.array([*words, *[0] * (WORDS - len(words))], np.uint64)


def decode(words: Sequence[int]) -> BoxCopy | None:
    """What `encode` made words of; None for other words."""
    if words[0] != KIND:
        return None
    _, itemsize, swizzle, columns, rows, stride, box_columns, box_rows = words[:8]
    return BoxCopy(columns * itemsize, rows, stride, box_columns * itemsize, box_rows, itemsize, swizzle)
