"""The in-place transpose of square matrices: a problem for the library's kernels and for `bench`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..errors import InvalidInput
from .operands import Operand, Scalars
from .problem import Arrays
from .types import element_type

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class InPlaceTranspose:
    """matrix = matrix^T, for a square matrix of `rows` x `rows`, or for a batch of them without gaps between."""

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
        return arrays["matrix"].swapaxes(-1, -2)

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0
