"""The kernels of this folder as Kernel objects, and the launches that each needs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ....core.kernel import MOST_GROUPS, Config, Kernel, Step, Steps
from ....core.problem import Problem
from ....core.types import ELEMENT_TYPES
from ..call import GemmCall
from ..config import PARTIAL, SEMAPHORES
from ..macros import elements
from ..packing import across_k, packing
from ..steps import split_k_steps
from .config import TileConfig

HERE = Path(__file__).parent


def joined_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices, with K in pieces that the last work-group of each tile adds up."""
    assert isinstance(config, TileConfig)
    return tuple(_joined(kernel, config, config.orientation(problem)))


def _joined(kernel: Kernel, config: TileConfig, call: GemmCall) -> Iterator[Step]:
    for first in range(0, max(call.batch, 1), MOST_GROUPS):
        part = call.batches(first, min(MOST_GROUPS, call.batch - first))
        yield from _packing(config, part)
        part = config.after_packing(part)
        whole = replace(part, k_chunk=config.chunk(part))
        tiles, kind = config.tiles(whole) * whole.batch, elements(whole.dtype)
        piece_bytes = tiles * config.BM * config.BN * kind.parts * kind.component_bytes
        scratch = ((PARTIAL, whole.pieces * piece_bytes), (SEMAPHORES, 4 * tiles))
        yield Step(kernel, config, whole, whole.buffers, scratch, zeroed=(SEMAPHORES,))


def _packing(config: TileConfig, call: GemmCall) -> Iterator[Step]:
    yield from packing(call, config.packed(call), across_k)


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=split_k_steps)


TILES = _kernel("main_loop.cl", TileConfig(128, 128, 8, 8, 8))
JOINED = replace(
    _kernel("split_k.cl", TileConfig(128, 128, 8, 8, 8, split=2)),
    steps=joined_steps,
    requires=(("nvidia", "the last work-group of a tile reads what the others wrote, behind NVIDIA's fences"),),
)
