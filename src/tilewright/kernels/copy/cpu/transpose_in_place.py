"""transpose_in_place.cl as a Kernel: in-place transposes of square matrices on CPU devices."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import Kernel, NDRange
from ....core.problem import Problem
from ....core.types import ELEMENT_TYPES, element_type
from .. import StridedCopy
from ..transpose_in_place import TRANSPOSE_IN_PLACE, StridedInPlaceTranspose, in_place_of, in_place_steps
from .kernels import GROUPS_PER_UNIT, HERE, LINE_BYTES, CpuCopyBase

MOST_BLOCKS = 16  # a side of a tile: rows of a kilobyte


@dataclass(frozen=True)
class CpuTransposeInPlace(CpuCopyBase):
    """transpose_in_place.cl: the largest tiles of which there are enough for all cores."""

    def oriented(self, problem: Problem) -> StridedCopy:
        """What becomes of the tiles above the diagonal, as a copy."""
        square = in_place_of(problem).by_rows
        return StridedCopy(square.rows, square.rows, square.dtype, square.layout, square.layout.swapped, square.batch)

    def line(self, copy: StridedCopy) -> int:
        """Elements of a block's side: those of a cache line, or of a vector that is longer."""
        itemsize = element_type(copy.dtype).itemsize
        return max(LINE_BYTES // itemsize, min(16, self.vector_bytes // itemsize))

    def blocks(self, copy: StridedCopy) -> int:
        """Blocks in a tile's side."""
        count = MOST_BLOCKS
        while count > 1 and copy.batch * self._tiles(copy, count) ** 2 / 2 < GROUPS_PER_UNIT * self.units:
            count //= 2
        return count

    def _tiles(self, copy: StridedCopy, blocks: int) -> int:
        """Tiles in the matrix's side, an even number of them."""
        return (-(-copy.rows // (blocks * self.line(copy))) + 1) // 2 * 2

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        side = self.blocks(copy) * self.line(copy)
        return side, side

    def ndrange(self, problem: Problem) -> NDRange:
        copy = self.oriented(problem)
        tiles = self._tiles(copy, self.blocks(copy))
        return NDRange((tiles // 2 * (tiles + 1), 1, copy.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {"blocks": self.blocks(self.oriented(problem))}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        if self.oriented(problem).source.column != 1:
            yield "neither the row stride nor the column stride is 1, so vectors do not fit"


def in_place_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a transpose in place on a CPU device, ranked. The last one, made for GPUs, takes any strides."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    config = CpuTransposeInPlace(vector_bytes, device.compute_units)
    own = Kernel(
        HERE / "transpose_in_place.cl",
        config,
        StridedInPlaceTranspose.operation,
        dtypes=tuple(ELEMENT_TYPES),
        steps=in_place_steps,
    )
    return own, TRANSPOSE_IN_PLACE
