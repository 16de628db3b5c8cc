"""What a tile would take: an estimate in clock cycles, comparable with the other families'.

Costs are estimates in clock cycles of the device, from a model with few constants. They were fitted to one H200, those of single
elements of 2 bytes to an H100, and kept simple so that they hold elsewhere: they rank, they do not predict. A tuned table
beats them where there is one.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import log2, sqrt

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import (
    BYTES,
    L2_BYTES,
    LANES,
    LATENCY,
    LAUNCH,
    REDUCE_LAUNCH,
    START,
    copied_bytes,
    fixup_cycles,
    memory_cycles,
    slowness,
    splits_of,
)
from ..macros import elements, result_width
from ..packing import launches
from .config import PortableConfig

# Every tile with the part of the multiply-adds in what its work-items issue, and what else keeps it from its best: fitted
# to some 4000 measurements on an H200 in float32, from 64 to 5000 a side, thin, batched and square.
TILE_SPACE: dict[PortableConfig, float] = {
    PortableConfig(128, 256, 8, 8, 16, 8, 4, LANE_SWIZZLE=0): 0.8,
    PortableConfig(64, 256, 8, 8, 16): 0.66,
    PortableConfig(64, 128, 16, 8, 16, SLICED_K=4): 0.63,
    PortableConfig(64, 128, 16, 8, 16, SLICED_K=2): 0.61,
    PortableConfig(128, 128, 8, 8, 8): 0.58,
    PortableConfig(128, 128, 16, 8, 8, SLICED_K=2): 0.63,
    PortableConfig(128, 64, 16, 8, 8, SLICED_K=2): 0.59,
    PortableConfig(64, 128, 16, 8, 8): 0.64,
    PortableConfig(64, 64, 16, 8, 8, SLICED_K=2): 0.60,
    PortableConfig(64, 128, 8, 16, 8): 0.69,
    PortableConfig(128, 64, 16, 4, 8): 0.74,
    PortableConfig(128, 64, 16, 8, 4): 0.67,
    PortableConfig(64, 64, 16, 8, 4): 0.755,
    PortableConfig(64, 64, 16, 8, 4, SLICED_K=2): 0.71,
    PortableConfig(64, 64, 16, 4, 4): 0.59,
    PortableConfig(32, 256, 8, 8, 8): 0.70,
    PortableConfig(32, 128, 16, 4, 8): 0.7,
    PortableConfig(128, 32, 16, 8, 4, 8, 4): 0.62,
    PortableConfig(32, 64, 32, 4, 8, SLICED_K=4): 0.52,
    PortableConfig(32, 64, 32, 4, 4, SLICED_K=2): 0.57,
    PortableConfig(64, 32, 32, 8, 4, SLICED_K=4): 0.53,
    PortableConfig(32, 32, 32, 4, 4, SLICED_K=4): 0.50,
    PortableConfig(32, 32, 16, 4, 4): 0.51,
    PortableConfig(16, 256, 16, 4, 4, 2, 16): 0.63,
    PortableConfig(16, 128, 32, 4, 4, 2, 16, SLICED_K=2): 0.61,
    PortableConfig(128, 16, 32, 4, 4, 16, 2, SLICED_K=2): 0.62,
    PortableConfig(16, 64, 32, 4, 4, 2, 16, SLICED_K=4): 0.47,
    PortableConfig(64, 16, 32, 4, 4, 16, 2, SLICED_K=4): 0.43,
    PortableConfig(128, 16, 16, 4, 4, 16, 2): 0.51,
    PortableConfig(16, 32, 32, 4, 4, SLICED_K=4): 0.45,
    # Not measured; for devices with few registers or small work-groups.
    PortableConfig(32, 32, 8, 4, 4): 0.45,
    PortableConfig(16, 32, 8, 4, 4): 0.36,
    PortableConfig(16, 16, 8, 2, 2): 0.30,
}

SMALL_COMPLEX, LARGE_COMPLEX = 1.13, 0.88  # efficiency of complex tiles up to 8 x 4, and above, against float32's
NARROW_TILE = 200  # products of a work-item for which an operand read by single floats doubles a tile's time
NARROW_RESULT = 1.1  # slowness of the largest tile if it stores single elements, or converts what it reads
BROKEN = 0.6  # cycles of each store of an element of 2 bytes by itself, as those of odd rows are, or of two of them
REGISTER_FILE = 65536  # 32-bit registers of a compute unit
FULL_WARPS = 5.7  # warps of 8 x 16 tiles that keep a compute unit busy; smaller tiles need more of them
IN_FLIGHT = 5300  # bytes that a compute unit must have asked for to get its share of the memory's speed
SCATTERED = 2.5  # times the memory's share where an operand of 2 bytes is read one element at a time
SPLIT_LOSS = 1.06  # slowness of a product with split-K, beside the time to add up
ROUNDED_DOWN = 1 - 1e-9  # so that a floor stays one, although sums are rounded
PANEL_SHARE = 0.04  # of the time to read panels from that cache, what is not hidden behind arithmetic
MEMORY_SHARE = 0.5  # the same of the time to read and write each element once


def _shape(tile: PortableConfig) -> tuple[int, ...]:
    return tile.BM, tile.BN, tile.BK, tile.TM, tile.TN, tile.SLICED_K


EFFICIENCY = {_shape(tile): part for tile, part in TILE_SPACE.items()}


def efficiency(config: PortableConfig, dtype: str) -> float:
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
    """What a tile's cost depends on beside the splits of K."""

    resident: int  # work-groups that a compute unit holds at a time
    step: float  # cycles of one k of a tile, where all warps are busy
    fill: float  # the part of the warps that keep a compute unit busy that one work-group has
    panels: int  # bytes of one k of A's and B's panels
    packing: float  # cycles of copying operands before
    memory: float  # cycles to read the operands once and write the result
    storing: float = 0.0  # cycles of a tile's stores, where these are more than its arithmetic hides


