"""What main_loop.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'."""

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import BYTES, LANES, memory_cycles, operand_bytes
from ..macros import elements, result_width
from ..packing import launches
from .config import FmaConfig, turned

# What follows was fitted to some 300 measurements on an H200, of which each agrees within some 3%; complex64 takes the numbers of
# float32, whose loop it has.
# Of the multiply-adds that could start, for large products; those of int32 can start at half the rate.
EFFICIENCY = {"float32": 0.858, "complex64": 0.858, "int32": 0.45}
# Slowness of this model's cycles against those that all families share, by which the portable kernels were fitted.
SCALE = {"float32": 1.06, "complex64": 1.06, "int32": 1.33}
START = 8800  # cycles from the end of the launch before to the first multiply-add
STEP = 30  # cycles of a stage beside its multiply-adds
TURNED_ROWS, TURNED_SLICED = 40, 58  # and for each 32 rows of 16 k that are turned, without and with slices
TILE = 15700  # cycles to store a tile of 256 x 128, as all work-groups do at a time
SINGLE = 1.45  # slowness of storing a tile by single elements
BEGUN = 52  # what its rows' first lines add to that, over their length
SLICES = 1650  # cycles for each slice to add it up
NEXT = 4000  # cycles from such a work-group's end to the next one's first multiply-add
JOIN = 5800  # cycles until all pieces of a tile are there
JOIN_BYTES = 13  # bytes per clock and compute unit of pieces of tiles that are written and read again
PACKING = 14000  # cycles of a launch that copies or turns an operand, beside its bytes


def cost(config: FmaConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: the rounds of the busiest work-group, its share of what is left and joining that, packing, memory's part."""
    oriented, units = config.oriented(call), device.compute_units
    tiles, steps, whole = config.tiles(oriented), config.steps(oriented), config.whole(oriented)
    turned_rows = config.BM * turned("A", oriented) + config.BN * turned("B", oriented)
    turning = turned_rows / 32 * config.depth / 16 * (TURNED_SLICED if config.SLICED_K > 1 else TURNED_ROWS)
    products = config.BM * config.BN * config.depth
    step = products / (LANES * EFFICIENCY[call.dtype]) + turning + STEP
    parts, single = elements(call.dtype).parts, result_width(oriented, 4) == 1
    storing = TILE * (SINGLE + BEGUN / config.BN if single else 1) * config.BM * config.BN / parts / 32768
    slices, rounds = SLICES * config.SLICED_K if config.SLICED_K > 1 else 0, -(-whole // units)
    computing = rounds * (steps * step + storing + slices) + (NEXT * max(rounds - 1, 0) if slices else 0)
    if tiles > whole:
        computing += -(-(tiles - whole) * steps // config.work_groups(oriented)) * step + slices
        computing += JOIN + 2 * config.partial_bytes(oriented) / (JOIN_BYTES * units)
    packed = config.packed(call)
    packing = 2 * sum(operand_bytes(call, name) for name in packed) / (BYTES * units) + PACKING * launches(call, packed)
    memory = memory_cycles(call, device)
    return (START + max(computing, memory) + packing) / SCALE[call.dtype]
