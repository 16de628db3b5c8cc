"""Which kernels in which configurations a product may run for any GPU, and what each would cost."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel
from ....core.problem import Problem
from ..call import GemmCall, call_of
from ..cost import PIECES
from ..gemv.cost import vector_cost
from ..gemv.kernels import COLUMNS, ROWS
from ..gemv.search import COLUMNS_SPACE, ROWS_SPACE, vector_configs
from .cost import TILE_SPACE, tile_cost
from .kernels import JOINED, TILES


@dataclass(frozen=True)
class Candidate:
    """A kernel in one configuration, and its estimated cost in cycles."""

    kernel: Kernel
    cost: float


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Candidate, ...]:
    """Every kernel and configuration for a Gemm or StridedGemm, the cheapest first, whether or not the device can run it.

    Pure: it needs the device's facts alone. Buffers are taken to start on 16 bytes, as a device's allocations do.
    """
    call = call_of(problem)
    found = [Candidate(each, tile_cost(each, call, device)) for each in _tile_kernels(call, device)]
    for kernel, space in ((ROWS, ROWS_SPACE), (COLUMNS, COLUMNS_SPACE)):
        for config in vector_configs(space, call, device):
            found.append(Candidate(_in_config(kernel, config), vector_cost(config, call, device)))
    return tuple(sorted(found, key=lambda each: each.cost))


def ranked_kernels(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The candidates' kernels, the cheapest first: `plan` takes the first that nothing speaks against, and says why the
    ones before it lost."""
    return tuple(each.kernel for each in candidates(problem, device))


def _in_config(kernel: Kernel, config: Config) -> Kernel:
    return replace(kernel, config=config)


def _tile_kernels(call: GemmCall, device: DeviceInfo) -> Iterator[Kernel]:
    """Every tile, with K in as many pieces as fill the device a few times, and with and without packing."""
    for config in TILE_SPACE:
        if "nvidia" not in device.features:
            config = replace(config, ZIGZAG=0)
        groups = max(1, config.tiles(call.row_major) * call.batch)
        for pieces in PIECES:
            if pieces > 1 and (groups * pieces > 10 * device.compute_units or call.k < 2 * pieces * config.BK):
                break
            cut = replace(config, split=pieces)
            packed = replace(cut, pack=True)
            for kernel in (TILES, JOINED) if pieces > 1 and "nvidia" in device.features else (TILES,):
                yield _in_config(kernel, cut)
                if packed.packed(call.row_major):
                    yield _in_config(kernel, packed)
