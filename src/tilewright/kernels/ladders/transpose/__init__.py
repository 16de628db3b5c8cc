"""The ladder `transpose`: copies for comparison, then transposes from a naive one to one that only memory limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Ladder, NDRange, Publication, round_up
from ....core.problem import Problem
from ....core.types import element_type
from ...sizes import size

HERE = Path(__file__).parent


def _sides(problem: Problem) -> tuple[int, int]:
    """Width and height of the matrix that is copied: the columns left after the offset, and the rows."""
    return max(0, size(problem, "COLUMNS") - size(problem, "OFFSET")), size(problem, "ROWS")


@dataclass(frozen=True)
class Block(Config):
    """A work-group copies a square of TILE x TILE elements; dimension 0 runs along the rows of the input."""

    TILE: int  # side of the square
    ROWS_PER_ITEM: int = 1  # elements that one work-item copies
    PAD: int = 0  # unused elements at the end of each row of the tile in local memory

    def ndrange(self, problem: Problem) -> NDRange:
        width, height = (round_up(side, self.TILE) for side in _sides(problem))
        return NDRange((width, height // self.ROWS_PER_ITEM), (self.TILE, self.TILE // self.ROWS_PER_ITEM))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        if self.TILE % self.ROWS_PER_ITEM:
            yield f"TILE={self.TILE} is not a multiple of ROWS_PER_ITEM={self.ROWS_PER_ITEM}"


@dataclass(frozen=True)
class SwappedBlock(Block):
    """The same square, but dimension 0 runs down the columns of the input."""

    def ndrange(self, problem: Problem) -> NDRange:
        straight = super().ndrange(problem)
        return NDRange(straight.global_size[::-1], straight.local_size[::-1])


@dataclass(frozen=True)
class LocalBlock(Block):
    """A square that goes through a tile in local memory."""

    def local_bytes(self, problem: Problem) -> int:
        return self.TILE * (self.TILE + self.PAD) * element_type(problem.dtype).itemsize


@dataclass(frozen=True)
class VectorBlock(Config):
    """A work-item copies a square of VEC x VEC elements; dimension 0 runs along the rows of the input."""

    VEC: int  # elements of one vector load or store, and side of the square
    GROUP_X: int  # squares of a work-group along a row
    GROUP_Y: int  # squares of a work-group down the rows

    def ndrange(self, problem: Problem) -> NDRange:
        width, height = (-(-side // self.VEC) for side in _sides(problem))
        local_size = (self.GROUP_X, self.GROUP_Y)
        return NDRange((round_up(width, self.GROUP_X), round_up(height, self.GROUP_Y)), local_size)


SMALLER = (LocalBlock(16, PAD=1), LocalBlock(8, PAD=1))
NARROW = (LocalBlock(32, 16, PAD=1),)

PUBLICATION = Publication(
    title="OpenCL SDK sample oclTranspose",
    author="NVIDIA",
    year=2010,
    link="https://developer.nvidia.com/opencl",
    licence="NVIDIA's GPU Computing SDK End User License Agreement; the kernels here are our own",
    size=(2048, 2048),
    settings="float, work-groups of 16x16",
    timing="the mean of 100 runs after a first one; its GB/s count each element once, ours count it read and written",
    devices=("GPUs of the time", "a G80"),
    ratios=(
        ("GPUs of the time", "transpose/05_tiled", "transpose/04_naive", 11),
        ("a G80", "transpose/05_tiled", "transpose/04_naive", 10),
    ),
    claims=(
        "11 is at most, and 10 on a G80 at least, for large matrices",
        "the naive transpose can take up to 10 times as long as the tiled one for large matrices",
    ),
)
LADDER = Ladder(
    "transpose",
    "From a strided transpose to the speed of a copy",
    "NVIDIA's OpenCL SDK sample oclTranspose",
    (
        Kernel(HERE / "01_copy.cl", Block(16), "copy", (Block(8),)),
        Kernel(HERE / "02_shared_copy.cl", LocalBlock(16), "copy", (LocalBlock(8),)),
        Kernel(HERE / "03_uncoalesced_copy.cl", SwappedBlock(16), "copy", (SwappedBlock(8),)),
        Kernel(HERE / "04_naive.cl", Block(16), "transpose", (Block(8),)),
        Kernel(HERE / "05_tiled.cl", LocalBlock(16, PAD=1), "transpose", SMALLER[1:]),
        Kernel(HERE / "06_tile_of_a_warp.cl", LocalBlock(32, PAD=1), "transpose", SMALLER),
        Kernel(HERE / "07_rows_per_item.cl", LocalBlock(32, 4, PAD=1), "transpose", NARROW),
        Kernel(HERE / "07_rows_per_item.cl", LocalBlock(64, 16, PAD=1), "transpose", NARROW, "64x65"),
        Kernel(HERE / "08_vectors.cl", VectorBlock(4, 4, 16), "transpose", variant="4x4"),
        Kernel(HERE / "08_vectors.cl", VectorBlock(8, 4, 16), "transpose", variant="8x8"),
    ),
    (PUBLICATION,),
    (
        Kernel(
            HERE / "published" / "02_shared_copy.cl", LocalBlock(16, PAD=1), "copy", (LocalBlock(8, PAD=1),), "16x17",
            rung="transpose/02_shared_copy",
        ),
    ),
)  # fmt: skip
