"""main_loop.cl and main_loop_tma.cl as Kernels, and the launches that each needs."""

from pathlib import Path

from ....core.kernel import Kernel
from ..steps import tiled_steps
from .config import DoubleConfig, WarpConfig
from .config_tma import FetchedConfig

HERE = Path(__file__).parent
CP_ASYNC = ("cp_async", "cp.async copies to local memory by itself on NVIDIA GPUs since sm_80")
MMA = ("mma", "mma.sync multiplies matrices in one instruction on NVIDIA GPUs since sm_80")
LDMATRIX = ("ldmatrix", "ldmatrix reads matrices from local memory on NVIDIA GPUs since sm_75")
MMA_F64 = ("mma_f64", "mma.sync multiplies 16 rows of doubles in one instruction on NVIDIA GPUs since sm_90")
TMA = ("tma", "the copy engine of Hopper fetches panels by itself")
REGISTERS = ("wgmma", "registers are dealt out among warps by setmaxnreg, which sm_90a has")
MMA_F64_M8 = ("mma_f64_m8", "mma.sync multiplies 8 rows of doubles in one instruction on NVIDIA GPUs since sm_80")


def _kernel(
    dtype: str, config: WarpConfig, *requires: tuple[str, str], variant: str = "", precision: str = ""
) -> Kernel:
    return Kernel(
        HERE / "main_loop.cl", config, variant=variant or precision or dtype, dtypes=(dtype,), steps=tiled_steps,
        requires=(*requires, CP_ASYNC), precision=precision,
    )  # fmt: skip


TILE = WarpConfig(128, 128, 2, 4, 4)
DOUBLES = _kernel("float64", DoubleConfig(128, 128, 2, 4, 4), MMA_F64)
DOUBLES_M8 = _kernel(
    "float64", DoubleConfig(128, 128, 2, 4, 4, MMA_M=8, MMA_K=4), MMA_F64_M8, variant="float64 by 8 rows"
)
FETCHED, FETCHED_COMPLEX = (
    Kernel(
        HERE / "main_loop_tma.cl", config, variant=dtype, dtypes=(dtype,), steps=tiled_steps,
        requires=(MMA_F64, TMA, REGISTERS), target="sm_90a",
    )
    for dtype, config in (
        ("float64", FetchedConfig(128, 128, 2, 4, 6)),
        ("complex128", FetchedConfig(128, 64, 2, 4, 6)),
    )
)  # fmt: skip
KERNELS = (
    FETCHED,
    FETCHED_COMPLEX,
    DOUBLES,
    DOUBLES_M8,
    *(_kernel(dtype, TILE, MMA, LDMATRIX) for dtype in ("float16", "bfloat16", "int8")),
    _kernel("float32", TILE, MMA, LDMATRIX, precision="tf32"),
)
