"""The launches of an "fp32_split" product: split A and B into halves, then multiply these."""

from pathlib import Path

from ....core.kernel import Config, Kernel, Step, Steps
from ....core.problem import Problem
from ..call import call_of
from .config import ProductConfig
from .splitting import CUT, HALF_BYTES, cut_config, pitch_of, sides

HERE = Path(__file__).parent


def split_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """Cut both operands, then multiply the halves, and as floats the elements of C whose vectors they cannot hold."""
    call = call_of(problem).row_major
    scratch: list[tuple[str, int]] = []
    for own in sides(call):
        word, vectors = own.name.lower(), own.length * own.batch
        halves = 2 * vectors * pitch_of(call) * HALF_BYTES
        scratch += [(f"ranges_{word}", 8 * vectors), (f"halves_{word}", halves)]
    cut = Step(CUT, cut_config(call), call, call.buffers, tuple(scratch))
    return cut, Step(kernel, config, call, call.buffers)


PRODUCT = Kernel(
    HERE / "main_loop.cl",
    ProductConfig(),
    dtypes=("float32",),
    requires=(
        ("tma", "tiles of halves are fetched by the copy engine"),
        ("wgmma", "halves are multiplied by warpgroups on the tensor cores"),
    ),
    steps=split_steps,
    target="sm_90a",
    precision="fp32_split",
)
