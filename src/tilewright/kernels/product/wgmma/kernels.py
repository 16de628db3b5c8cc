"""main_loop.cl as Kernels, one for each type and precision, and the launches that each needs."""

from pathlib import Path

from ....core.kernel import Config, Kernel, Step, Steps
from ....core.problem import Problem
from ....core.types import FLOAT8, element_type
from ..config import PARTIAL, TICKETS
from ..packing import on_lines, packing
from .config import WgmmaConfig

HERE = Path(__file__).parent
USUAL = WgmmaConfig(128, 256, 4)
PROMOTED = WgmmaConfig(128, 192, 4, PROMOTE=1)  # what gets a second set of sums, for 8-bit floats
# Sums of a warpgroup beside which a second set of them has room; larger ones get theirs by halves.
MOST_WHOLE = 64 * 192
REQUIRES = (
    ("tma", "the copy engine fetches tiles by itself on NVIDIA GPUs since sm_90"),
    ("wgmma", "warpgroups multiply by wgmma on sm_90a, NVIDIA's Hopper GPUs"),
)


def wgmma_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch, after a copy of each operand that is packed."""
    assert isinstance(config, WgmmaConfig)
    call, packed = config.orientation(problem), config.oriented(problem)
    copies = packing(call, config.packed(call), on_lines)
    if config.split == 1:
        unused = {PARTIAL: "C", TICKETS: "C"}  # arguments that the kernel gets and does not use
        return (*copies, Step(kernel, config, packed, tuple({**dict(packed.buffers), **unused}.items())))
    counters = config.left(packed) * config.consumers * element_type("int32").itemsize
    scratch = ((PARTIAL, config.partial_bytes(packed)), (TICKETS, counters))
    return (*copies, Step(kernel, config, packed, packed.buffers, scratch, (TICKETS,)))


def _kernel(dtype: str, precision: str = "", config: WgmmaConfig = USUAL) -> Kernel:
    variant = f"{dtype} {precision}" if dtype != "float32" and precision else precision or dtype
    return Kernel(
        HERE / "main_loop.cl", config, variant=variant, dtypes=(dtype,), requires=REQUIRES, steps=wgmma_steps,
        target="sm_90a", precision=precision, scales=dtype != "int8",
    )  # fmt: skip


KERNELS = (
    *(_kernel(dtype) for dtype in ("float16", "bfloat16", "int8")),
    _kernel("float32", "tf32"),
    *(_kernel(dtype, "fp8", PROMOTED) for dtype in FLOAT8),
)
