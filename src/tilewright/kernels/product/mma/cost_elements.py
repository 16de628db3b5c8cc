"""What main_loop_elements.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'.

The constants were fitted to some 1,700 times of an H100, of random products of fp16 and fp64 in CUDA graphs, and those of
complex128 to 900.
"""

from math import sqrt

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import ROUNDED_DOWN, memory_cycles, splits_of
from .config_elements import MmaElementsConfig

START = 1930  # cycles from the end of the launch before to the first load, and from the last product to the tile's end
# Multiply-adds of a compute unit in a clock. Of complex128 tiles reach half of what the instructions could do.
RATES = {"float64": 112, "complex128": 15.5}
RATE = 400  # the same of 16-bit floats
MOVED = 5.2  # cycles of a warp's load, and its store into a panel
STORED = {1: 12.0, 2: 45.0}  # cycles of a warp's store of a result, by its parts, with its way through local memory
LINE = 3.2  # cycles of a compute unit for each line of a panel, however short it is
STEP = 1070  # cycles of one panel where nothing else runs
FULL_WARPS = {1: 7.1, 2: 6.0}  # that keep a compute unit busy, by the parts of an element
MEMORY_SHARE = 0.72  # of the time to read and write each element once, what is not hidden
FIXUP = 3290  # cycles until the last of a tile's work-groups knows that it is
FIXUP_BYTES = 14.4  # of partial tiles that it then reads in a cycle
REGISTERS, ITEMS = 65536, 2048  # of a compute unit


def cost(config: MmaElementsConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: what the busiest compute unit's work-groups move and multiply, or their waits, and memory, and the fix-up."""
    splits, depth = splits_of(config, call)
    each = max(1, -(-config.tiles(call) * splits * call.batch // device.compute_units))
    together = min(each, resident(config, call, device))
    steps = max(1, -(-depth // config.BK))
    busy = sqrt(min(1.0, together * config.items / 32 / FULL_WARPS[element_type(call.dtype).parts]))
    loads = _loads(config, call)
    working = each * (steps * _step_cycles(config, call, loads) + _storing(config, call)) / busy
    waiting = -(-each // together) * steps * STEP
    fixup = FIXUP + splits * config.BM * config.BN * _sum_bytes(call) / FIXUP_BYTES if splits > 1 else 0
    memory = memory_cycles(call, device)
    return START + max(working + waiting + MEMORY_SHARE * memory, memory) + fixup


def least_cost(call: GemmCall, device: DeviceInfo) -> float:
    """What all tiles cost at least: their multiply-adds, or half of them for a symmetric product, and memory."""
    products = call.batch * call.m * call.n * call.k / (2 if call.symmetric else 1)
    working = products / (RATES.get(call.dtype, RATE) * device.compute_units)
    return (START + working + MEMORY_SHARE * memory_cycles(call, device)) * ROUNDED_DOWN


def _loads(config: MmaElementsConfig, call: GemmCall) -> float:
    """Loads for one step: of both panels, by all work-items."""
    sides = zip((config.BM, config.BN), config.readings(call), strict=True)
    return sum(side * config.BK / how.width for side, how in sides)


def _step_cycles(config: MmaElementsConfig, call: GemmCall, loads: float) -> float:
    sides = zip((config.BM, config.BN), config.readings(call), strict=True)
    lines = sum(side if how.order == "PANEL_ALONG_K" else config.BK for side, how in sides)
    products = config.BM * config.BN * config.BK / RATES.get(call.dtype, RATE)
    return max(loads / 32 * MOVED, lines * LINE, products)


def _sum_bytes(call: GemmCall) -> int:
    kind = element_type(call.dtype)
    return kind.parts * kind.component_bytes


def _storing(config: MmaElementsConfig, call: GemmCall) -> float:
    """Cycles of a tile's stores, by warps."""
    width = 2 if config.stores_pairs(call) else config.store_width(call)
    return config.BM * config.BN / 32 / width * STORED[element_type(call.dtype).parts]


def resident(config: MmaElementsConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Work-groups that a compute unit holds at a time."""
    local = max(device.static_local_bytes, 2 * device.local_bytes) // config.local_bytes(call)
    return max(1, min(REGISTERS // (config.registers(call) * config.items), ITEMS // config.items, local))
