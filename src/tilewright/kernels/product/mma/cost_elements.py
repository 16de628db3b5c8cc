"""What main_loop_elements.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'."""

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import LATENCY, START, fixup_cycles, memory_cycles, splits_of
from .config_elements import WIDEST, MmaElementsConfig

RATE = 600  # multiply-adds of a compute unit in a clock, while panels are read from local memory
MOVED = 3.0  # cycles of a warp's load, and its store into a panel
STORED = 5.0  # cycles of a warp's store of a result, with its way through local memory
STEP = 900  # cycles from one panel's load to the next one's where nothing else runs
REGISTERS, ITEMS = 65536, 2048  # of a compute unit
MEMORY_SHARE = 0.5  # of the time to read and write each element once, what is not hidden


def cost(config: MmaElementsConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: what the busiest compute unit's work-groups move and multiply, their waits, memory, and the fix-up."""
    splits, depth = splits_of(config, call)
    each = max(1, -(-config.tiles(call) * splits * call.batch // device.compute_units))
    together = min(each, resident(config, call, device))
    steps = max(1, -(-depth // config.BK))
    waits = -(-each // together) * (steps * STEP + LATENCY)
    computing = each * group_cycles(config, call, steps)
    fixup = fixup_cycles(config.BM * config.BN, splits, call, device)
    return START + max(computing, waits) + MEMORY_SHARE * memory_cycles(call, device) + fixup


def group_cycles(config: MmaElementsConfig, call: GemmCall, steps: int) -> float:
    """Cycles in which a work-group keeps its compute unit busy."""
    loads = sum(
        side * config.BK / how.width / 32
        for side, how in zip((config.BM, config.BN), config.readings(call), strict=True)
    )
    products = config.BM * config.BN * config.BK / RATE
    stores = config.BM * config.BN / 32 / min(config.store_width(call), WIDEST)
    return steps * (loads * MOVED + products) + stores * STORED


def resident(config: MmaElementsConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Work-groups that a compute unit holds at a time."""
    local = max(device.static_local_bytes, 2 * device.local_bytes) // config.local_bytes(call)
    return max(1, min(REGISTERS // (config.registers(call) * config.items), ITEMS // config.items, local))
