"""The ladder `tiles`: from a naive product to tiles in local memory and registers, prefetched, of any size.

Every matrix is column-major, and dimension 0 of the NDRange runs along M, the contiguous side of A and C. From `transposed`
to `any_size` a step of its own transposes B beforehand, into the scratch buffer BT (N x K). `configs.py` has the tutorial's
names beside ours, `originals.py` its kernels as they were published.
"""

from dataclasses import replace
from pathlib import Path

from ....core.kernel import Kernel, Ladder, single_step
from .configs import PrefetchTile, RegisterTile, ShuffleTile, SquareTile, Tile, WideSquareTile, WideTile
from .launches import StepsOf, pad_first, transpose_first
from .originals import ORIGINALS
from .publications import CSDN, K40M, TUTORIAL

HERE = Path(__file__).parent


def _rung(file: str, configs: tuple[Tile, ...], steps: StepsOf = single_step, gflops: float = 0) -> Kernel:
    """A rung with its configuration, the smaller ones after it, and the published GFLOP/s if only guards were added here."""
    rung = Kernel(HERE / file, configs[0], smaller=configs[1:], orders=("column", "column", "column"), steps=steps)
    return replace(rung, published=((K40M, gflops),), published_with="there without guards") if gflops else rung


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

LADDER = Ladder(
    "tiles",
    "From a naive product to tiles in registers, of any size",
    "the myGEMM tutorial of 2014",
    (
        _rung("01_naive.cl", NAIVE, gflops=139),
        _rung("02_tiled.cl", TILED, gflops=373),
        _rung("03_more_work_per_item.cl", MORE_WORK),
        _rung("04_wide_types.cl", WIDE),
        _rung("05_transposed.cl", TRANSPOSED, transpose_first),
        _rung("06_register_tile.cl", REGISTERS, transpose_first),
        _rung("07_wide_loads.cl", WIDE_LOADS, transpose_first),
        replace(
            _rung("08_shuffles.cl", SHUFFLES, transpose_first),
            dtypes=("float32", "int32"),  # the instructions move words of 32 bits
            requires=NVIDIA_ONLY,
        ),
        _rung("09_prefetch.cl", PREFETCH, transpose_first),
        _rung("10_any_size.cl", ANY_SIZE, pad_first),
        _rung("11_clblas_style.cl", CLBLAS, gflops=596),
    ),
    (TUTORIAL, CSDN),
    ORIGINALS,
)
