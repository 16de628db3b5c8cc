"""What product.cl or fetched.cl would take in a configuration: an estimate in clock cycles, comparable with gemm/choice.py's.

The constants were fitted to one H200; they rank configurations, and do not predict.
"""

from ...device import DeviceInfo
from ...dtypes import element_type
from ..gemm.call import GemmCall
from ..gemm.choice import BYTES, LATENCY, LAUNCH, operand_bytes
from ..gemm.macros import elements
from .configs import WARP, WarpConfig, copy_form
from .fetched import FetchedConfig

# Multiply-adds that a compute unit's matrix units start per clock, by loops that use nothing but registers.
RATES = {"float64": 128, "complex128": 32, "float16": 1209, "bfloat16": 1209, "float32": 604, "int8": 2400}
# The part of that which a tile reaches in its loop.
FETCHED_EFFICIENCY = {(128, 128): 0.963, (64, 128): 0.85, (128, 64): 0.9, (64, 64): 0.9}
COMPLEX_EFFICIENCY = {(128, 64): 0.96, (64, 128): 0.94, (64, 64): 0.93}
WORD_EFFICIENCY = {(128, 256): 0.71, (256, 128): 0.7, (128, 128): 0.68, (64, 128): 0.58, (128, 64): 0.58, (64, 64): 0.5}
SMALL_TILE = 0.45
QUARTERS = 4  # of a compute unit, with a matrix unit each
ALONE = (
    0.35  # of the time of a warp's products of doubles, what it takes longer if no other warp of its quarter has some
)
NARROW = {16: 1.0, 8: 1.17, 4: 2.5}  # slowness of the loop by the bytes of its copies
CACHE_BYTES = 35.5  # bytes of panels per clock and compute unit from the second-level cache, while all copy
FEW = 0.5  # of the time for that, what is left if few do
START = 2200  # cycles beside LATENCY until the first copy begins, and after the last store
FIRST_BYTES = 16  # bytes of the first panels that cost a cycle of waiting
FETCHED_START = 4300  # cycles until the copy engine has been told what to fetch
TILE, TILE_ELEMENT = 1850, 0.31  # cycles between two tiles if warps go in step, and for each element to store
EXPOSED = 0.2  # of the shorter of computing and memory traffic, what is not hidden behind the other
PART_ELEMENT = 0.12  # cycles for each element of a part of the depth
JOIN, LATE_JOIN = (
    10000,
    4300,
)  # cycles for those who share a tile to hear of each other, and if whole rounds came before
JOIN_ELEMENT = 0.1  # cycles to write or to read an element of a piece


def cost(config: WarpConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the busiest work-group, or of memory if they are more, and what comes before and after."""
    packed, units = config.oriented(call), device.compute_units
    result = call.batch * call.m * call.n * element_type(call.result).itemsize
    memory = (operand_bytes(call, "A") + operand_bytes(call, "B") + result) / (BYTES * units)
    first = _panel_bytes(config, packed) * _beside(config, packed, units) / FIRST_BYTES
    start = LATENCY + START + first + (FETCHED_START if isinstance(config, FetchedConfig) else 0)
    computing = _computing(config, packed, units)
    busy = max(computing, memory) + EXPOSED * min(computing, memory)
    return busy + _joining(config, packed) + _packing(config, call, units) + start


def _beside(config: WarpConfig, call: GemmCall, units: int) -> int:
    """Work-groups that a compute unit has at a time."""
    return -(-config.work_groups(call) // units)


def _panel_bytes(config: WarpConfig, call: GemmCall) -> int:
    return (config.BM + config.BN) * config.depth(call) * element_type(call.dtype).itemsize


def _computing(config: WarpConfig, call: GemmCall, units: int) -> float:
    """Cycles of the work-group with the most tiles, beside others on its compute unit."""
    groups, tiles, whole = max(1, config.work_groups(call)), config.tiles(call), config.whole(call)
    beside, rounds, shared = _beside(config, call, units), -(-whole // groups), (tiles - whole) / groups
    copying = _panel_bytes(config, call) / CACHE_BYTES * max(FEW, min(1, groups / units))
    narrow = max(NARROW[copy_form(call, name).width] for name in ("A", "B"))
    step = beside * max(_multiplying(config, call, beside), copying) * narrow
    return (rounds + shared) * config.steps(call) * step + (rounds + bool(shared)) * _storing(config, call, beside)


def _multiplying(config: WarpConfig, call: GemmCall, beside: int) -> float:
    """Cycles of a step's products, if a compute unit has nothing else to do."""
    products = config.BM * config.BN * config.depth(call) / (RATES[call.dtype] * config.rate)
    if isinstance(config, FetchedConfig):
        table = FETCHED_EFFICIENCY if call.dtype == "float64" else COMPLEX_EFFICIENCY
        return products / table[config.BM, config.BN]
    if call.dtype == "float64":
        warps = beside * config.items / WARP / QUARTERS
        return products * max(1, 1 / warps) * (1 + ALONE / max(1, warps))
    return products / WORD_EFFICIENCY.get((config.BM, config.BN), SMALL_TILE)


def _storing(config: WarpConfig, call: GemmCall, beside: int) -> float:
    """Cycles between two tiles. Warps that do not go in step store while others multiply."""
    components = config.BM * config.BN * elements(call.dtype).parts * beside
    parts = PART_ELEMENT * config.WARPS_K if config.WARPS_K > 1 else 0
    return (TILE_ELEMENT + parts) * components + (0 if isinstance(config, FetchedConfig) else TILE)


def _joining(config: WarpConfig, call: GemmCall) -> float:
    """Cycles to write the pieces of tiles that are shared out, and to add them up."""
    rest = config.tiles(call) - config.whole(call)
    if not config.shared or not rest:
        return 0.0
    pieces = 1 + config.work_groups(call) / rest
    components = config.BM * config.BN * elements(call.dtype).parts
    return (LATE_JOIN if config.whole(call) else JOIN) + (1 + pieces) * JOIN_ELEMENT * components


def _packing(config: WarpConfig, call: GemmCall, units: int) -> float:
    packed = config.packed(call)
    return 2 * sum(operand_bytes(call, name) for name in packed) / (BYTES * units) + LAUNCH * len(packed)
