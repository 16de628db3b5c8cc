"""split_vectors.cl and main_loop.cl as Kernels, and the launches that an "fp32_split" product needs."""

from pathlib import Path

from ....core.kernel import Config, Kernel, Step, Steps
from ....core.problem import Problem
from ...features import TMA, WGMMA
from ..symmetric import mirrored
from .config import Fp16x3Config
from .config_split import FP16_BYTES, SplitConfig, pitch_of, sides, split_config

HERE = Path(__file__).parent


def fp16x3_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """Split both operands, then multiply them as fp16, and as floats the elements of C whose vectors fp16 cannot hold."""
    assert isinstance(config, Fp16x3Config)
    call = config.oriented(problem)
    scratch: list[tuple[str, int]] = []
    for side in sides(call):
        word, vectors = side.name.lower(), side.length * side.batch
        scratch += [(f"ranges_{word}", 8 * vectors), (f"halves_{word}", 2 * vectors * pitch_of(call) * FP16_BYTES)]
    split = Step(SPLIT, split_config(call), call, call.buffers, tuple(scratch))
    return split, Step(kernel, config, call, call.buffers), *mirrored(call)


SPLIT = Kernel(HERE / "split_vectors.cl", SplitConfig())
PRODUCT = Kernel(
    HERE / "main_loop.cl",
    Fp16x3Config(),
    dtypes=("float32",),
    requires=(TMA, WGMMA),
    steps=fp16x3_steps,
    target="sm_90a",
    precision="fp32_split",
)
