"""The ladder `tiles`: from a naive product to tiles in local memory and registers, prefetched, of any size.

Every matrix is column-major, and dimension 0 of the NDRange runs along M, the contiguous side of A and C. From `transposed`
to `any_size` a step of its own transposes B beforehand, into the scratch buffer BT (N x K).

The tutorial's names and ours:

    TS           BM = BN = BK   side of a square tile             WPT    TN          columns of C per work-item
    TSM TSN TSK  BM BN BK       tile of a work-group              WIDTH  VEC         elements of a wide load
    WPTM WPTN    TM TN          rows, columns of C per work-item  TSDK   BK          depth of `transposed`'s tiles
    RTSM RTSN    ITEMS_M/N      work-items of a group along M, N  RTS    ITEMS_N     as in `more_work_per_item`, `transposed`
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Ladder, NDRange, Publication, Step, Steps, round_up, single_step
from ....core.problem import Gemm, Problem, Transpose
from ....core.types import element_type
from ...sizes import size
from ..transpose import LADDER as TRANSPOSES
from ..transpose import LocalBlock
from .padding import PAD, PAD_TRANSPOSE, Resize

HERE = Path(__file__).parent
StepsOf = Callable[[Kernel, Config, Problem], Steps]


@dataclass(frozen=True)
class Tile(Config):
    """A work-group computes BM x BN elements of C, a work-item TM x TN of them."""

    vectors: ClassVar[tuple[tuple[str, str], ...]] = ()  # (side, field): loads of `field` elements run along it

    BM: int  # rows of C per work-group
    BN: int  # columns of C per work-group
    BK: int = 0  # depth of the tiles in local memory; 0 if there are none
    TM: int = 1  # rows of C per work-item
    TN: int = 1  # columns of C per work-item
    VEC: int = 1  # elements of one load from global memory
    PAD: int = 0  # unused elements at the end of each row of the tile of B
    STAGES: int = 1  # buffers in local memory for each tile

    @property
    def local_size(self) -> tuple[int, int]:
        return self.BM // self.TM, self.BN // self.TN

    def ndrange(self, problem: Problem) -> NDRange:
        m, n = size(problem, "M"), size(problem, "N")
        items_m, items_n = self.local_size
        return NDRange((-(-m // self.BM) * items_m, -(-n // self.BN) * items_n), self.local_size)

    def local_bytes(self, problem: Problem) -> int:
        elements = self.BM * self.BK + self.BN * (self.BK + self.PAD)
        return elements * self.STAGES * element_type(problem.dtype).itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        for block, item in (("BM", "TM"), ("BN", "TN")):
            if getattr(self, block) % getattr(self, item):
                yield f"{self._named(block)} is not a multiple of {self._named(item)}"
        for side, field in self.vectors:
            if size(problem, side) % getattr(self, field):
                yield (
                    f"{side}={size(problem, side)} is not a multiple of {getattr(self, field)}, "
                    f"which a load of {self._named(field)} elements needs"
                )

    def _named(self, field: str) -> str:
        return f"{field}={getattr(self, field)}"


@dataclass(frozen=True)
class SquareTile(Tile):
    """`tiled` to `wide_types`: one side for all tiles, so that each work-item loads as much of A as of B."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if not self.BM == self.BN == self.BK:
            yield f"the tiles are not square: BM={self.BM}, BN={self.BN}, BK={self.BK}"


@dataclass(frozen=True)
class WideSquareTile(SquareTile):
    """`wide_types`: vectors of A and C along M, of B along K; a work-item computes one vector of C."""

    vectors = (("M", "VEC"), ("K", "VEC"))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.TM != self.VEC:
            yield f"TM={self.TM} is not VEC={self.VEC}, though a work-item computes one vector of C"


@dataclass(frozen=True)
class WideTile(Tile):
    """`wide_loads` and `shuffles`: vectors of A along M, of the transposed B along N."""

    vectors = (("M", "VEC"), ("N", "VEC"))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        for block in ("BM", "BN"):
            if getattr(self, block) % self.VEC:
                yield f"{self._named(block)} is not a multiple of VEC={self.VEC}"


