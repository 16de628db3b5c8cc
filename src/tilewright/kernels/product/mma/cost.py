"""What a configuration would take: an estimate in clock cycles, comparable with the other families'.

The constants were fitted to one H200; they rank configurations, and do not predict. Those for fp64: to 631 times of 48
products, from 32 to 4096 a side, thin and batched, back to back without events; the first choice took 1% longer than the
best one on average, 6% at most.
"""

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import BYTES, LATENCY, LAUNCH, copied_bytes, memory_cycles
from ..macros import elements, result_width
from ..packing import launches
from .config import WARP, MmaConfig, copy_form
from .config_tma import MmaTmaConfig

# Multiply-adds that the tensor cores of an SM start per clock, by loops that use nothing but registers.
RATES = {
    "float64": 128, "complex128": 32, "float16": 1209, "bfloat16": 1209, "float32": 604, "int8": 2400, "uint8": 2400
}  # fmt: skip
# The part of that which a tile reaches in its loop.
TMA_EFFICIENCY = {(128, 128): 0.963, (64, 128): 0.883, (128, 64): 0.93, (64, 64): 0.89}
COMPLEX_EFFICIENCY = {(128, 64): 0.96, (64, 128): 0.94, (64, 64): 0.935}
# Of fp16, bf16, int8 and tf32.
FP16_EFFICIENCY = {(128, 256): 0.71, (256, 128): 0.7, (128, 128): 0.68, (64, 128): 0.58, (128, 64): 0.58, (64, 64): 0.5}
SMALL_TILE = 0.45
QUARTERS = 4  # of an SM, with a tensor core each
ALONE = 0.28  # of the time of a warp's products of fp64, what it takes longer with no other warp beside it
NARROW = {16: 1.0, 8: 1.2, 4: 2.5}  # slowness of the loop by the bytes of its copies
L2_BYTES = 32.7  # bytes of panels per clock and SM from L2, while all copy
FEW = 0.5  # of the time for that, what is left if few do
SCALE = 0.9  # slowness of this model's cycles against those that all families share
START = 2700  # cycles beside LATENCY until the first copy begins, and after the last store
FIRST_BYTES = 9.3  # bytes of the first panels that cost a cycle of waiting
TMA_START = 700  # cycles until TMA has its descriptors
TILE = 2000  # cycles between two tiles of a work-group whose warps go in step
TILE_ELEMENT = 0.25  # cycles for each element to store; another work-group beside goes on meanwhile
BROKEN_ELEMENT = 1.3  # the same of results of 2 bytes with an unaligned leading dimension, for each work-group of an SM
EXPOSED = 0.15  # of the shorter of computing and memory traffic, what is not hidden behind the other
PART_ELEMENT = 0.12  # cycles for each element of a part of the depth
FIXUP = 11500  # cycles until the work-groups of a split tile know of each other
LATE_FIXUP = 4500  # the same if full waves came before
WRITE_ELEMENT, READ_ELEMENT = 0.64, 0.136  # cycles to write an element of a partial tile, and to read it


def cost(config: MmaConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the busiest work-group, or of memory if they are more, and what comes before and after."""
    packed, sms = config.oriented(call), device.compute_units
    memory = memory_cycles(call, device)
    first = min(1, packed.k / config.depth(packed)) * _panel_bytes(config, packed)
    start = LATENCY + START + first / FIRST_BYTES
    start += TMA_START if isinstance(config, MmaTmaConfig) else 0
    computing = _computing(config, packed, sms)
    busy = max(computing, memory) + EXPOSED * min(computing, memory)
    return (busy + _fixup(config, packed) + _packing(config, call, sms) + start) / SCALE


def _panel_bytes(config: MmaConfig, call: GemmCall) -> int:
    return (config.BM + config.BN) * config.depth(call) * element_type(call.dtype).itemsize


def _computing(config: MmaConfig, call: GemmCall, sms: int) -> float:
    """Cycles of the work-group with the most tiles, beside others on its SM."""
    groups, full = max(1, config.work_groups(call)), config.full_wave_tiles(call)
    beside, waves, tail = -(-groups // sms), -(-full // groups), (config.tiles(call) - full) / groups
    copying = _panel_bytes(config, call) / L2_BYTES * max(FEW, min(1, groups / sms))
    narrow = max(NARROW[copy_form(call, name).width] for name in ("A", "B"))
    step = beside * max(_multiplying(config, call, beside), copying) * narrow
    between = 0 if isinstance(config, MmaTmaConfig) else TILE
    parts = waves + bool(tail)
    storing = _storing(config, call, beside)
    return (waves + tail) * config.steps(call) * step + parts * storing + (parts - 1) * between


def _multiplying(config: MmaConfig, call: GemmCall, beside: int) -> float:
    """Cycles of a step's products, if an SM has nothing else to do."""
    products = config.BM * config.BN * config.depth(call) / (RATES[call.dtype] * config.rate)
    if isinstance(config, MmaTmaConfig):
        table = TMA_EFFICIENCY if call.dtype == "float64" else COMPLEX_EFFICIENCY
        return products / table.get((config.BM, config.BN), SMALL_TILE)
    if call.dtype == "float64":
        warps = beside * config.items / WARP / QUARTERS
        return products * max(1, 1 / warps) * (1 + ALONE / max(1, warps))
    return products / FP16_EFFICIENCY.get((config.BM, config.BN), SMALL_TILE)


def _storing(config: MmaConfig, call: GemmCall, beside: int) -> float:
    """Cycles to add up the parts of a tile's depth, and to store it."""
    parts = PART_ELEMENT * config.WARPS_K if config.WARPS_K > 1 else 0
    broken = element_type(call.result).itemsize == 2 and result_width(call, 2) == 1
    element = BROKEN_ELEMENT * beside if broken else TILE_ELEMENT
    return config.BM * config.BN * elements(call.dtype).parts * (element + parts)


def _fixup(config: MmaConfig, call: GemmCall) -> float:
    """Cycles to write the partial tiles of the tail wave, and to add them up."""
    tail = config.tail_tiles(call)
    if not config.stream_k or not tail:
        return 0.0
    partial_tiles = 1 + config.work_groups(call) / tail
    components = config.BM * config.BN * elements(call.dtype).parts
    begin = LATE_FIXUP if config.full_wave_tiles(call) else FIXUP
    return begin + (WRITE_ELEMENT + partial_tiles * READ_ELEMENT) * components


def _packing(config: MmaConfig, call: GemmCall, sms: int) -> float:
    packed = config.packed(call)
    return copied_bytes(call, packed) / (BYTES * sms) + LAUNCH * launches(call, packed)
