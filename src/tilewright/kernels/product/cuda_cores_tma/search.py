"""Which configurations of main_loop.cl a product may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Gemm, Problem
from ..call import GemmCall, call_of
from ..portable.search import candidates as portable_candidates
from .config import FmaConfig
from .cost import cost
from .kernels import PRODUCT

# Tiles of C and the slices that share them.
SPACE = (
    FmaConfig(256, 128),
    FmaConfig(128, 256),
    FmaConfig(64, 512),
    FmaConfig(512, 64),
    FmaConfig(128, 128, 2),
    FmaConfig(128, 64, 4),
    FmaConfig(64, 128, 4),
    FmaConfig(128, 64, 4, 8),
    FmaConfig(64, 128, 4, 8),
    FmaConfig(64, 64, 8, 8),
)
PORTABLE = {"float32": 1.06, "complex64": 1.06, "int32": 1.33}  # slowness of the portable kernels against their model


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernel in every configuration that should beat the portable ones, the cheapest first; none without TMA."""
    found = _costs(problem, device)
    if not found:
        return ()
    limit = min(each.cost for each in portable_candidates(problem, device)) * PORTABLE[problem.dtype]
    return tuple(replace(PRODUCT, config=config) for cycles, config in found if cycles < limit)


def ranked(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernel in every configuration that can solve the problem, the cheapest first."""
    return tuple(replace(PRODUCT, config=config) for _, config in _costs(problem, device))


def _costs(problem: Problem, device: DeviceInfo) -> list[tuple[float, FmaConfig]]:
    if not {"tma", "wgmma"} <= device.features or not isinstance(problem, Gemm) or problem.dtype not in PRODUCT.dtypes:
        return []
    if problem.precision not in ("", "fp32_split"):  # what is too small for halves to gain comes here
        return []
    call = call_of(problem).row_major
    found = [(cost(config, call, device), config) for config in configurations(call, device)]
    return sorted(found, key=lambda each: each[0])


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[FmaConfig]:
    """Every tile that nothing speaks against, with and without sharing out what is left, and with packing where it helps."""
    for base in SPACE:
        for shared in (False, True):
            for pack, turn in ((False, False), (True, False), (False, True)):
                config = replace(base, groups=device.compute_units, shared=shared, pack=pack, turn=turn)
                if not any(config.violations(call, device)):
                    yield config
