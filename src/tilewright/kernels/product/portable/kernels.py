"""The kernels of this folder as Kernel objects, and the launches that each needs."""

from dataclasses import replace
from pathlib import Path

from ....core.kernel import Config, Kernel
from ....core.types import ELEMENT_TYPES
from ..steps import fixup_steps, split_k_steps
from .config import PortableConfig

HERE = Path(__file__).parent


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=split_k_steps)


TILES = _kernel("main_loop.cl", PortableConfig(128, 128, 8, 8, 8))
SPLIT_K = replace(
    _kernel("split_k.cl", PortableConfig(128, 128, 8, 8, 8, split_k=2)),
    steps=fixup_steps,
    requires=(("nvidia", "the last work-group of a tile reads what the others wrote, behind NVIDIA's fences"),),
)
