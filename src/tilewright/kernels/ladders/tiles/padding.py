"""Helpers of `any_size`: a matrix brought to another size, transposed or not, as a problem and two kernels of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ....core.kernel import Config, Kernel, NDRange, round_up
from ....core.operands import Operand, Scalars
from ....core.problem import Problem
from ....core.types import element_type, numpy_dtype
from ...sizes import size

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Resize:
    """output (new_rows x new_columns) = input (rows x columns) or its transpose: zeros beyond it, cut off at the end.

    Both are row-major.
    """

    operation: ClassVar[str] = "resize"
    rows: int
    columns: int
    new_rows: int
    new_columns: int
    dtype: str = "float32"
    transposed: bool = False

    @property
    def title(self) -> str:
        verb = "pad_transpose" if self.transposed else "pad"
        return f"{verb} {self.rows}x{self.columns} to {self.new_rows}x{self.new_columns} {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (
            Operand("input", (self.rows, self.columns), self.dtype),
            Operand("output", (self.new_rows, self.new_columns), self.dtype, written=True),
        )

    @property
    def scalars(self) -> Scalars:
        return {
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "NEW_ROWS": self.new_rows,
            "NEW_COLUMNS": self.new_columns,
        }

    def reference(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        import numpy as np

        source = arrays["input"].T if self.transposed else arrays["input"]
        kept = source[: self.new_rows, : self.new_columns]
        output = np.zeros((self.new_rows, self.new_columns), numpy_dtype(self.dtype))
        output[: kept.shape[0], : kept.shape[1]] = kept
        return output

    def error_bound(self, arrays: Mapping[str, np.ndarray], reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class OutputBlock(Config):
    """A work-group writes a square of TILE x TILE elements; dimension 0 runs along the rows of the output."""

    TILE: int  # side of the square
    ROWS_PER_ITEM: int = 1  # elements that one work-item copies
    PAD: int = 0  # unused elements at the end of each row of the tile in local memory

    def ndrange(self, problem: Problem) -> NDRange:
        width = round_up(size(problem, "NEW_COLUMNS"), self.TILE)
        height = round_up(size(problem, "NEW_ROWS"), self.TILE)
        return NDRange((width, height // self.ROWS_PER_ITEM), (self.TILE, self.TILE // self.ROWS_PER_ITEM))

    def local_bytes(self, problem: Problem) -> int:
        return self.TILE * (self.TILE + self.PAD) * element_type(problem.dtype).itemsize


# 32 x 2 = 64 work-items: few enough for any device that the smallest rung runs on.
BLOCK = OutputBlock(32, 16, PAD=1)

PAD = Kernel(HERE / "pad.cl", BLOCK, "resize")
PAD_TRANSPOSE = Kernel(HERE / "pad_transpose.cl", BLOCK, "resize")