@dataclass(frozen=True)
class ShuffleTile(WideTile):
    """`shuffles`: whole warps, in which the work-items with the same columns of C lie side by side."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        items_m, items_n = self.local_size
        if self.VEC != 4:
            yield f"VEC={self.VEC} is not 4, the words that ld.global.nc.v4 loads"
        if 32 % items_m or items_m < self.TN:
            yield f"BM/TM={items_m} work-items do not divide a warp of 32, or are fewer than the TN={self.TN} values"
        if items_m * items_n % 32:
            yield f"{items_m}x{items_n} work-items are not whole warps of 32"


@dataclass(frozen=True)
class PrefetchTile(Tile):
    """`prefetch` and `any_size`: each work-item holds its share of the next tiles in registers."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        items = self.local_size[0] * self.local_size[1]
        for block in ("BM", "BN"):
            if getattr(self, block) * self.BK % (self.VEC * items) or getattr(self, block) % self.VEC:
                yield f"{self._named(block)}, BK={self.BK}: {items} work-items cannot share it by VEC={self.VEC} evenly"
        if self.STAGES != 2:
            yield f"STAGES={self.STAGES} is not 2: one buffer to read, one to fill"


@dataclass(frozen=True)
class RegisterTile(Tile):
    """`clblas_style`: no local memory; vectors of TM rows of A and C, and of VEC elements of B along K."""

    vectors = (("M", "TM"), ("K", "VEC"))


# 32 x 2 = 64 work-items: few enough for any device that the smallest rung runs on.
TRANSPOSE = next(each for each in TRANSPOSES.kernels if each.source.stem == "07_rows_per_item")
TRANSPOSE_BLOCK = LocalBlock(32, 16, PAD=1)


