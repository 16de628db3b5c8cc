"""main_loop.cl as a Kernel, and the launches that it needs."""

from pathlib import Path

from ....core.kernel import Config, Kernel, Step, Steps
from ....core.problem import Problem
from ..config import PARTIAL, TICKETS
from ..packing import across_k, packing
from .config import FmaConfig

HERE = Path(__file__).parent


def fma_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch, after a copy of each operand that is packed."""
    assert isinstance(config, FmaConfig)
    plain, call = config.orientation(problem), config.oriented(problem)
    shared = config.tiles(call) - config.whole(call)
    scratch = ((PARTIAL, config.partial_bytes(call)), (TICKETS, 4 * shared)) if shared else ()
    # Without tiles to share out the kernel gets arguments that it does not use.
    unused = {} if shared else {PARTIAL: "C", TICKETS: "C"}
    own = Step(
        kernel, config, call, tuple({**dict(call.buffers), **unused}.items()), scratch, (TICKETS,) if shared else ()
    )
    return (*packing(plain, config.packed(plain), across_k), own)


PRODUCT = Kernel(
    HERE / "main_loop.cl",
    FmaConfig(256, 128),
    dtypes=("float32", "int32", "complex64"),
    requires=(
        ("tma", "tiles are fetched by the copy engine of Hopper"),
        ("wgmma", "registers are dealt out among warps by setmaxnreg, which sm_90a has"),
    ),
    steps=fma_steps,
    target="sm_90a",
)
