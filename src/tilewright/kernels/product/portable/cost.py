"""What a tile would take: an estimate in clock cycles, comparable with the other families'.

Costs are estimates in clock cycles of the device, from a model with few constants, fitted to one H200 and kept simple so
that it holds elsewhere: they rank, they do not predict. A tuned table beats them where there is one.
"""

from dataclasses import dataclass
from functools import cache
from math import log2, sqrt

from ....core.device import DeviceInfo
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

# Every tile with the part of the multiply-adds in what its work-items issue, and what else keeps it from its best: fitted
# to some 4000 measurements on an H200 in float32, from 64 to 5000 a side, thin, batched and square.
TILE_SPACE: dict[TileConfig, float] = {
    TileConfig(128, 256, 8, 8, 16, 8, 4, LANE_SWIZZLE=0): 0.8,
    TileConfig(64, 256, 8, 8, 16): 0.66,
    TileConfig(64, 128, 16, 8, 16, SLICED_K=4): 0.63,
    TileConfig(64, 128, 16, 8, 16, SLICED_K=2): 0.61,
    TileConfig(128, 128, 8, 8, 8): 0.58,
    TileConfig(128, 128, 16, 8, 8, SLICED_K=2): 0.63,
    TileConfig(128, 64, 16, 8, 8, SLICED_K=2): 0.59,
    TileConfig(64, 128, 16, 8, 8): 0.64,
    TileConfig(64, 64, 16, 8, 8, SLICED_K=2): 0.60,
    TileConfig(64, 128, 8, 16, 8): 0.69,
    TileConfig(128, 64, 16, 4, 8): 0.74,
    TileConfig(128, 64, 16, 8, 4): 0.67,
    TileConfig(64, 64, 16, 8, 4): 0.755,
    TileConfig(64, 64, 16, 8, 4, SLICED_K=2): 0.71,
    TileConfig(64, 64, 16, 4, 4): 0.59,
    TileConfig(32, 256, 8, 8, 8): 0.70,
    TileConfig(32, 128, 16, 4, 8): 0.7,
    TileConfig(128, 32, 16, 8, 4, 8, 4): 0.62,
    TileConfig(32, 64, 32, 4, 8, SLICED_K=4): 0.52,
    TileConfig(32, 64, 32, 4, 4, SLICED_K=2): 0.57,
    TileConfig(64, 32, 32, 8, 4, SLICED_K=4): 0.53,
    TileConfig(32, 32, 32, 4, 4, SLICED_K=4): 0.50,
    TileConfig(32, 32, 16, 4, 4): 0.51,
    TileConfig(16, 256, 16, 4, 4, 2, 16): 0.63,
    TileConfig(16, 128, 32, 4, 4, 2, 16, SLICED_K=2): 0.61,
    TileConfig(128, 16, 32, 4, 4, 16, 2, SLICED_K=2): 0.62,
    TileConfig(16, 64, 32, 4, 4, 2, 16, SLICED_K=4): 0.47,
    TileConfig(64, 16, 32, 4, 4, 16, 2, SLICED_K=4): 0.43,
    TileConfig(128, 16, 16, 4, 4, 16, 2): 0.51,
    TileConfig(16, 32, 32, 4, 4, SLICED_K=4): 0.45,
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
ROUNDED_DOWN = 1 - 1e-9  # so that a floor stays one, although sums are rounded
PANEL_SHARE = 0.04  # of the time to read panels from that cache, what is not hidden behind arithmetic
MEMORY_SHARE = 0.5  # the same of the time to read and write each element once


def _shape(tile: TileConfig) -> tuple[int, ...]:
    return tile.BM, tile.BN, tile.BK, tile.TM, tile.TN, tile.SLICED_K


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


@dataclass(frozen=True)
class Terms:
    """What a tile's cost depends on beside the pieces of K."""

    resident: int  # work-groups that a compute unit holds at a time
    step: float  # cycles of one k of a tile, where all warps are busy
    fill: float  # the part of the warps that keep a compute unit busy that one work-group has
    panels: int  # bytes of one k of A's and B's panels
    packing: float  # cycles of copying operands before


def terms(config: TileConfig, call: GemmCall, device: DeviceInfo) -> Terms:
    packed, packing = config.after_packing(call), packing_cycles(config, call, device)
    return _terms(config, call, _resident(config, packed, device), narrowness(config, packed), packing)


def packing_cycles(config: TileConfig, call: GemmCall, device: DeviceInfo) -> float:
    names = config.packed(call)
    copied = 2 * sum(operand_bytes(call, name) for name in names) / (BYTES * device.compute_units)
    return copied + LAUNCH * launches(call, names)


@cache
def best_terms(config: TileConfig, dtype: str) -> Terms:
    """The terms of the best layouts: no layout costs less."""
    kind = elements(dtype)
    registers = kind.parts * kind.component_bytes // 4 * (config.TM * config.TN + config.TM + config.TN) + 24
    resident = max(1, min(REGISTER_FILE // (registers * config.items), 2048 // config.items))
    return _terms(config, GemmCall(1, 1, 1, dtype), resident, 1.0, 0.0)


def _terms(config: TileConfig, call: GemmCall, resident: int, narrow: float, packing: float) -> Terms:
    step = config.BM * config.BN * slowness(call.dtype) / (LANES * efficiency(config, call.dtype)) * narrow
    fill = config.items / 32 / FULL_WARPS * sqrt(config.TM * config.TN / 128)
    return Terms(resident, step, fill, (config.BM + config.BN) * element_type(call.dtype).itemsize, packing)


def tile_cost(config: TileConfig, joined: bool, call: GemmCall, device: DeviceInfo, own: Terms) -> float:
    """Cycles that a tile's kernel would take: arithmetic of the busiest compute unit, then memory, which it hides only
    partly, then adding up the pieces, in the tile's last work-group if they are `joined`."""
    pieces, depth = pieces_of(config, call)
    computing, together, waves = _computing(config, pieces, depth, call, device, own)
    asked = min(1.0, together * own.panels * config.BK / IN_FLIGHT)
    memory = memory_cycles(call, device)
    exposed = memory * (1 / asked - 1) * min(1.0, memory / max(computing, 1.0))  # much arithmetic hides slow memory
    adding = adding_up(config.BM * config.BN if joined else 0, pieces, call, device)
    return START + computing + MEMORY_SHARE * memory + exposed + LATENCY * waves + adding + own.packing


def tile_floor(tile: TileConfig, most: int, may_join: bool, call: GemmCall, device: DeviceInfo) -> float:
    """What a tile costs at least, whatever the layouts, with K in up to `most` pieces."""
    own = best_terms(tile, call.dtype)
    computing, _, waves = _computing(tile, 1, call.k, call, device, own)
    cycles = computing + LATENCY * waves
    if most > 1:
        cycles = min(cycles, _least_in_pieces(tile, most, may_join, call, device, own))
    return (START + cycles + MEMORY_SHARE * memory_cycles(call, device)) * ROUNDED_DOWN


def _least_in_pieces(
    tile: TileConfig, most: int, may_join: bool, call: GemmCall, device: DeviceInfo, own: Terms
) -> float:
    """What a tile and adding up its pieces take at least, with K in 2 to `most` pieces.

    A work-group takes its piece's part of K, and a compute unit its share of the whole; both have the pieces to add up.
    """
    share = tile.tiles(call) * call.batch / device.compute_units
    step = SPLIT_LOSS * own.step
    one = step / sqrt(min(1.0, own.fill)) * call.k
    found = []
    for joined, begin in ((0, LAUNCH), (tile.BM * tile.BN, LATENCY)) if may_join else ((0, LAUNCH),):
        piece = adding_up(joined, 2, call, device) / 2 - begin / 2
        pieces = min(max(2.0, sqrt(one / piece)), most) if piece else most
        alone = one / pieces + piece * pieces
        together = step / sqrt(min(1.0, own.resident * own.fill)) * share * (call.k + 2 * tile.BK) + 2 * piece
        found.append(begin + max(alone, together))
    return LATENCY + min(found)


def least_cost(call: GemmCall, device: DeviceInfo) -> float:
    """What all tiles cost at least."""
    products = call.batch * call.m * call.n * call.k * slowness(call.dtype) / device.compute_units
    best = max(EFFICIENCY.values()) * (SMALL_COMPLEX if call.dtype.startswith("complex") else 1)
    return (START + products / (LANES * best) + MEMORY_SHARE * memory_cycles(call, device) + LATENCY) * ROUNDED_DOWN


def _computing(
    config: TileConfig, pieces: int, depth: int, call: GemmCall, device: DeviceInfo, own: Terms
) -> tuple[float, int, int]:
    """Cycles of the busiest compute unit's arithmetic, the work-groups that it holds at a time, and how many waves of them
    it has."""
    each = max(1, -(-config.tiles(call) * pieces * call.batch // device.compute_units))
    together = min(each, own.resident)
    busy = sqrt(min(1.0, together * own.fill))
    arithmetic = own.step * (depth + config.BK) / busy
    computing = (SPLIT_LOSS if pieces > 1 else 1) * each * (arithmetic + PANEL_SHARE * own.panels * depth / CACHE_BYTES)
    return computing, together, -(-each // together)


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
