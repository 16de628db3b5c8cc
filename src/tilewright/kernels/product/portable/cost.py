"""What a tile would take: an estimate in clock cycles, comparable with the other families'.

A compute unit's work-groups compute and store, or wait for one panel after another; memory adds its part. Fitted to some 5,500
times of an H100. A tuned table beats these estimates where there is one.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import log2, sqrt

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import (
    COPY_BYTES,
    FIXUP,
    LANES,
    LAUNCH,
    ROUNDED_DOWN,
    copied_bytes,
    fixup_cycles,
    memory_cycles,
    slowness,
    splits_of,
)
from ..macros import elements, result_width
from ..packing import launches
from .config import PortableConfig

# Every tile with the part of the multiply-adds in what its work-items issue, and what else keeps it from its best.
TILE_SPACE: dict[PortableConfig, float] = {
    PortableConfig(128, 256, 8, 8, 16, 8, 4, LANE_SWIZZLE=0): 0.708,
    PortableConfig(64, 256, 8, 8, 16): 0.649,
    PortableConfig(64, 128, 16, 8, 16, SLICED_K=4): 0.512,
    PortableConfig(64, 128, 16, 8, 16, SLICED_K=2): 0.434,
    PortableConfig(128, 128, 8, 8, 8): 0.571,
    PortableConfig(128, 128, 16, 8, 8, SLICED_K=2): 0.641,
    PortableConfig(128, 64, 16, 8, 8, SLICED_K=2): 0.475,
    PortableConfig(64, 128, 16, 8, 8): 0.664,
    PortableConfig(64, 64, 16, 8, 8, SLICED_K=2): 0.551,
    PortableConfig(64, 128, 8, 16, 8): 0.572,
    PortableConfig(128, 64, 16, 4, 8): 0.666,
    PortableConfig(128, 64, 16, 8, 4): 0.677,
    PortableConfig(64, 64, 16, 8, 4): 0.653,
    PortableConfig(64, 64, 16, 8, 4, SLICED_K=2): 0.633,
    PortableConfig(64, 64, 16, 4, 4): 0.623,
    PortableConfig(32, 256, 8, 8, 8): 0.65,
    PortableConfig(32, 128, 16, 4, 8): 0.591,
    PortableConfig(128, 32, 16, 8, 4, 8, 4): 0.582,
    PortableConfig(32, 64, 32, 4, 8, SLICED_K=4): 0.474,
    PortableConfig(32, 64, 32, 4, 4, SLICED_K=2): 0.515,
    PortableConfig(64, 32, 32, 8, 4, SLICED_K=4): 0.458,
    PortableConfig(32, 32, 32, 4, 4, SLICED_K=4): 0.48,
    PortableConfig(32, 32, 16, 4, 4): 0.488,
    PortableConfig(16, 256, 16, 4, 4, 2, 16): 0.457,
    PortableConfig(16, 128, 32, 4, 4, 2, 16, SLICED_K=2): 0.425,
    PortableConfig(128, 16, 32, 4, 4, 16, 2, SLICED_K=2): 0.423,
    PortableConfig(16, 64, 32, 4, 4, 2, 16, SLICED_K=4): 0.439,
    PortableConfig(64, 16, 32, 4, 4, 16, 2, SLICED_K=4): 0.415,
    PortableConfig(128, 16, 16, 4, 4, 16, 2): 0.458,
    PortableConfig(16, 32, 32, 4, 4, SLICED_K=4): 0.406,
    # Not measured; for devices with few registers or small work-groups.
    PortableConfig(32, 32, 8, 4, 4): 0.491,
    PortableConfig(16, 32, 8, 4, 4): 0.372,
    PortableConfig(16, 16, 8, 2, 2): 0.483,
}

# The same of other types, as a multiple: of complex tiles up to 8 x 4, and above, which leave no registers to read ahead.
SMALL_COMPLEX, LARGE_COMPLEX = 1.07, 0.82
WIDE, HALF = 0.8, 0.82  # of elements of 8 bytes, and of 2, which are converted
WIDE_COMPLEX = 1.18  # of complex numbers of 16 bytes, beside SMALL_COMPLEX: fitted to 550 times of an H100
NARROW_TILE = 102  # products of a work-item for which an operand read by single floats doubles a tile's time
NARROW_RESULT = 1.1  # slowness of the largest tile if it converts what it reads
REGISTER_FILE = 65536  # 32-bit registers of a compute unit
FULL_WARPS = 1.77  # warps of 8 x 16 tiles that keep a compute unit busy; smaller tiles need more of them
START = 3520  # cycles from the end of the launch before to the first load, and from the last store to the end
STEP = 232  # cycles of a panel at least: a load of the next one, and barriers
STORED = 0.57  # cycles of a compute unit for each store of a work-item
HIDDEN = 0.2  # of the shorter of computing and waiting
MEMORY_SHARE = 0.38  # of the time to read and write each element once, what is not hidden behind them


def _shape(tile: PortableConfig) -> tuple[int, ...]:
    return tile.BM, tile.BN, tile.BK, tile.TM, tile.TN, tile.SLICED_K


EFFICIENCY = {_shape(tile): part for tile, part in TILE_SPACE.items()}


def efficiency(config: PortableConfig, dtype: str) -> float:
    """The part of the multiply-adds in what this tile's work-items issue; of complex numbers four for each product."""
    products, reads = config.TM * config.TN, config.TM + config.TN
    part = EFFICIENCY.get(_shape(config), products / (products + 2 * reads))
    kind = element_type(dtype)
    if kind.parts == 2:
        part *= SMALL_COMPLEX if products <= 32 else LARGE_COMPLEX
        return part * (WIDE_COMPLEX if kind.component_bytes == 8 else 1)
    return part * {8: WIDE, 2: HALF}.get(kind.component_bytes, 1)


