"""What main_loop.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'."""

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import BYTES, LANES, copied_bytes, memory_cycles
from ..macros import elements, result_width
from ..packing import launches
from .config import CudaCoresConfig, along_k

# What follows was fitted to some 300 measurements on an H200, of which each agrees within some 3%; complex64 takes the numbers of
# float32, whose loop it has.
# Of the multiply-adds that could start, for large products; those of integers can start at half the rate.
EFFICIENCY = {"float32": 0.858, "complex64": 0.858, "int32": 0.45, "uint32": 0.45}
# Slowness of this model's cycles against those that all families share, by which the portable kernels were fitted.
SCALE = {"float32": 1.06, "complex64": 1.06, "int32": 1.33, "uint32": 1.33}
START = 8800  # cycles from the end of the launch before to the first multiply-add
STEP = 30  # cycles of a stage beside its multiply-adds
TRANSPOSED_ROWS, TRANSPOSED_SLICED = (
    40,
    58,
)  # and for each 32 rows of 16 k that are transposed, without and with SLICED_K
TILE = 15700  # cycles to store a tile of 256 x 128, as all work-groups do at a time
SINGLE = 1.45  # slowness of storing a tile by single elements
BEGUN = 52  # what its rows' first lines add to that, over their length
SLICE_SUMS = 1650  # cycles for each of SLICED_K to add it up
NEXT = 4000  # cycles from such a work-group's end to the next one's first multiply-add
FIXUP = 5800  # cycles until all partial tiles of a tile are there
FIXUP_BYTES = 13  # bytes per clock and SM of partial tiles that are written and read again
PACKING = 14000  # cycles of a launch that copies or transposes an operand, beside its bytes


def cost(config: CudaCoresConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: the waves of the busiest work-group, its part of the tail wave and the fix-up, packing, memory's part."""
    oriented, sms = config.oriented(call), device.compute_units
    tiles, steps, full = config.tiles(oriented), config.steps(oriented), config.full_wave_tiles(oriented)
    rows = config.BM * along_k("A", oriented) + config.BN * along_k("B", oriented)
    transposing = rows / 32 * config.depth / 16 * (TRANSPOSED_SLICED if config.SLICED_K > 1 else TRANSPOSED_ROWS)
    products = config.BM * config.BN * config.depth
    step = products / (LANES * EFFICIENCY[call.dtype]) + transposing + STEP
    parts, single = elements(call.dtype).parts, result_width(oriented, 4) == 1
    storing = TILE * (SINGLE + BEGUN / config.BN if single else 1) * config.BM * config.BN / parts / 32768
    slice_sums, waves = SLICE_SUMS * config.SLICED_K if config.SLICED_K > 1 else 0, -(-full // sms)
    computing = waves * (steps * step + storing + slice_sums) + (NEXT * max(waves - 1, 0) if slice_sums else 0)
    if tiles > full:
        computing += -(-(tiles - full) * steps // config.work_groups(oriented)) * step + slice_sums
        computing += FIXUP + 2 * config.partial_bytes(oriented) / (FIXUP_BYTES * sms)
    packed = config.packed(call)
    packing = copied_bytes(call, packed) / (BYTES * sms) + PACKING * launches(call, packed)
    memory = memory_cycles(call, device)
    return (START + max(computing, memory) + packing) / SCALE[call.dtype]
