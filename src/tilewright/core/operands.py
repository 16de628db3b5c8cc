"""The arrays of a problem: shape, element type, and layout in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from .types import element_type

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

Scalars = dict[str, int | float | complex]
# Rows that a transpose on the host copies together: their cache lines stay in the cache. Six times as fast as one call of NumPy.
ROWS_AT_A_TIME = 16


@dataclass(frozen=True)
class Operand:
    """One array of a problem. `order` is "row" for row-major matrices and "column" for column-major ones. An `updated`
    operand is read and then written: it is `written`, too."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    order: str = "row"
    written: bool = False
    updated: bool = False

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.elements * element_type(self.dtype).itemsize

    def flatten(self, array: np.ndarray) -> np.ndarray:
        """The elements in memory order, as a contiguous 1-D array; the matrices of a batch follow each other."""
        import numpy as np

        if self.order == "row":
            return np.ascontiguousarray(array).reshape(-1)
        if array.ndim != 2 or array.flags.f_contiguous:
            return np.ascontiguousarray(np.swapaxes(array, -1, -2)).reshape(-1)
        columns = np.empty(array.shape[::-1], array.dtype)
        for first in range(0, len(array), ROWS_AT_A_TIME):
            columns[:, first : first + ROWS_AT_A_TIME] = array[first : first + ROWS_AT_A_TIME].T
        return columns.reshape(-1)

    def unflatten(self, flat: np.ndarray) -> np.ndarray:
        import numpy as np

        if self.order == "row":
            return flat.reshape(self.shape)
        rows, columns = self.shape[-2:]
        return np.swapaxes(flat.reshape(*self.shape[:-2], columns, rows), -1, -2)


@dataclass(frozen=True)
class Layout:
    """Where a batch of matrices lies in its buffer, in elements: element (b, i, j) is at
    offset + b * batch + i * row + j * column. Strides may be negative. A stride of 0 broadcasts."""

    offset: int
    row: int
    column: int
    batch: int = 0

    def scalars(self, name: str) -> Scalars:
        """The values of the scalar arguments that describe the operand `name`."""
        return {
            f"{name}_offset": self.offset,
            f"{name}_row": self.row,
            f"{name}_column": self.column,
            f"{name}_batch": self.batch,
        }

    @property
    def swapped(self) -> Layout:
        """The layout of the transposed matrices."""
        return replace(self, row=self.column, column=self.row)


def dense_layout(operand: Operand) -> Layout:
    """The layout of an operand without gaps, in its own memory order."""
    rows, columns = operand.shape[-2:]
    row, column = (columns, 1) if operand.order == "row" else (1, rows)
    return Layout(0, row, column, rows * columns)
