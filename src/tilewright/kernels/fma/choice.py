"""Which configurations of product.cl a product should run, the cheapest first: an estimate comparable with gemm/choice.py's."""

from collections.abc import Iterator
from dataclasses import replace

from ...device import DeviceInfo
from ...dtypes import element_type
from ...kernel import Kernel
from ...problem import Gemm, Problem
from ..gemm.call import GemmCall, call_of
from ..gemm.choice import BYTES, LANES, LATENCY, LAUNCH, operand_bytes
from ..gemm.choice import candidates as portable_candidates
from .product import PRODUCT, FmaConfig, turned

# Tiles of C and the slices that share them.
SPACE = (
    FmaConfig(256, 128),
    FmaConfig(128, 256),
    FmaConfig(128, 128, 2),
    FmaConfig(128, 64, 4),
    FmaConfig(64, 128, 4),
    FmaConfig(128, 64, 4, 8),
    FmaConfig(64, 128, 4, 8),
    FmaConfig(64, 64, 8, 8),
)
# Of the multiply-adds that could start, as an H200's large products showed; those of int32 can start at half the rate.
EFFICIENCY = {"float32": 0.82, "int32": 0.45}
PORTABLE_INTEGERS = 1.33  # slowness of the portable kernels' int32 against their model
STEP = 60  # cycles of a stage beside its multiply-adds
TURNED_ROWS, TURNED_SLICED = 10, 35  # and for each 32 rows of 16 k that are turned, without and with slices
TILE = 4000  # cycles to store a tile
SLICES = 600  # cycles for each slice to add it up
JOIN_BYTES = 12  # bytes per clock and compute unit of pieces of tiles that are written and read again
SINGLE = 2.0  # slowness of storing a tile by single elements


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernel in every configuration that should beat the portable ones, the cheapest first; none without TMA."""
    if not {"tma", "wgmma"} <= device.features or not isinstance(problem, Gemm) or problem.dtype not in PRODUCT.dtypes:
        return ()
    if getattr(problem, "precision", ""):
        return ()
    call = call_of(problem).row_major
    found = [(cost(config, call, device), config) for config in configurations(call, device)]
    limit = min(each.cost for each in portable_candidates(problem, device))
    limit *= PORTABLE_INTEGERS if call.dtype == "int32" else 1
    ranked = sorted((each for each in found if each[0] < limit), key=lambda each: each[0])
    return tuple(replace(PRODUCT, config=config) for _, config in ranked)


def configurations(call: GemmCall, device: DeviceInfo) -> Iterator[FmaConfig]:
    """Every tile that nothing speaks against, with and without sharing out what is left, and with packing where it helps."""
    for base in SPACE:
        for shared in (False, True):
            for pack in (False, True):
                config = replace(base, groups=device.compute_units, shared=shared, pack=pack)
                if not any(config.violations(call, device)):
                    yield config


def cost(config: FmaConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: the rounds of the busiest work-group, its share of what is left and joining that, packing, memory's part."""
    oriented, units = config.oriented(call), device.compute_units
    tiles, steps, whole = config.tiles(oriented), config.steps(oriented), config.whole(oriented)
    turned_rows = config.BM * turned("A", oriented) + config.BN * turned("B", oriented)
    turning = turned_rows / 32 * config.depth / 16 * (TURNED_SLICED if config.SLICES > 1 else TURNED_ROWS)
    products = config.BM * config.BN * config.depth
    step = products / (LANES * EFFICIENCY[call.dtype]) + turning + STEP
    storing = TILE * (SINGLE if config.macros(oriented)["C_VEC"] == 1 else 1) * config.BM * config.BN / 32768
    if config.SLICES > 1:
        storing += SLICES * config.SLICES + LATENCY / 2  # the next tile's first stage is not fetched ahead
    rounds = -(-whole // units)
    shared, joining = 0.0, 0.0
    if tiles > whole:
        groups = config.work_groups(oriented)
        shared = -(-(tiles - whole) * steps // groups)
        joining = TILE + 2 * config.partial_bytes(oriented) / (JOIN_BYTES * units)
    computing = (rounds * steps + shared) * step + rounds * storing + joining
    packed = config.packed(call)
    packing = 2 * sum(operand_bytes(call, name) for name in packed) / (BYTES * units) + LAUNCH * len(packed)
    result = call.batch * call.m * call.n * element_type(call.result).itemsize
    memory = (operand_bytes(call, "A") + operand_bytes(call, "B") + result) / (BYTES * units)
    first = config.stage_bytes(oriented) / BYTES
    return max(computing, memory) + packing + LATENCY + first
