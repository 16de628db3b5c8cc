"""What a tile would take: an estimate in clock cycles, comparable with the other families'.

Costs are estimates in clock cycles of the device, from a model with few constants, fitted to one H200 and kept simple so
that it holds elsewhere: they rank, they do not predict. A tuned table beats them where there is one.
"""

from math import log2, sqrt

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from ..cost import (
    BYTES,
    CACHE_BYTES,
    LANES,
    LATENCY,
    LAUNCH,
    START,
    adding_up,
    memory_cycles,
    operand_bytes,
    pieces_of,
    slowness,
)
from ..macros import elements, result_width
from ..packing import launches
from .config import TileConfig
from .kernels import JOINED

# Every tile with the part of the multiply-adds in what its work-items issue, and what else keeps it from its best: fitted
# to some 4000 measurements on an H200 in float32, from 64 to 5000 a side, thin, batched and square.
TILE_SPACE: dict[TileConfig, float] = {
    TileConfig(128, 256, 8, 8, 16, 8, 4, ZIGZAG=0): 0.8,
    TileConfig(64, 256, 8, 8, 16): 0.66,
    TileConfig(64, 128, 16, 8, 16, SLICES=4): 0.63,
    TileConfig(64, 128, 16, 8, 16, SLICES=2): 0.61,
    TileConfig(128, 128, 8, 8, 8): 0.58,
    TileConfig(128, 128, 16, 8, 8, SLICES=2): 0.63,
    TileConfig(128, 64, 16, 8, 8, SLICES=2): 0.59,
    TileConfig(64, 128, 16, 8, 8): 0.64,
    TileConfig(64, 64, 16, 8, 8, SLICES=2): 0.60,
    TileConfig(64, 128, 8, 16, 8): 0.69,
    TileConfig(128, 64, 16, 4, 8): 0.74,
    TileConfig(128, 64, 16, 8, 4): 0.67,
    TileConfig(64, 64, 16, 8, 4): 0.755,
    TileConfig(64, 64, 16, 8, 4, SLICES=2): 0.71,
    TileConfig(64, 64, 16, 4, 4): 0.59,
    TileConfig(32, 256, 8, 8, 8): 0.70,
    TileConfig(32, 128, 16, 4, 8): 0.7,
    TileConfig(128, 32, 16, 8, 4, 8, 4): 0.62,
    TileConfig(32, 64, 32, 4, 8, SLICES=4): 0.52,
    TileConfig(32, 64, 32, 4, 4, SLICES=2): 0.57,
    TileConfig(64, 32, 32, 8, 4, SLICES=4): 0.53,
    TileConfig(32, 32, 32, 4, 4, SLICES=4): 0.50,
    TileConfig(32, 32, 16, 4, 4): 0.51,
    TileConfig(16, 256, 16, 4, 4, 2, 16): 0.63,
    TileConfig(16, 128, 32, 4, 4, 2, 16, SLICES=2): 0.61,
    TileConfig(128, 16, 32, 4, 4, 16, 2, SLICES=2): 0.62,
    TileConfig(16, 64, 32, 4, 4, 2, 16, SLICES=4): 0.47,
    TileConfig(64, 16, 32, 4, 4, 16, 2, SLICES=4): 0.43,
    TileConfig(128, 16, 16, 4, 4, 16, 2): 0.51,
    TileConfig(16, 32, 32, 4, 4, SLICES=4): 0.45,
    # Not measured; for devices with few registers or small work-groups.
    TileConfig(32, 32, 8, 4, 4): 0.45,
    TileConfig(16, 32, 8, 4, 4): 0.36,
    TileConfig(16, 16, 8, 2, 2): 0.30,
}

