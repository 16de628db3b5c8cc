"""In-place transposes of square matrices: tiles opposite each other across the diagonal are swapped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...core.device import DeviceInfo
from ...core.in_place import InPlaceTranspose
from ...core.kernel import MOST_GROUPS, Config, Kernel, NDRange, Step, Steps
from ...core.operands import Layout, Operand, Scalars
from ...core.problem import Arrays, Problem
from ...core.types import ELEMENT_TYPES, element_type
from ...errors import InvalidInput
from . import HERE
from .configs import WORD, TransposeConfig
from .strided_copy import StridedCopy, width

if TYPE_CHECKING:
    import numpy as np

NARROW = 32  # the side of a tile of int8 or int16 elements that are copied one by one


@dataclass(frozen=True)
class StridedInPlaceTranspose:
    """Each of `batch` matrices of rows x rows = its transpose; element (b, i, j) lies where `layout` says."""

    operation: ClassVar[str] = "in-place transpose"
    rows: int
    dtype: str
    layout: Layout
    batch: int = 1

    @property
    def title(self) -> str:
        return f"in-place transpose {self.rows}x{self.rows} {self.dtype}" + (
            f" batch {self.batch}" if self.batch != 1 else ""
        )

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (Operand("matrix", (self.batch, self.rows, self.rows), self.dtype, written=True, updated=True),)

    @property
    def scalars(self) -> Scalars:
        return {"rows": self.rows, **self.layout.scalars("matrix")}

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["matrix"].swapaxes(-1, -2)

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0

    @property
    def by_rows(self) -> StridedInPlaceTranspose:
        """The same transpose with the smaller stride along the rows: a matrix and its transpose are transposed alike."""
        layout = self.layout
        return replace(self, layout=layout.swapped) if abs(layout.row) < abs(layout.column) else self

    def batches(self, first: int, count: int) -> StridedInPlaceTranspose:
        """The transposes of `count` matrices of the batch from `first` on."""
        offset = self.layout.offset + first * self.layout.batch
        return replace(self, layout=replace(self.layout, offset=offset), batch=count)


def in_place_of(problem: Problem) -> StridedInPlaceTranspose:
    """A problem as a StridedInPlaceTranspose; InvalidInput if it is not an in-place transpose."""
    if isinstance(problem, StridedInPlaceTranspose):
        return problem
    if not isinstance(problem, InPlaceTranspose):
        raise InvalidInput(f"{problem.title} is not an in-place transpose")
    rows = problem.rows
    return StridedInPlaceTranspose(rows, problem.dtype, Layout(0, rows, 1, rows * rows), problem.batch)


@dataclass(frozen=True)
class TransposeInPlaceConfig(TransposeConfig):
    """transpose_in_place.cl: transpose.cl's tiles, which must be square."""

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        """Elements smaller than a word that are copied one by one: 32 by 32, as there are four times as many instructions."""
        itemsize = element_type(copy.dtype).itemsize
        narrow = width(copy.source, copy.columns, copy.rows, copy.batch, itemsize) * itemsize < WORD
        return (NARROW, NARROW) if narrow else super().tile(copy)

    def oriented(self, problem: Problem) -> StridedCopy:
        """What becomes of the tiles above the diagonal, as a copy."""
        square = in_place_of(problem).by_rows
        return StridedCopy(square.rows, square.rows, square.dtype, square.layout, square.layout.swapped, square.batch)

    def ndrange(self, problem: Problem) -> NDRange:
        copy = self.oriented(problem)
        tiles = (-(-copy.rows // self.tile(copy)[0]) + 1) // 2 * 2
        return NDRange(((tiles + 1) * self.items if tiles else 0, tiles // 2, copy.batch), (self.items, 1, 1))


def in_place_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices."""
    square = in_place_of(problem).by_rows
    parts = range(0, max(square.batch, 1), MOST_GROUPS)
    return tuple(Step(kernel, config, square.batches(first, min(MOST_GROUPS, square.batch - first))) for first in parts)


TRANSPOSE_IN_PLACE = Kernel(
    HERE / "transpose_in_place.cl",
    TransposeInPlaceConfig(256, 256),
    StridedInPlaceTranspose.operation,
    (TransposeInPlaceConfig(128, 64, 128),),
    dtypes=tuple(ELEMENT_TYPES),
    steps=in_place_steps,
)


def in_place_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a StridedInPlaceTranspose or an InPlaceTranspose, ranked."""
    return (TRANSPOSE_IN_PLACE,)
