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
from ..packing import packing
from ..steps import split_k_steps
from ..symmetric import mirrored
from .config import PortableConfig

HERE = Path(__file__).parent


def fixup_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices, with split-K whose partial tiles the last work-group of each tile adds up."""
    assert isinstance(config, PortableConfig)
    call = config.orientation(problem)
    return (*_fixup_steps(kernel, config, call), *mirrored(call))


def _fixup_steps(kernel: Kernel, config: PortableConfig, call: GemmCall) -> Iterator[Step]:
    for first in range(0, max(call.batch, 1), MOST_GROUPS):
        part = call.batches(first, min(MOST_GROUPS, call.batch - first))
        yield from packing(part, config.packed(part), config.place)
        part = config.after_packing(part)
        split = replace(part, k_chunk=config.chunk(part))
        tiles, kind = config.tiles(split) * split.batch, elements(split.dtype)
        split_bytes = tiles * config.BM * config.BN * kind.parts * kind.component_bytes
        scratch = ((PARTIAL, split.splits * split_bytes), (SEMAPHORES, 4 * tiles))
        yield Step(kernel, config, split, split.buffers, scratch, zeroed=(SEMAPHORES,))


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=split_k_steps)


TILES = _kernel("main_loop.cl", PortableConfig(128, 128, 8, 8, 8))
SPLIT_K = replace(
    _kernel("split_k.cl", PortableConfig(128, 128, 8, 8, 8, split_k=2)),
    steps=fixup_steps,
    requires=(("nvidia", "the last work-group of a tile reads what the others wrote, behind NVIDIA's fences"),),
)
