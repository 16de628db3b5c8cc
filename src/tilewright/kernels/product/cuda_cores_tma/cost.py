"""What main_loop.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'."""

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import COPY_BYTES, LANES, LAUNCH, copied_bytes, memory_cycles
from ..macros import elements, result_width
from ..packing import launches
from .config import CudaCoresConfig, along_k

# What follows was fitted to some 1,000 times of an H100 in float32 and complex64.
# Of the multiply-adds that could start, for large products; those of integers can start at half the rate.
EFFICIENCY = {"float32": 0.83, "complex64": 0.85, "int32": 0.53, "uint32": 0.53}
START = 2400  # cycles from the end of the launch before to the first multiply-add
STEP = 33  # cycles of a stage beside its multiply-adds
TRANSPOSED_ROWS, TRANSPOSED_SLICED = (
    23,
    39,
)  # and for each 32 rows of 16 k that are transposed, without and with SLICED_K
TILE = 14800  # cycles to store a tile of 256 x 128, as all work-groups do at a time
SINGLE = 1.45  # slowness of storing a tile by single elements
BEGUN = 34  # what its rows' first lines add to that, over their length
SLICE_SUMS = 1080  # cycles for each of SLICED_K to add it up
NEXT = 1350  # cycles from such a work-group's end to the next one's first multiply-add
FIXUP = 10900  # cycles until all partial tiles of a tile are there
FIXUP_BYTES = 14.3  # bytes per clock and SM of partial tiles that are written and read again


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
    packing = copied_bytes(call, packed) / (COPY_BYTES * sms) + LAUNCH * launches(call, packed)
    memory = memory_cycles(call, device)
    return START + max(computing, memory) + packing
