"""What to move: stacks of matrices, and square matrices in place."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .dtypes import element_type
from .errors import InvalidInput
from .operands import Operand, Scalars
from .problem import Arrays, Transpose


@dataclass(frozen=True)
class StackedTranspose(Transpose):
    """As Transpose, `batch` times, one matrix behind the other."""

    operation: ClassVar[str] = "stacked transpose"
    batch: int = 1

    @property
    def title(self) -> str:
        return f"{self.operation} {self.batch} of {self.rows}x{self.columns} {self.dtype}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        source, target = super().operands
        return (
            replace(source, shape=(self.batch, *source.shape)),
            replace(target, shape=(self.batch, *target.shape)),
        )

    def reference(self, arrays: Arrays) -> np.ndarray:
        return np.swapaxes(arrays["input"][..., self.offset :], -1, -2)


@dataclass(frozen=True)
class StackedCopy(StackedTranspose):
    """As Copy, `batch` times, one matrix behind the other."""

    operation: ClassVar[str] = "stacked copy"

    @property
    def operands(self) -> tuple[Operand, ...]:
        source, target = super().operands
        return source, replace(target, shape=(self.batch, self.rows, self.kept))

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"][..., self.offset :]


@dataclass(frozen=True)
class InPlaceTranspose:
    """matrix = its transpose, for a square matrix of `rows` x `rows`, or for `batch` of them one behind the other."""

    operation: ClassVar[str] = "in-place transpose"
    rows: int
    dtype: str = "float32"
    batch: int = 1

    def __post_init__(self) -> None:
        if self.rows < 0 or self.batch < 0:
            raise InvalidInput(f"{self.batch} matrices of {self.rows} rows: a size is negative")
        element_type(self.dtype)

    @property
    def title(self) -> str:
        many = f"{self.batch} of " if self.batch != 1 else ""
        return f"{self.operation} {many}{self.rows}x{self.rows} {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        lead = () if self.batch == 1 else (self.batch,)
        return (Operand("matrix", (*lead, self.rows, self.rows), self.dtype, written=True, updated=True),)

    @property
    def scalars(self) -> Scalars:
        return {"rows": self.rows}

    def reference(self, arrays: Arrays) -> np.ndarray:
        return np.swapaxes(arrays["matrix"], -1, -2)

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0
