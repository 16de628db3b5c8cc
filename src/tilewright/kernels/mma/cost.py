"""What product.cl or fetched.cl would take in a configuration: an estimate in clock cycles, comparable with gemm/choice.py's.

The constants were fitted to one H200; they rank configurations, and do not predict.
"""

from ...device import DeviceInfo
from ...dtypes import element_type
from ..gemm.call import GemmCall
from ..gemm.choice import BYTES, LATENCY, LAUNCH, operand_bytes
from .configs import WarpConfig, copy_form
from .fetched import FetchedConfig

# Multiply-adds that a compute unit's matrix units start per clock, by loops that use nothing but registers.
RATES = {"float64": 128, "complex128": 32, "float16": 1209, "bfloat16": 1209, "float32": 604, "int8": 2400}
# The part of that which a tile reaches in its loop.
DOUBLE_EFFICIENCY = {(128, 128): 0.95, (64, 128): 0.9, (128, 64): 0.9, (64, 64): 0.82}
FETCHED_EFFICIENCY = {(128, 128): 0.964, (64, 128): 0.91, (128, 64): 0.93, (64, 64): 0.84}
COMPLEX_EFFICIENCY = {(128, 64): 0.96, (64, 128): 0.94, (64, 64): 0.9}
WORD_EFFICIENCY = {(128, 256): 0.71, (256, 128): 0.7, (128, 128): 0.68, (64, 128): 0.58, (128, 64): 0.58, (64, 64): 0.5}
SMALL_TILE = 0.45
NARROW = {16: 1.0, 8: 1.2, 4: 2.5}  # slowness of the loop by the bytes of its copies
TILE, TILE_ELEMENT = 3500, 0.25  # cycles between two tiles, and for each element to store
JOIN_ELEMENT = 0.67  # cycles to write or to read an element of a piece


def cost(config: WarpConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the busiest work-group, or of memory if they are more, and what comes before and after."""
    packed, units = config.oriented(call), device.compute_units
    result = call.batch * call.m * call.n * element_type(call.result).itemsize
    memory = (operand_bytes(call, "A") + operand_bytes(call, "B") + result) / (BYTES * units)
    return (
        max(_computing(config, packed, units), memory)
        + _joining(config, packed)
        + _packing(config, call, units)
        + LATENCY
    )


def _computing(config: WarpConfig, call: GemmCall, units: int) -> float:
    """Cycles of the work-group with the most tiles, beside others on its compute unit."""
    groups, tiles, whole = max(1, config.work_groups(call)), config.tiles(call), config.whole(call)
    rate = RATES[call.dtype] * _efficiency(config, call).get((config.BM, config.BN), SMALL_TILE) * config.rate
    narrow = max(NARROW[copy_form(call, name).width] for name in ("A", "B"))
    step = config.BM * config.BN * config.depth(call) / rate * narrow * -(-groups // units)
    shared = (tiles - whole) / groups
    return (-(-whole // groups) + shared) * config.steps(call) * step + (-(-whole // groups) + bool(shared)) * _storing(
        config
    )


def _efficiency(config: WarpConfig, call: GemmCall) -> dict[tuple[int, int], float]:
    if isinstance(config, FetchedConfig):
        return FETCHED_EFFICIENCY if call.dtype == "float64" else COMPLEX_EFFICIENCY
    return DOUBLE_EFFICIENCY if call.dtype == "float64" else WORD_EFFICIENCY


def _storing(config: WarpConfig) -> float:
    return TILE + TILE_ELEMENT * config.BM * config.BN


def _joining(config: WarpConfig, call: GemmCall) -> float:
    """Cycles to write the pieces of tiles that are shared out, and to add them up."""
    rest = config.tiles(call) - config.whole(call)
    if not config.shared or not rest:
        return 0.0
    pieces = 1 + config.work_groups(call) / rest
    return (1 + pieces) * JOIN_ELEMENT * config.BM * config.BN


def _packing(config: WarpConfig, call: GemmCall, units: int) -> float:
    packed = config.packed(call)
    return 2 * sum(operand_bytes(call, name) for name in packed) / (BYTES * units) + LAUNCH * len(packed)