SMALL_COMPLEX, LARGE_COMPLEX = 1.13, 0.88  # efficiency of complex tiles up to 8 x 4, and above, against float32's
NARROW_TILE = 200  # products of a work-item for which an operand read by single floats doubles a tile's time
NARROW_RESULT = 1.1  # slowness of the largest tile if it stores single elements, or converts what it reads
REGISTER_FILE = 65536  # 32-bit registers of a compute unit
FULL_WARPS = 5.7  # warps of 8 x 16 tiles that keep a compute unit busy; smaller tiles need more of them
IN_FLIGHT = 5300  # bytes that a compute unit must have asked for to get its share of the memory's speed
SPLIT_LOSS = 1.06  # slowness of a product in pieces of K, adding them up aside
PANEL_SHARE = 0.04  # of the time to read panels from that cache, what is not hidden behind arithmetic
MEMORY_SHARE = 0.5  # the same of the time to read and write each element once


def _shape(tile: TileConfig) -> tuple[int, ...]:
    return tile.BM, tile.BN, tile.BK, tile.TM, tile.TN, tile.SLICES


EFFICIENCY = {_shape(tile): part for tile, part in TILE_SPACE.items()}


def efficiency(config: TileConfig, dtype: str) -> float:
    """The part of the multiply-adds in what this tile's work-items issue.

    Of complex numbers a tile has four for each product; large ones leave the compiler no registers to read ahead.
    """
    products, reads = config.TM * config.TN, config.TM + config.TN
    part = EFFICIENCY.get(_shape(config), products / (products + 2 * reads))
    if dtype.startswith("complex"):
        return part * (SMALL_COMPLEX if products <= 32 else LARGE_COMPLEX)
    return part


def tile_cost(kernel: Kernel, problem: Problem, device: DeviceInfo) -> float:
    """Cycles that a tile's kernel would take: arithmetic of the busiest compute unit, then memory, which it hides only
    partly, then adding up the pieces."""
    config = kernel.config
    assert isinstance(config, TileConfig)
    plain, call = config.orientation(problem), config.oriented(problem)
    pieces, depth = pieces_of(config, call)
    each = -(-config.tiles(call) * pieces * call.batch // device.compute_units)
    together = min(each, _resident(config, call, device))
    warps = together * config.items / 32
    busy = sqrt(min(1.0, warps / FULL_WARPS * sqrt(config.TM * config.TN / 128)))
    products = config.BM * config.BN * (depth + config.BK) * slowness(call.dtype)
    arithmetic = products / (LANES * efficiency(config, call.dtype)) * narrowness(config, call) / busy
    panels = (config.BM + config.BN) * element_type(call.dtype).itemsize
    asked = min(1.0, together * panels * config.BK / IN_FLIGHT)
    packing = 2 * sum(operand_bytes(plain, name) for name in config.packed(plain)) / (BYTES * device.compute_units)
    packing += LAUNCH * launches(plain, config.packed(plain))
    computing = (SPLIT_LOSS if pieces > 1 else 1) * each * (arithmetic + PANEL_SHARE * panels * depth / CACHE_BYTES)
    memory = memory_cycles(call, device)
    exposed = memory * (1 / asked - 1) * min(1.0, memory / max(computing, 1.0))  # much arithmetic hides slow memory
    adding = adding_up(config.BM * config.BN if kernel.source == JOINED.source else 0, pieces, call, device)
    return START + computing + MEMORY_SHARE * memory + exposed + LATENCY * -(-each // together) + adding + packing


def _resident(config: TileConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Work-groups that a compute unit holds at a time."""
    local = max(device.static_local_bytes, 2 * device.local_bytes)
    return max(
        1,
        min(
            REGISTER_FILE // (config.registers(call) * config.items),
            2048 // config.items,
            local // max(1, config.local_bytes(call)),
        ),
    )


def narrowness(config: TileConfig, call: GemmCall) -> float:
    """How much longer a tile takes whose operands are read, or whose result is stored, by single elements."""
    itemsize = element_type(call.dtype).itemsize
    narrow = sum(log2(16 / min(16, how.width * max(4, itemsize))) / 2 for how in config.readings(call))
    scattered = config.TM * config.TN > 64 and result_width(call, elements(call.dtype).fragment) == 1
    crowded = NARROW_RESULT if scattered or (itemsize < 4 and config.TM * config.TN > 64) else 1
    return (1 + narrow * config.TM * config.TN / NARROW_TILE) * crowded