def transpose_first(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """B transposed into the scratch buffer BT, then the product. B by columns is an N x K matrix by rows."""
    n, k = size(problem, "N"), size(problem, "K")
    buffers = (("input", "B"), ("output", "BT"))
    return (
        Step(TRANSPOSE, TRANSPOSE_BLOCK, Transpose(n, k, problem.dtype), buffers),
        Step(kernel, config, problem),
    )


def pad_first(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """A and B brought to whole tiles, the product of those, and C cut back; what has whole tiles already is not copied.

    Every size is rounded up, K too: the zeros beyond K in A_padded and BT add nothing, so C needs no more care.
    """
    assert isinstance(config, Tile)
    dtype = problem.dtype
    m, n, k = (size(problem, name) for name in "MNK")
    whole_m, whole_n, whole_k = round_up(m, config.BM), round_up(n, config.BN), round_up(k, config.BK)
    pads_a, cuts_c = (m, k) != (whole_m, whole_k), (m, n) != (whole_m, whole_n)
    a, c = "A_padded" if pads_a else "A", "C_padded" if cuts_c else "C"

    pad_a = Step(PAD, PAD.config, Resize(k, m, whole_k, whole_m, dtype), (("input", "A"), ("output", a)))
    turn_b = Resize(n, k, whole_k, whole_n, dtype, transposed=True)
    pad_b = Step(PAD_TRANSPOSE, PAD_TRANSPOSE.config, turn_b, (("input", "B"), ("output", "BT")))
    product = Gemm(whole_m, whole_n, whole_k, dtype, *kernel.orders)
    multiply = Step(kernel, config, product, (("A", a), ("B", "BT"), ("C", c)))
    cut_c = Step(PAD, PAD.config, Resize(whole_n, whole_m, n, m, dtype), (("input", c), ("output", "C")))
    return (*((pad_a,) if pads_a else ()), pad_b, multiply, *((cut_c,) if cuts_c else ()))


def _rung(
    file: str,
    configs: tuple[Tile, ...],
    gflops: float,
    steps: StepsOf = single_step,
    published_with: str = "",
    device: str = "Tesla K40m",
) -> Kernel:
    """A rung with its configuration, the smaller ones after it, and the published GFLOP/s."""
    return Kernel(
        HERE / file,
        configs[0],
        smaller=configs[1:],
        orders=("column", "column", "column"),
        steps=steps,
        published=((device, gflops),),
        published_with=published_with,
    )  # fmt: skip


CUDA = "Tesla K40m, as CUDA"
NAIVE = (Tile(32, 32), Tile(16, 16), Tile(8, 8))
TILED = (SquareTile(32, 32, 32), SquareTile(16, 16, 16), SquareTile(8, 8, 8))
MORE_WORK = (SquareTile(32, 32, 32, TN=8), SquareTile(16, 16, 16, TN=4))
WIDE = (WideSquareTile(32, 32, 32, TM=4, VEC=4), WideSquareTile(16, 16, 16, TM=4, VEC=4))
TRANSPOSED = (Tile(32, 32, 16, TN=8, PAD=2), Tile(16, 16, 16, TN=4, PAD=2))
REGISTERS = (Tile(128, 128, 16, 8, 8, PAD=2), Tile(128, 128, 8, 8, 8, PAD=2), Tile(64, 64, 16, 8, 8, PAD=2))
WIDE_LOADS = (WideTile(128, 128, 16, 8, 8, VEC=4), WideTile(64, 64, 16, 8, 8, VEC=4))
SHUFFLES = (ShuffleTile(128, 128, 16, 8, 8, VEC=4), ShuffleTile(64, 64, 16, 8, 8, VEC=4))
PREFETCH = (
    PrefetchTile(128, 128, 16, 8, 8, STAGES=2),
    PrefetchTile(128, 128, 8, 8, 8, STAGES=2),
    PrefetchTile(64, 64, 8, 8, 8, STAGES=2),
)
ANY_SIZE = (
    PrefetchTile(128, 128, 16, 8, 8, VEC=4, STAGES=2),
    PrefetchTile(128, 128, 8, 8, 8, VEC=4, STAGES=2),
    PrefetchTile(64, 64, 8, 8, 8, VEC=4, STAGES=2),
)
CLBLAS = (RegisterTile(64, 32, TM=8, TN=4, VEC=4),)
NVIDIA_ONLY = (("nvidia", "read-only cache loads and warp shuffles are NVIDIA instructions"),)

PUBLICATION = Publication(
    title="Tutorial: OpenCL SGEMM tuning for Kepler (myGEMM)",
    author="Cedric Nugteren, SURFsara, 2014",
    link="https://cnugteren.github.io/tutorial/pages/page1.html",
    licence="MIT, copyright 2014 SURFsara (its code, github.com/CNugteren/myGEMM); the kernels here are our own",
    size=(4096, 4096, 4096),
    settings="float by columns, sizes multiples of the tiles; CUDA 6.5, ECC on; peak of the device 4,291 GFLOP/s",
    timing="the mean of 4 runs with their transposes and paddings, on the host's clock, without transfers",
    others=(("Tesla K40m", "cuBLAS", 3056), ("Tesla K40m", "clBLAS", 572), ("Tesla K40m", "clBLAS, tuned", 798)),
)
LADDER = Ladder(
    "tiles",
    "From a naive product to tiles in registers, of any size",
    "the myGEMM tutorial of 2014",
    (
        _rung("01_naive.cl", NAIVE, 139),
        _rung("02_tiled.cl", TILED, 373),
        _rung("03_more_work_per_item.cl", MORE_WORK, 689),
        _rung("04_wide_types.cl", WIDE, 729, single_step, "vectors of 8"),
        _rung("05_transposed.cl", TRANSPOSED, 740, transpose_first, "tiles of 64x64x32; 460 without padding"),
        _rung("06_register_tile.cl", REGISTERS, 1371, transpose_first),
        _rung("07_wide_loads.cl", WIDE_LOADS, 1361, transpose_first),
        replace(
            _rung("08_shuffles.cl", SHUFFLES, 1563, transpose_first, "read-only loads alone, without shuffles", CUDA),
            dtypes=("float32", "int32"),  # the instructions move words of 32 bits
            requires=NVIDIA_ONLY,
        ),
        _rung("09_prefetch.cl", PREFETCH, 1153, transpose_first, "wide loads straight into the other buffer", CUDA),
        _rung("10_any_size.cl", ANY_SIZE, 1251, pad_first, "tiles of 160x160, 10x10 results, vectors of 2", CUDA),
        _rung("11_clblas_style.cl", CLBLAS, 596, single_step, "as here; variants reached 743, 773 and 830"),
    ),
    PUBLICATION,
)
