"""main_loop.cl, main_loop_tma.cl and main_loop_elements.cl as Kernels, and the launches that each needs."""

from dataclasses import replace
from pathlib import Path

from ....core.kernel import Kernel
from ...features import CP_ASYNC, LDMATRIX, MMA, SETMAXNREG, TMA
from ..chain import chained
from ..steps import fixup_steps, tiled_steps
from .config import MmaConfig, MmaFp64Config
from .config_elements import MmaElementsConfig
from .config_tma import MmaTmaConfig

HERE = Path(__file__).parent
MMA_F64 = ("mma_f64", "mma.sync multiplies 16 rows of fp64 in one instruction on NVIDIA GPUs since sm_90")
MMA_F64_CHAIN = (
    "mma_f64_chain",
    "reproducible products need an instruction that adds fp64 products one by one in ascending k",
)
MMA_F64_M8 = ("mma_f64_m8", "mma.sync multiplies 8 rows of fp64 in one instruction on NVIDIA GPUs since sm_80")


def _kernel(
    dtype: str, config: MmaConfig, *requires: tuple[str, str], variant: str = "", precision: str = ""
) -> Kernel:
    return Kernel(
        HERE / "main_loop.cl", config, variant=variant or precision or dtype, dtypes=(dtype,), steps=tiled_steps,
        requires=(*requires, CP_ASYNC), precision=precision,
    )  # fmt: skip


TILE = MmaConfig(128, 128, 2, 4, 4)
FP64 = _kernel("float64", MmaFp64Config(128, 128, 2, 4, 4), MMA_F64)
FP64_M8 = _kernel(
    "float64", MmaFp64Config(128, 128, 2, 4, 4, MMA_M=8, MMA_K=4), MMA_F64_M8, variant="float64 by 8 rows"
)
COMPLEX128 = _kernel("complex128", MmaConfig(32, 32, 1, 2, 4, lines=2, WARPS_K=2, groups=264), MMA_F64)
FP64_TMA, COMPLEX128_TMA = (
    Kernel(
        HERE / "main_loop_tma.cl", config, variant=dtype, dtypes=(dtype,), steps=tiled_steps,
        requires=(MMA_F64, TMA, SETMAXNREG), target="sm_90a",
    )
    for dtype, config in (
        ("float64", MmaTmaConfig(128, 128, 2, 4, 6)),
        ("complex128", MmaTmaConfig(128, 64, 2, 4, 6)),
    )
)  # fmt: skip
KERNELS = (
    FP64_TMA,
    COMPLEX128_TMA,
    FP64,
    FP64_M8,
    chained(replace(FP64, requires=(*FP64.requires, MMA_F64_CHAIN))),
    COMPLEX128,
    *(_kernel(dtype, TILE, MMA, LDMATRIX) for dtype in ("float16", "bfloat16", "int8", "uint8")),
    _kernel("float32", TILE, MMA, LDMATRIX, precision="tf32"),
)
ELEMENTS = tuple(
    Kernel(
        HERE / "main_loop_elements.cl", MmaElementsConfig(*tile), variant=dtype, dtypes=(dtype,), steps=fixup_steps,
        requires=requires,
    )
    for dtype, tile, requires in (
        ("float16", (64, 64, 32, 2, 2), (MMA, LDMATRIX)), ("bfloat16", (64, 64, 32, 2, 2), (MMA, LDMATRIX)),
        ("float64", (32, 32, 16, 2, 2), (MMA_F64,)), ("complex128", (32, 32, 16, 2, 2), (MMA_F64,)),
    )
)  # fmt: skip