@dataclass(frozen=True)
class Terms:
    """What a tile's cost depends on beside the splits of K."""

    resident: int  # work-groups that a compute unit holds at a time
    step: float  # cycles of one k of a tile, where all warps are busy
    fill: float  # the part of the warps that keep a compute unit busy that one work-group has
    storing: float = 0.0  # cycles of a compute unit to store a tile
    packing: float = 0.0  # cycles of copying operands before


def terms(config: PortableConfig, call: GemmCall, device: DeviceInfo) -> Terms:
    packed, packing = config.after_packing(call), packing_cycles(config, call, device)
    made = _terms(config, call.dtype, _resident(config, packed, device), narrowness(config, packed))
    kind = elements(call.dtype)
    stores = kind.parts * call.m * call.n / max(1, config.tiles(call)) / result_width(packed, kind.fragment)
    return replace(made, packing=packing, storing=STORED * stores)


def packing_cycles(config: PortableConfig, call: GemmCall, device: DeviceInfo) -> float:
    names = config.packed(call)
    return copied_bytes(call, names) / (COPY_BYTES * device.compute_units) + LAUNCH * launches(call, names)


@cache
def best_terms(config: PortableConfig, dtype: str) -> Terms:
    """The terms of the best layouts: no layout costs less."""
    kind = elements(dtype)
    registers = kind.parts * kind.component_bytes // 4 * (config.TM * config.TN + config.TM + config.TN) + 24
    resident = max(1, min(REGISTER_FILE // (registers * config.items), 2048 // config.items))
    return _terms(config, dtype, resident, 1.0)


def _terms(config: PortableConfig, dtype: str, resident: int, narrow: float) -> Terms:
    step = config.BM * config.BN * slowness(dtype) / (LANES * efficiency(config, dtype)) * narrow
    return Terms(resident, step, config.items / 32 / FULL_WARPS * sqrt(config.TM * config.TN / 128))


def cost_without_fixup(config: PortableConfig, call: GemmCall, device: DeviceInfo, own: Terms) -> float:
    """Cycles that a tile's kernel would take, without packing before and adding up splits of K afterwards.

    Those are the busiest compute unit's arithmetic and stores, or what its work-groups wait for panels, and memory's part.
    """
    splits, depth = splits_of(config, call)
    memory = memory_cycles(call, device)
    return START + max(_computing(config, splits, depth, call, device, own) + MEMORY_SHARE * memory, memory)


def least_tile_cost(tile: PortableConfig, most: int, fixup: bool, call: GemmCall, device: DeviceInfo) -> float:
    """What a tile costs at least, whatever the layouts, with K in up to `most` splits.

    With `fixup` the last work-group of a tile may add them up.
    """
    own = best_terms(tile, call.dtype)
    cycles = _computing(tile, 1, call.k, call, device, own)
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
    one = max(own.step / sqrt(min(1.0, own.fill)), STEP / tile.BK) * call.k
    found = []
    for tile_elements, begin in ((0, LAUNCH), (tile.BM * tile.BN, FIXUP)) if fixup else ((0, LAUNCH),):
        adding = fixup_cycles(tile_elements, 2, call, device) / 2 - begin / 2  # cycles for each split
        splits = min(max(2.0, sqrt(one / adding)), most) if adding else most
        alone = one / splits + adding * splits
        together = own.step / sqrt(min(1.0, own.resident * own.fill)) * share * call.k + 2 * adding
        found.append(begin + max(alone, together))
    return min(found)


def least_cost(call: GemmCall, device: DeviceInfo) -> float:
    """What all tiles cost at least."""
    products = call.batch * call.m * call.n * call.k * slowness(call.dtype) / device.compute_units
    products /= 2 if call.symmetric else 1
    best = max(EFFICIENCY.values()) * {"complex64": SMALL_COMPLEX, "complex128": SMALL_COMPLEX * WIDE_COMPLEX}.get(
        call.dtype, 1
    )
    return (START + products / (LANES * best) + MEMORY_SHARE * memory_cycles(call, device)) * ROUNDED_DOWN


def _computing(
    config: PortableConfig, splits: int, depth: int, call: GemmCall, device: DeviceInfo, own: Terms
) -> float:
    """Cycles of the busiest compute unit: its work-groups' arithmetic and stores, and their waiting for one panel after
    another, of which the shorter is hidden in part."""
    each = max(1, -(-config.tiles(call) * splits * call.batch // device.compute_units))
    together = min(each, own.resident)
    steps = max(1, -(-depth // config.BK))
    working = each * (steps * config.BK * own.step + own.storing) / sqrt(min(1.0, together * own.fill))
    waiting = -(-each // together) * steps * STEP
    return max(working, waiting) + (1 - HIDDEN) * min(working, waiting)


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
    """How much longer a tile takes whose operands are read by single elements, or are converted."""
    itemsize = element_type(call.dtype).itemsize
    narrow = sum(log2(16 / min(16, how.width * max(4, itemsize))) / 2 for how in config.readings(call))
    crowded = NARROW_RESULT if itemsize < 4 and config.TM * config.TN > 64 else 1
    return (1 + narrow * config.TM * config.TN / NARROW_TILE) * crowded
