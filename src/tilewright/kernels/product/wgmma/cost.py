"""What main_loop.cl would take in a configuration: an estimate in clock cycles, comparable with the other families'.

A step takes as long as its products, or as its bytes need through local memory, where TMA writes them and
wgmma reads them: that alone ranks the tiles of aligned operands. Their constants were fitted to 440 times of an H200, 38
products of fp16 in up to 21 configurations each; the first choice then took 0.7% longer than the best one on average. FETCH
and DRIFT were fitted to 230 more, 22 products of other sizes and strides (0.5% longer, at most 4%).
All were then brought to the time of an H100 by 690 times of random products.
"""

from dataclasses import replace

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import COPY_BYTES, LAUNCH, copied_bytes, memory_cycles, mirroring_cycles
from ..packing import launches
from .config import WgmmaConfig
from .maps import LINE, alignment, along_k, depth, loaded_rows, rows_aligned, steps_of

AREA = 30  # elements of a tile that the tensor cores multiply by 128 bytes of k in a cycle
LOCAL_BYTES = 140  # of local memory, read or written in a cycle, as fitted: its banks give 128
# The same where three warpgroups multiply: on an H200 tiles of 192 x 96 took up to 7% less time than those of 128 x 160.
LOCAL_BYTES_OF_THREE = 144
USUAL = 128 * 256  # elements of a tile
SMALLER = 1.02  # slowness of smaller ones: they load more for each product, which costs power, and so the clock; where
# products are promoted it is the largest tiles that do more
# Cycles of a work-group for 128 bytes from L2, by what their address is a multiple of, while all load:
# most lie in two lines there, and where they begin in the middle of one of its sectors of 32 bytes, in five of those.
FETCH = {128: 1.55, 64: 2.56, 32: 2.56, 16: 4.27}
PARTLY = 15.0  # the same across k if all lines end before they fill a line of the tile
K_STEPS = 4  # products of 32 bytes of k in a step
ROW = 32  # bytes that one of them reads of each row of A and B
STARTUP = 3400  # cycles until the first stage is there and the last tile is stored
STORE_BYTES = 18  # of C that a work-group stores in a cycle, while the tensor cores wait
# Cycles of a tile, and of each element, where rows of C are no multiples of 16 bytes: its consumers share the elements.
BROKEN_TILE, BROKEN = 1000, 1.35
DRIFT = 0.06  # of the time of full waves, by which work-groups come out of step until they compute a tile together
FIXUP = 4600  # cycles from a split's last product until the other splits' sums are there
FIXUP_SUMS = 4.8  # per cycle that a consumer writes for others and adds up
CLUSTER_START = 500  # later than a lone work-group: both of a cluster wait until both have begun
EXPOSED = 0.3  # of the shorter of computing and memory traffic, what is not hidden behind the other


def load_cycles(config: WgmmaConfig, call: GemmCall) -> float:
    """Cycles until the lines of one stage are there. Those that a cluster shares are requested once for both work-groups."""
    cycles = 0.0
    for name, tile in (("A", config.BM), ("B", config.BN)):
        view, outer = call.sided(name)
        short = not along_k(view) and outer < depth(call)
        cycles += (
            (PARTLY if short else FETCH.get(alignment(call, name), FETCH[16]))
            * loaded_rows(call, name, tile)
            / config.parts(name)
        )
    return cycles


def step_cycles(config: WgmmaConfig, call: GemmCall) -> float:
    """Cycles of one stage. A wgmma reads 64 rows of A, and of B as many as it has columns."""
    products = K_STEPS * config.BM // 64 * config.BN // config.part
    read, written = products * (64 + config.part) * ROW, (config.BM + config.BN) * LINE
    area = config.BM * config.BN
    computing = area / AREA * (SMALLER if area < USUAL and not config.PROMOTE else 1)
    return max(computing, (read + written) / local_bytes(config), load_cycles(config, call))


def local_bytes(config: WgmmaConfig) -> float:
    """Bytes of local memory that are read or written in a cycle."""
    return LOCAL_BYTES_OF_THREE if config.consumers == 3 else LOCAL_BYTES


def cost(config: WgmmaConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles: the waves of the busiest work-group, storing its tiles, the fix-up of split ones, packing, memory's share."""
    oriented = config.oriented(call)
    groups, steps = config.work_groups(oriented), steps_of(oriented)
    itemsize = element_type(oriented.result).itemsize
    waves = -(-config.full_wave_tiles(oriented) // groups)
    busiest = waves * steps if config.tail_split == 1 else waves * steps * (1 + DRIFT) + -(-steps // config.tail_split)
    computing = busiest * step_cycles(config, oriented)
    area = config.BM * config.BN
    storing = (
        area * itemsize / STORE_BYTES if rows_aligned(oriented) else BROKEN_TILE + area * BROKEN / config.consumers
    )
    stores = 2 if config.mirrors(oriented) else 1
    computing += stores * -(-config.tiles(oriented) // groups) * storing
    memory = memory_cycles(oriented, device)
    packed = config.packed(call)
    packing = copied_bytes(call, packed) / (COPY_BYTES * device.compute_units) + LAUNCH * launches(call, packed)
    # Other kernels need a launch that mirrors C, which dispatch/symmetric.py adds to all.
    spared = mirroring_cycles(oriented, device) if config.mirrors(oriented) else 0
    startup = STARTUP + (CLUSTER_START if config.cluster > 1 else 0)
    return max(computing, memory) + min(computing, memory) * EXPOSED + fixup_cycles(config) + packing + startup - spared


def least_cost(config: WgmmaConfig, splits: int, packs: bool, call: GemmCall, device: DeviceInfo) -> float:
    """What a tile takes at least, with those of the tail wave in up to `splits`, and one operand or two copied if it `packs`."""
    oriented = config.oriented(call)
    tiles, steps = config.tiles(oriented), steps_of(oriented)
    products = K_STEPS * config.BM // 64 * config.BN // config.part
    local = products * (64 + config.part) * ROW + (config.BM + config.BN) * LINE
    step = max(config.BM * config.BN / AREA, local / local_bytes(config))
    busiest = -(-tiles // config.groups) * steps * step
    if splits > 1:
        split = replace(config, tail_split=splits)
        busiest = min(busiest, (tiles // config.groups * steps + steps / splits) * step + fixup_cycles(split))
    memory = memory_cycles(call, device)
    spared = mirroring_cycles(oriented, device) if config.mirrors(oriented) else 0
    return (STARTUP + max(busiest, memory) + (LAUNCH if packs else 0)) * (1 - 1e-9) - spared  # as sums are rounded


def fixup_cycles(config: WgmmaConfig) -> float:
    """Cycles that the splits of a tile take to become one, when nothing else is left to do."""
    return FIXUP + config.BM * config.BN / config.consumers / FIXUP_SUMS if config.tail_split > 1 else 0