def terms(config: PortableConfig, call: GemmCall, device: DeviceInfo) -> Terms:
    packed, packing = config.after_packing(call), packing_cycles(config, call, device)
    made = _terms(config, call, _resident(config, packed, device), narrowness(config, packed))
    width = result_width(packed, elements(call.dtype).fragment)
    broken = element_type(call.result).itemsize == 2 and width <= 2
    storing = BROKEN * config.BM * config.BN / width if broken else 0.0
    memory = memory_cycles(call, device) * scattered(config, packed)
    return replace(made, packing=packing, memory=memory, storing=storing)


def scattered(config: PortableConfig, call: GemmCall) -> float:
    """How much longer memory takes for operands of 2 bytes that are read one by one."""
    single = element_type(call.dtype).itemsize == 2 and any(how.width == 1 for how in config.readings(call))
    return SCATTERED if single else 1.0


def packing_cycles(config: PortableConfig, call: GemmCall, device: DeviceInfo) -> float:
    names = config.packed(call)
    return copied_bytes(call, names) / (BYTES * device.compute_units) + LAUNCH * launches(call, names)


@cache
def best_terms(config: PortableConfig, dtype: str) -> Terms:
    """The terms of the best layouts: no layout costs less."""
    kind = elements(dtype)
    registers = kind.parts * kind.component_bytes // 4 * (config.TM * config.TN + config.TM + config.TN) + 24
    resident = max(1, min(REGISTER_FILE // (registers * config.items), 2048 // config.items))
    return _terms(config, GemmCall(1, 1, 1, dtype), resident, 1.0)


def _terms(config: PortableConfig, call: GemmCall, resident: int, narrow: float) -> Terms:
    step = config.BM * config.BN * slowness(call.dtype) / (LANES * efficiency(config, call.dtype)) * narrow
    fill = config.items / 32 / FULL_WARPS * sqrt(config.TM * config.TN / 128)
    return Terms(resident, step, fill, (config.BM + config.BN) * element_type(call.dtype).itemsize, 0.0, 0.0)


def cost_without_fixup(config: PortableConfig, call: GemmCall, device: DeviceInfo, own: Terms) -> float:
    """Cycles that a tile's kernel would take, without packing before and adding up splits of K afterwards.

    Those are the arithmetic of the busiest compute unit, then memory, which arithmetic hides only partly.
    """
    splits, depth = splits_of(config, call)
    computing, together, waves = _computing(config, splits, depth, call, device, own)
    asked = min(1.0, together * own.panels * config.BK / IN_FLIGHT)
    memory = own.memory
    exposed = memory * (1 / asked - 1) * min(1.0, memory / max(computing, 1.0))  # much arithmetic hides slow memory
    return START + computing + MEMORY_SHARE * memory + exposed + LATENCY * waves


def least_tile_cost(tile: PortableConfig, most: int, fixup: bool, call: GemmCall, device: DeviceInfo) -> float:
    """What a tile costs at least, whatever the layouts, with K in up to `most` splits.

    With `fixup` the last work-group of a tile may add them up.
    """
    own = best_terms(tile, call.dtype)
    computing, _, waves = _computing(tile, 1, call.k, call, device, own)
    cycles = computing + LATENCY * waves
    if most > 1:
        cycles = min(cycles, _least_with_split_k(tile, most, fixup, call, device, own))
    return (START + cycles + MEMORY_SHARE * memory_cycles(call, device)) * ROUNDED_DOWN


def _least_with_split_k(
    tile: PortableConfig, most: int, fixup: bool, call: GemmCall, device: DeviceInfo, own: Terms
) -> float:
    """What a tile and adding up its splits take at least, with K in 2 to `most` splits.

    A work-group takes its split of K, and a compute unit its share of the whole. Both have the splits to add up.
    """
    share = tile.tiles(call) * call.batch / device.compute_units
    step = SPLIT_LOSS * own.step
    one = step / sqrt(min(1.0, own.fill)) * call.k
    found = []
    for tile_elements, begin in ((0, REDUCE_LAUNCH), (tile.BM * tile.BN, LATENCY)) if fixup else ((0, REDUCE_LAUNCH),):
        adding = fixup_cycles(tile_elements, 2, call, device) / 2 - begin / 2  # cycles for each split
        splits = min(max(2.0, sqrt(one / adding)), most) if adding else most
        alone = one / splits + adding * splits
        together = step / sqrt(min(1.0, own.resident * own.fill)) * share * (call.k + 2 * tile.BK) + 2 * adding
        found.append(begin + max(alone, together))
    return LATENCY + min(found)


def least_cost(call: GemmCall, device: DeviceInfo) -> float:
    """What all tiles cost at least."""
    products = call.batch * call.m * call.n * call.k * slowness(call.dtype) / device.compute_units
    products /= 2 if call.symmetric else 1
    best = max(EFFICIENCY.values()) * (SMALL_COMPLEX if call.dtype.startswith("complex") else 1)
    return (START + products / (LANES * best) + MEMORY_SHARE * memory_cycles(call, device) + LATENCY) * ROUNDED_DOWN


def _computing(
    config: PortableConfig, splits: int, depth: int, call: GemmCall, device: DeviceInfo, own: Terms
) -> tuple[float, int, int]:
    """Cycles of the busiest compute unit's arithmetic, the work-groups that it holds at a time, and how many waves of them
    it has."""
    each = max(1, -(-config.tiles(call) * splits * call.batch // device.compute_units))
    together = min(each, own.resident)
    busy = sqrt(min(1.0, together * own.fill))
    arithmetic = own.step * (depth + config.BK) / busy
    computing = (
        (SPLIT_LOSS if splits > 1 else 1)
        * each
        * (arithmetic + PANEL_SHARE * own.panels * depth / L2_BYTES + own.storing)
    )
    return computing, together, -(-each // together)


def _resident(config: PortableConfig, call: GemmCall, device: DeviceInfo) -> int:
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


def narrowness(config: PortableConfig, call: GemmCall) -> float:
    """How much longer a tile takes whose operands are read, or whose result is stored, by single elements."""
    itemsize = element_type(call.dtype).itemsize
    narrow = sum(log2(16 / min(16, how.width * max(4, itemsize))) / 2 for how in config.readings(call))
    scattered = config.TM * config.TN > 64 and result_width(call, elements(call.dtype).fragment) == 1
    crowded = NARROW_RESULT if scattered or (itemsize < 4 and config.TM * config.TN > 64) else 1
    return (1 + narrow * config.TM * config.TN / NARROW_TILE) * crowded
