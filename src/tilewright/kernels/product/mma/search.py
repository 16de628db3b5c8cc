"""Which configurations of main_loop.cl and main_loop_tma.cl a product on an NVIDIA GPU may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Gemm, Problem
from ..call import GemmCall, call_of
from ..portable.search import candidates as portable_candidates
from .config import WarpConfig
from .config_tma import FetchedConfig
from .cost import cost
from .kernels import KERNELS

PORTABLE = 0.9  # of the portable kernels' estimates, what they take by this family's measure
FETCHED_SPACE = (
    FetchedConfig(128, 128, 2, 4, 6), FetchedConfig(64, 128, 2, 4, 8), FetchedConfig(128, 64, 4, 2, 8),
    FetchedConfig(64, 64, 2, 4, 8),
)  # fmt: skip
FETCHED_COMPLEX_SPACE = (
    FetchedConfig(128, 64, 2, 4, 6), FetchedConfig(64, 128, 2, 4, 6), FetchedConfig(64, 64, 2, 4, 8),
)  # fmt: skip
# Tiles of C: BM, BN, WARPS_M, WARPS_N, WARPS_K, STAGES, lines, and how many such work-groups a compute unit's registers hold.
DOUBLE_SPACE = (
    (128, 128, 2, 4, 1, 4, 1, 1), (128, 128, 2, 4, 1, 3, 2, 1), (64, 128, 2, 4, 1, 4, 1, 1), (128, 64, 4, 2, 1, 4, 1, 1),
    (64, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 2, 4, 2, 1), (32, 64, 1, 2, 1, 4, 1, 4), (64, 32, 2, 1, 1, 4, 1, 4),
    (32, 64, 1, 2, 2, 3, 2, 2), (64, 32, 2, 1, 2, 3, 2, 2), (32, 32, 1, 1, 4, 5, 4, 1), (32, 16, 1, 1, 4, 5, 4, 1),
)  # fmt: skip
WORD_SPACE = (
    (128, 256, 2, 4, 1, 3, 1, 1), (256, 128, 4, 2, 1, 3, 1, 1), (128, 128, 2, 2, 1, 3, 1, 2),
    (128, 128, 2, 4, 1, 4, 1, 1),
    (64, 128, 2, 2, 1, 4, 1, 2), (128, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 1, 4, 1, 3), (32, 64, 1, 2, 1, 4, 1, 4),
)  # fmt: skip


def configurations(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[WarpConfig]:
    """Every tile with and without sharing out what is left, and with and without packing."""
    local = max(device.local_bytes, device.static_local_bytes)
    for tile, by_registers in _tiles(kernel, call):
        resident = min(by_registers, local // tile.local_bytes(call))
        for shared, pack in product((False, True), repeat=2):
            config = replace(tile, groups=resident * device.compute_units, shared=shared, pack=pack)
            if resident and not any(config.violations(call, device)):
                yield config


def _tiles(kernel: Kernel, call: GemmCall) -> Iterator[tuple[WarpConfig, int]]:
    """The kernel's tiles, and how many such work-groups a compute unit's registers hold."""
    base = kernel.config
    assert isinstance(base, WarpConfig)
    if isinstance(base, FetchedConfig):
        yield from ((tile, 1) for tile in (FETCHED_SPACE if call.dtype == "float64" else FETCHED_COMPLEX_SPACE))
        return
    space = DOUBLE_SPACE if call.dtype == "float64" else WORD_SPACE
    for bm, bn, warps_m, warps_n, warps_k, stages, lines, by_registers in space:
        tile = replace(
            base, BM=bm, BN=bn, WARPS_M=warps_m, WARPS_N=warps_n, WARPS_K=warps_k, STAGES=stages, lines=lines
        )
        yield tile, by_registers


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a Gemm or StridedGemm on an NVIDIA GPU, the cheapest first, where they beat the portable ones."""
    if "cp_async" not in device.features or not isinstance(problem, Gemm):
        return ()
    call = call_of(problem)
    precision = problem.precision
    fitting = [each for each in KERNELS if call.dtype in each.dtypes and each.precision == precision]
    usable = [each for each in fitting if all(feature in device.features for feature, _ in each.requires)]
    if not usable:
        return ()
    fetched = [each for each in usable if isinstance(each.config, FetchedConfig)]
    others = [each for each in usable if each not in fetched]
    found = [
        (cost(config, call, device), replace(kernel, config=config))
        for kernel in (*fetched, *others[:1])
        for config in configurations(kernel, call.row_major, device)
    ]
    if not precision and found:
        limit = PORTABLE * min(each.cost for each in portable_candidates(problem, device))
        found = [each for each in found if each[0] < limit]
    return tuple(kernel for _, kernel in sorted(found, key=lambda each: each[0]))
