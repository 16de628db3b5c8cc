"""main_loop.cl as a Kernel."""

from pathlib import Path

from ....core.kernel import Kernel
from ...features import SETMAXNREG, TMA
from ..steps import tiled_steps
from .config import CudaCoresConfig

HERE = Path(__file__).parent


PRODUCT = Kernel(
    HERE / "main_loop.cl",
    CudaCoresConfig(256, 128),
    dtypes=("float32", "int32", "uint32", "complex64"),
    requires=(TMA, SETMAXNREG),
    steps=tiled_steps,
    target="sm_90a",
)
