"""What a configuration would take: an estimate in clock cycles, comparable with the other families'.

The constants were fitted to some 2,300 times of an H100, of random products of fp64 and fp16 in CUDA graphs, those of sliced
panels of fp16 and of complex128 to 1,200 more; the parts of the rates that TMA's tiles of complex128 reach to an H200.
"""

from math import sqrt

from ....core.device import DeviceInfo
from ....core.types import DOUBLES, element_type
from ..call import GemmCall
from ..cost import COPY_BYTES, LAUNCH, copied_bytes, memory_cycles
from ..macros import elements, result_width
from ..packing import launches
from .config import WARP, MmaConfig, copy_form
from .config_tma import MmaTmaConfig

# Multiply-adds that the tensor cores of an SM start per clock, by loops that use nothing but registers.
RATES = {
    "float64": 133, "complex128": 33, "float16": 1430, "bfloat16": 1430, "float32": 715, "int8": 2860, "uint8": 2860
}  # fmt: skip
# The part of that which a tile reaches in its loop.
TMA_EFFICIENCY = {(128, 128): 1.0, (64, 128): 0.94, (128, 64): 0.96, (64, 64): 0.97}
COMPLEX_EFFICIENCY = {(128, 64): 0.96, (64, 128): 0.94, (64, 64): 0.935}
COPIED_COMPLEX_EFFICIENCY = {(32, 64): 0.9, (32, 32): 0.88, (32, 16): 0.7}  # of those that are copied without TMA
# Of fp16, bf16, int8 and tf32.
FP16_EFFICIENCY = {
    (128, 256): 0.74,
    (256, 128): 0.72,
    (128, 128): 0.69,
    (64, 128): 0.65,
    (128, 64): 0.55,
    (64, 64): 0.49,
    (32, 32): 0.2,
    (32, 16): 0.12,
}
SMALL_TILE = 0.35
FULL_WARPS = 4  # that keep an SM busy: its tensor cores
COPIED = 6.3  # cycles of an SM for a warp's copies of a panel, one for each work-item
EXPOSED = 0.6  # of the shorter of multiplying and copying, what is not hidden behind the other
STORED = {1: 1.45, 2: 0.44}  # cycles of an SM for each element of a tile, by how many are stored at a time
SLICED = 0.005  # the same for each slice of a panel's depth, whose sums are added up
DRIFT = 0.02  # of the time of full waves, by which work-groups come out of step until they compute a tile together
TILE = 600  # cycles between two tiles of a work-group
START = 3120  # cycles from the end of the launch before to the first product, and from the last store to the end
# The same where each panel's depth is sliced, since no copy is wasted; the tiles of doubles were all fitted together.
SLICED_START = 2200
TMA_START = 1300  # cycles until TMA has its descriptors
MEMORY_SHARE = 0.67  # of the time to read and write each element once, what is not hidden
SLICED_MEMORY_SHARE = 0.35  # the same of SLICED_START's tiles, whose deep panels are asked for long before
FIXUP = 10500  # cycles until the work-groups of a split tile know of each other
LATE_FIXUP = 4500  # the same if full waves came before
WRITE_ELEMENT, READ_ELEMENT = 0.8, 0.075  # cycles to write an element of a partial tile, and to read it


def cost(config: MmaConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: the work of the SM with the most tiles, memory's part, fix-up and packing."""
    packed, sms = config.oriented(call), device.compute_units
    memory = memory_cycles(call, device)
    start, share = _start_and_share(config, call.dtype)
    busy = max(_working(config, packed, sms) + share * memory, memory)
    return start + busy + _fixup(config, packed) + _packing(config, call, sms)


def _start_and_share(config: MmaConfig, dtype: str) -> tuple[float, float]:
    """Cycles before the first product, and the share of memory's time that is not hidden."""
    if isinstance(config, MmaTmaConfig):
        return START + TMA_START, MEMORY_SHARE
    if config.WARPS_K > 1 and dtype not in DOUBLES:
        return SLICED_START, SLICED_MEMORY_SHARE
    return START, MEMORY_SHARE


def _working(config: MmaConfig, call: GemmCall, sms: int) -> float:
    """Cycles of an SM's work-groups side by side, each with the most tiles that one has."""
    groups, full = max(1, config.work_groups(call)), config.full_wave_tiles(call)
    beside, waves, tail = -(-groups // sms), -(-full // groups), (config.tiles(call) - full) / groups
    tiles = waves + bool(tail)
    out_of_step = 1 + DRIFT if config.stream_k and full else 1
    one = (waves * out_of_step + tail) * config.steps(call) * _step(config, call) + tiles * _storing(config, call)
    busy = sqrt(min(1.0, beside * config.items / WARP / FULL_WARPS))
    return beside * one / busy + tiles * TILE


def _step(config: MmaConfig, call: GemmCall) -> float:
    """Cycles of an SM for one work-group's panels: their products, or their copies, which TMA makes by itself."""
    depth = config.depth(call)
    products = config.BM * config.BN * depth / (RATES[call.dtype] * config.rate * _efficiency(config, call.dtype))
    if isinstance(config, MmaTmaConfig):
        return products
    itemsize = element_type(call.dtype).itemsize
    copies = sum(
        side * depth * itemsize / max(1, copy_form(call, name).width)
        for name, side in (("A", config.BM), ("B", config.BN))
    )
    copying = copies / WARP * COPIED
    return max(products, copying) + EXPOSED * min(products, copying)


def _efficiency(config: MmaConfig, dtype: str) -> float:
    """The part of the instructions' rate that a tile reaches in its loop."""
    tile = (config.BM, config.BN)
    if isinstance(config, MmaTmaConfig):
        return (TMA_EFFICIENCY if dtype == "float64" else COMPLEX_EFFICIENCY).get(tile, SMALL_TILE)
    if dtype == "float64":
        return 1.0
    return (COPIED_COMPLEX_EFFICIENCY if dtype == "complex128" else FP16_EFFICIENCY).get(tile, SMALL_TILE)


def _storing(config: MmaConfig, call: GemmCall) -> float:
    """Cycles of an SM to add up the parts of a tile's depth, and to store what of it lies in C."""
    elements_of_tile = call.batch * call.m * call.n / max(1, config.tiles(call)) * elements(call.dtype).parts
    slices = SLICED * config.WARPS_K if config.WARPS_K > 1 else 0
    return elements_of_tile * (STORED[result_width(call, 2)] + slices)


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
    return copied_bytes(call, packed) / (COPY_BYTES * sms) + LAUNCH * launches(call, packed)
