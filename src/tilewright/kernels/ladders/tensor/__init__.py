"""The ladder `tensor`: an fp16 product, from plain multiply-adds to tensor core instructions fed by TMA.

All rungs compute C (M x N, by rows) = A (M x K, by rows) * B (K x N, by columns): both operands lie along K. Sums are
fp32; C is float16, or float32 if the problem says so. Sizes must be multiples of the tiles: the library's kernels, in
`mma` and `wgmma`, take any. Dimension 0 of the NDRange runs along N, the contiguous side of C.

There is no rung for clusters of work-groups: OpenCL cannot launch them, and NVIDIA's driver ignores their PTX directive.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Ladder, NDRange
from ....core.problem import Problem, output_of
from ....core.tensor_map import TensorMap
from ....core.types import element_type
from ...features import CP_ASYNC, LDMATRIX, MMA, TMA, WGMMA
from ...sizes import size

HERE = Path(__file__).parent


@dataclass(frozen=True)
class HalfTile(Config):
    """A work-group computes BM x BN elements of C from tiles BK deep."""

    results: ClassVar[tuple[str, ...]] = ("float16", "float32")

    BM: int
    BN: int
    BK: int

    @property
    def items(self) -> int:
        """Work-items of a work-group."""
        raise NotImplementedError

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "RESULT_IS_FLOAT": int(output_of(problem).dtype == "float32")}

    def ndrange(self, problem: Problem) -> NDRange:
        rows, columns = -(-size(problem, "M") // self.BM), -(-size(problem, "N") // self.BN)
        return NDRange((columns * self.items, rows), (self.items, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        for side, block in (("M", self.BM), ("N", self.BN), ("K", self.BK)):
            if size(problem, side) % block:
                yield f"{side}={size(problem, side)} is not a multiple of B{side}={block}, and this rung has whole tiles only"
        yield from self.sharing()
        result = output_of(problem).dtype
        if result not in self.results:
            yield f"C is {result}; this rung stores {' or '.join(self.results)}"

    def sharing(self) -> Iterator[str]:
        """Why the work-items cannot copy the tiles together."""
        for block in (self.BM, self.BN):
            if block * self.BK % (8 * self.items):
                yield f"{self.items} work-items cannot share a tile of {block}x{self.BK} evenly, eight elements each at a time"


@dataclass(frozen=True)
class FmaTile(HalfTile):
    """`plain_fma`: TM x TN elements of C for each work-item, from fp32 tiles with two unused elements in each row."""

    TM: int
    TN: int

    @property
    def items(self) -> int:
        return (self.BM // self.TM) * (self.BN // self.TN)

    def local_bytes(self, problem: Problem) -> int:
        return (self.BM + 2 + self.BN + 2) * self.BK * element_type("float32").itemsize


@dataclass(frozen=True)
class WarpTile(HalfTile):
    """`mma_sync` and `ldmatrix`: WARPS_M x WARPS_N warps share the tile of C."""

    WARPS_M: int = 2
    WARPS_N: int = 4

    @property
    def items(self) -> int:
        return 32 * self.WARPS_M * self.WARPS_N

    def local_bytes(self, problem: Problem) -> int:
        return (self.BM + self.BN) * self.BK * element_type(problem.dtype).itemsize


@dataclass(frozen=True)
class StagedTile(WarpTile):
    """`cp_async`: STAGES tiles of each operand."""

    STAGES: int = 4

    def local_bytes(self, problem: Problem) -> int:
        return self.STAGES * super().local_bytes(problem)


@dataclass(frozen=True)
class TmaTile(StagedTile):
    """`tma`: TMA loads the tiles."""

    def sharing(self) -> Iterator[str]:
        return iter(())

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        return input_maps(self, problem)


@dataclass(frozen=True)
class WarpgroupTile(HalfTile):
    """`wgmma` to `rasterisation`: each consumer, a warpgroup, multiplies 64 rows of the tile.

    From `specialised` on a producer warpgroup loads the tiles.
    """

    STAGES: int = 4
    producers: int = 0

    @property
    def items(self) -> int:
        return 128 * (self.BM // 64 + self.producers)

    def sharing(self) -> Iterator[str]:
        return iter(())

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        return input_maps(self, problem)

    def local_bytes(self, problem: Problem) -> int:
        aligned, barriers = 1024, 16 * self.STAGES
        return aligned + barriers + self.STAGES * (self.BM + self.BN) * self.BK * element_type(problem.dtype).itemsize


@dataclass(frozen=True)
class PersistentTile(WarpgroupTile):
    """`persistent` and `rasterisation`: `groups` work-groups compute all tiles.

    TMA stores C, 64 x 64 elements at a time.
    """

    results = ("float16",)

    producers: int = 1
    SWIZZLE_GROUP: int = 16  # rows of tiles that are computed together (`rasterisation`)
    groups: int = 132  # an H200's SMs

    def ndrange(self, problem: Problem) -> NDRange:
        tiles = -(-size(problem, "M") // self.BM) * -(-size(problem, "N") // self.BN)
        return NDRange((min(self.groups, tiles) * self.items, 1), (self.items, 1))

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        sizes = (size(problem, "N"), size(problem, "M"))
        map_c = TensorMap(problem.dtype, sizes, (2 * sizes[0],), (64, 64), 128)
        return {**super().tensor_maps(problem), "map_c": map_c}

    def local_bytes(self, problem: Problem) -> int:
        slots = 2 * (self.BM // 64) * 64 * 64
        return super().local_bytes(problem) + slots * element_type(problem.dtype).itemsize


def input_maps(config: HalfTile, problem: Problem) -> dict[str, TensorMap]:
    """A (M x K) and B (N x K), both along K, by tiles whose rows are as wide as the swizzle."""
    dtype, k = problem.dtype, size(problem, "K")
    width = element_type(dtype).itemsize

    def tiles(rows: int, side: int) -> TensorMap:
        return TensorMap(dtype, (k, rows), (width * k,), (config.BK, side), width * config.BK)

    return {"map_a": tiles(size(problem, "M"), config.BM), "map_b": tiles(size(problem, "N"), config.BN)}


def _rung(file: str, *configs: HalfTile, requires: tuple[tuple[str, str], ...] = ()) -> Kernel:
    """A rung with its configuration, and the smaller ones after it."""
    return Kernel(
        HERE / file,
        configs[0],
        smaller=configs[1:],
        dtypes=("float16",),
        orders=("row", "column", "row"),
        requires=requires,
        target="sm_90a" if WGMMA in requires else "",
    )


LADDER = Ladder(
    "tensor",
    "fp16 products, from plain multiply-adds to tensor core instructions",
    "this project's own, after NVIDIA's PTX manual",
    (
        _rung("01_plain_fma.cl", FmaTile(128, 128, 16, 8, 8), FmaTile(64, 64, 16, 8, 8)),
        _rung("02_mma_sync.cl", WarpTile(128, 128, 32), requires=(MMA,)),
        _rung("03_ldmatrix.cl", WarpTile(128, 128, 32), requires=(MMA, LDMATRIX)),
        _rung("04_cp_async.cl", StagedTile(128, 128, 32), requires=(MMA, LDMATRIX, CP_ASYNC)),
        _rung("05_tma.cl", TmaTile(128, 128, 32), requires=(MMA, LDMATRIX, TMA)),
        _rung("06_wgmma.cl", WarpgroupTile(128, 128, 64), requires=(TMA, WGMMA)),
        _rung("07_specialised.cl", WarpgroupTile(128, 256, 64, producers=1), requires=(TMA, WGMMA)),
        _rung("08_persistent.cl", PersistentTile(128, 256, 64), requires=(TMA, WGMMA)),
        _rung("09_rasterisation.cl", PersistentTile(128, 256, 64), requires=(TMA, WGMMA)),
    ),
)
