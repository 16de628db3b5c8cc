"""StridedCopy: batches of matrices copied, each side with its own strides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...core.operands import Layout, Operand, Scalars
from ...core.problem import Arrays, Copy, Problem, Transpose
from ...errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

VECTOR_BYTES = 16  # the widest load of one work-item
MAX_SIDE = 2**31 - 2**16  # so that a size rounded up to a tile is an int, too


@dataclass(frozen=True)
class StridedCopy:
    """output (b, i, j) = input (b, i, j) for rows x columns matrices, `batch` times, each side with its own layout.

    A transpose is a copy from one layout to another whose strides are swapped.
    """

    operation: ClassVar[str] = "strided copy"
    rows: int
    columns: int
    dtype: str
    source: Layout
    target: Layout
    batch: int = 1
    reserve: int = 0  # elements that the output's buffer has at least

    @property
    def title(self) -> str:
        return f"copy {self.rows}x{self.columns} {self.dtype}" + (f" batch {self.batch}" if self.batch != 1 else "")

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        shape = (self.batch, self.rows, self.columns)
        written = (self.reserve,) if self.reserve else shape
        return Operand("input", shape, self.dtype), Operand("output", written, self.dtype, written=True)

    @property
    def scalars(self) -> Scalars:
        return {
            "rows": self.rows,
            "columns": self.columns,
            **self.source.scalars("input"),
            **self.target.scalars("output"),
        }

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"]

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0

    @property
    def transposed(self) -> StridedCopy:
        """The same copy with rows and columns exchanged on both sides."""
        return replace(
            self, rows=self.columns, columns=self.rows, source=self.source.swapped, target=self.target.swapped
        )

    @property
    def flat(self) -> StridedCopy:
        """The same copy as one long row, if neither side has gaps between its rows."""
        whole = self.rows * self.columns
        joined = all(side.row == self.columns * side.column for side in (self.source, self.target))
        if not joined or self.rows == 1 or whole > MAX_SIDE:
            return self
        return replace(self, rows=1, columns=whole)

    def batches(self, first: int, count: int) -> StridedCopy:
        """The copy of `count` matrices of the batch from `first` on."""
        source, target = (replace(side, offset=side.offset + first * side.batch) for side in (self.source, self.target))
        return replace(self, source=source, target=target, batch=count)

    @property
    def output_by_rows(self) -> StridedCopy:
        """This copy, or with rows and columns exchanged: the one whose output has the smaller stride along a row."""
        return self.transposed if nearer_rows(self.target, self.rows, self.columns) else self


def too_long(copy: StridedCopy) -> Iterator[str]:
    """The constraint of kernels that round sides up to whole tiles, all but copy.cl."""
    if max(copy.rows, copy.columns) > MAX_SIDE:
        yield f"{copy.rows:,} x {copy.columns:,}: a side above {MAX_SIDE:,}, rounded up to tiles, exceeds an int"


def nearer_rows(side: Layout, rows: int, columns: int) -> bool:
    """Whether neighbours in memory are neighbours down a column rather than along a row."""
    if min(rows, columns) <= 1:  # a single line has a direction, whatever the stride across it is
        return columns <= 1 < rows
    return abs(side.row) < abs(side.column)


def strided_copy_of(problem: Problem) -> StridedCopy:
    """A problem as a StridedCopy; InvalidInput if it is not a copy or transpose."""
    if isinstance(problem, StridedCopy):
        return problem
    if not isinstance(problem, Transpose):
        raise InvalidInput(f"{problem.title} is neither a copy nor a transpose")
    source = Layout(problem.offset, problem.columns, 1, problem.rows * problem.columns)
    row, column = (problem.kept, 1) if isinstance(problem, Copy) else (1, problem.rows)
    target = Layout(0, row, column, problem.rows * problem.kept)
    return StridedCopy(problem.rows, problem.kept, problem.dtype, source, target, problem.batch)


def width(side: Layout, size: int, across: int, batch: int, itemsize: int) -> int:
    """Elements along a row that one aligned load takes; buffers start at multiples of 16 bytes."""
    count = VECTOR_BYTES // itemsize
    while count > 1 and not (
        side.column == 1
        and size % count == 0
        and side.offset % count == 0
        and (across == 1 or side.row % count == 0)
        and (batch == 1 or side.batch % count == 0)
    ):
        count //= 2
    return count
