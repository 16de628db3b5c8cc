"""The sources' kernels of the ladder `tiles` as they were published, written anew, where a rung differs from them.

They have no guards: sizes are multiples of the tiles. The figures of a source stand on the kernel and the settings that they
are of.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Kernel, NDRange, single_step
from ....core.problem import Problem
from ...sizes import size
from .configs import PrefetchTile, Tile, WideSquareTile
from .launches import StepsOf, pad_first, transpose_first
from .publications import CSDN_GPU, K40M, K40M_CUDA

HERE = Path(__file__).parent
BY_COLUMNS = ("column", "column", "column")
READ_ONLY = "there with read-only loads"


@dataclass(frozen=True)
class SwappedTile(Tile):
    """`naive` with dimension 0 along N."""

    def ndrange(self, problem: Problem) -> NDRange:
        straight = super().ndrange(problem)
        return NDRange(straight.global_size[::-1], straight.local_size[::-1])


@dataclass(frozen=True)
class WholeTile(Tile):
    """A kernel without guards: every size is a multiple of the tile, and the work-items share a tile evenly."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        for side, block in zip("MNK", ("BM", "BN", "BK"), strict=True):
            length = getattr(self, block)
            if length and size(problem, side) % length:
                yield f"{side}={size(problem, side)} is not a multiple of {block}={length}, and this kernel has no guards"
        if self.BK and self.BM != self.BN:
            yield f"BM={self.BM} is not BN={self.BN}, though each work-item loads as much of A as of B"
        items = self.local_size[0] * self.local_size[1]
        if self.BM * self.BK % (items * self.VEC):
            yield f"BM={self.BM}, BK={self.BK}: {items} work-items cannot share a tile by VEC={self.VEC} evenly"


@dataclass(frozen=True)
class WholeSquareTile(WholeTile):
    """`tiled` and `more_work_per_item` without guards: one side for all tiles."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.BN != self.BK:
            yield f"the tiles are not square: BM={self.BM}, BN={self.BN}, BK={self.BK}"


@dataclass(frozen=True)
class WholeWideTile(WholeTile):
    """`wide_loads` without guards: four stores for each vector."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.VEC != 4:
            yield f"VEC={self.VEC} is not 4, the words that this kernel stores"


@dataclass(frozen=True)
class WholePrefetchTile(WholeTile):
    """`prefetch` without guards: two buffers, vectors of two or four."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.VEC not in (2, 4) or self.STAGES != 2:
            yield f"VEC={self.VEC} is not 2 or 4, or STAGES={self.STAGES} is not 2: this kernel knows nothing else"


@dataclass(frozen=True)
class PaddedTile(PrefetchTile):
    """`any_size` on whole tiles: vectors of two or four."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.VEC not in (2, 4):
            yield f"VEC={self.VEC} is not 2 or 4, the words that this kernel stores"


def _original(
    rung: str,
    variant: str,
    file: str,
    configs: tuple[Tile, ...],
    published: tuple[tuple[str, float], ...] = (),
    steps: StepsOf = single_step,
    **others: object,
) -> Kernel:
    """A variant of a rung, in the folder `published` or in the rung's own file with other settings."""
    fields: dict[str, object] = {
        "source": HERE / file, "config": configs[0], "smaller": configs[1:], "variant": variant, "rung": f"tiles/{rung}",
        "orders": BY_COLUMNS, "published": published, "steps": steps,
    }  # fmt: skip
    return Kernel(**{**fields, **others})  # type: ignore[arg-type]


NVIDIA_ONLY = (("nvidia", "read-only cache loads are NVIDIA instructions"),)

ORIGINALS = (
    _original("01_naive", "swapped", "published/01_swapped.cl", (SwappedTile(32, 32), SwappedTile(16, 16), SwappedTile(8, 8))),
    _original(
        "01_naive", "CSDN", "published/01_row_major.cl", (WholeTile(16, 16), WholeTile(8, 8)), ((CSDN_GPU, 479),),
        orders=("row", "row", "row"), published_with="int; here float32 unless --dtype int32",
    ),
    _original(
        "02_tiled", "CSDN", "published/02_tiled.cl", (WholeSquareTile(16, 16, 16), WholeSquareTile(8, 8, 8)),
        ((CSDN_GPU, 455),), published_with="int, and given row-major matrices; here float32 by columns",
    ),
    _original(
        "03_more_work_per_item", "published", "published/03_more_work_per_item.cl",
        (WholeSquareTile(32, 32, 32, TN=8), WholeSquareTile(16, 16, 16, TN=4)), ((K40M, 689),),
    ),
    _original(
        "04_wide_types", "VEC=8", "04_wide_types.cl", (WideSquareTile(32, 32, 32, TM=8, VEC=8),), ((K40M, 729),),
        published_with="there without guards",
    ),
    _original(
        "05_transposed", "64x64x32 PAD=0", "published/05_transposed.cl", (WholeTile(64, 64, 32, TN=8),), ((K40M, 460),),
        transpose_first,
    ),
    _original(
        "05_transposed", "64x64x32", "published/05_transposed.cl", (WholeTile(64, 64, 32, TN=8, PAD=2),), ((K40M, 740),),
        transpose_first,
    ),
    _original(
        "06_register_tile", "published", "published/06_register_tile.cl",
        (WholeTile(128, 128, 16, 8, 8, PAD=2), WholeTile(64, 64, 16, 8, 8, PAD=2)), ((K40M, 1371),), transpose_first,
    ),
    _original(
        "07_wide_loads", "published", "published/07_wide_loads.cl",
        (WholeWideTile(128, 128, 16, 8, 8, VEC=4), WholeWideTile(64, 64, 16, 8, 8, VEC=4)), ((K40M, 1361),), transpose_first,
    ),
    _original(
        "08_shuffles", "ldg", "published/08_read_only_loads.cl",
        (WholeWideTile(128, 128, 16, 8, 8, VEC=4), WholeWideTile(64, 64, 16, 8, 8, VEC=4)), ((K40M_CUDA, 1563),),
        transpose_first, dtypes=("float32", "int32"), requires=NVIDIA_ONLY,
    ),
    _original(
        "09_prefetch", "published", "published/09_prefetch.cl",
        (
            WholePrefetchTile(128, 128, 16, 8, 8, VEC=4, STAGES=2), WholePrefetchTile(128, 128, 8, 8, 8, VEC=4, STAGES=2),
            WholePrefetchTile(64, 64, 16, 8, 8, VEC=4, STAGES=2), WholePrefetchTile(64, 64, 8, 8, 8, VEC=4, STAGES=2),
        ),
        ((K40M_CUDA, 1153),), transpose_first, published_with=READ_ONLY,
    ),
    _original(
        "10_any_size", "160x160", "published/09_prefetch.cl",
        (PaddedTile(160, 160, 16, 10, 10, VEC=2, STAGES=2), PaddedTile(80, 80, 16, 10, 10, VEC=2, STAGES=2)),
        ((K40M_CUDA, 1251),), pad_first, published_with=READ_ONLY,
    ),
)  # fmt: skip
