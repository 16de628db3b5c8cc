"""main_loop.cl as Kernels, one for each type and precision, and the launches that each needs."""

from pathlib import Path

from ....core.kernel import Kernel
from ....core.types import FLOAT8, element_type
from ...features import TMA, WGMMA
from ..steps import tiled_steps
from .config import WgmmaConfig

HERE = Path(__file__).parent
USUAL = WgmmaConfig(128, 256, 4)
PROMOTED = WgmmaConfig(128, 192, 4, PROMOTE=1)  # what gets a second set of sums, for 8-bit floats
# Sums of a warpgroup beside which a second set of them has room; larger ones get theirs half by half.
MOST_WHOLE = 64 * 192
REQUIRES = (TMA, WGMMA)


def _kernel(dtype: str, precision: str = "", config: WgmmaConfig = USUAL) -> Kernel:
    variant = f"{dtype} {precision}" if dtype != "float32" and precision else precision or dtype
    return Kernel(
        HERE / "main_loop.cl", config, variant=variant, dtypes=(dtype,), requires=REQUIRES, steps=tiled_steps,
        target="sm_90a", precision=precision, scales=not element_type(dtype).exact,
    )  # fmt: skip


KERNELS = (
    *(_kernel(dtype) for dtype in ("float16", "bfloat16", "int8", "uint8")),
    _kernel("float32", "tf32"),
    *(_kernel(dtype, "fp8", PROMOTED) for dtype in FLOAT8),
)
