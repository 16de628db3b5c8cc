"""What rows.cl and columns.cl would take, for a C of few columns or rows: an estimate in clock cycles.

The constants were fitted to some 3,200 times of an H100, of random products of four types in CUDA graphs.
"""

from math import ceil, log2

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import fixup_cycles, memory_cycles, slowness, splits_of
from ..macros import reading
from .config import GemvConfig, RowsConfig

START = 1670  # cycles from the end of the launch before to the first load, and from the last sum to the end
# What a work-item waits in rows.cl (True) and columns.cl: cycles for the loads that it has asked for at a time, and for each
# load of a step. columns.cl asks for those of several steps.
WAIT, LOAD_WAIT = {True: 28, False: 245}, {True: 51, False: 16}
OWN = 8.4  # cycles of a work-item for each of its multiply-adds, one after another
LOAD, MULTIPLY = 2.0, 0.36  # cycles of a compute unit for a warp's load, and for its multiply-adds of float32
HALVING, HALVED = 129, 17  # cycles to halve the number of partial sums: a barrier, and each sum of a work-item
ADD = 1.2  # cycles of a compute unit in which a warp adds one of them
RESIDENT = 2048  # work-items that a compute unit holds at a time; further work-groups begin after these
GROUP = 102  # cycles of a compute unit for each work-group: those of 697 products of 2 x 225 x 2 took an H100 26 us

ASKING, ASKING_POWER = 700, 0.45  # work-items of a compute unit that keep memory busy; fewer get so much less
TEAM_LINE = 1024  # bytes that a team reads side by side
SPREAD = 1.04  # slowness with fewer, or of a team with more than one row for a single vector
ACROSS = 2.0  # how much longer memory takes where work-items side by side do not read side by side


def cost(config: GemvConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the busiest compute unit: its warps' instructions, their waiting for loads, all bytes, and the sums."""
    splits, depth = splits_of(config, call)
    groups = max(1, -(-call.m // config.group_rows(call)) * splits * call.batch)
    each = ceil(groups / device.compute_units)
    warps, waves = each * config.items / 32, ceil(each * config.items / RESIDENT)
    step, (steps, waits), rows = config.step(call), config.steps(call, depth), isinstance(config, RowsConfig)
    products = step.products * slowness(call.dtype)
    issuing = warps * steps * (LOAD * step.loads + MULTIPLY * products)
    waiting = waves * (waits * WAIT[rows] + steps * (LOAD_WAIT[rows] * step.loads + OWN * products))
    partials, halvings = config.partials(call), log2(config.sharing)
    adding = halvings * (waves * (HALVING + HALVED * partials) + ADD * warps * partials)
    busy = issuing + max(waiting, _memory(config, groups / device.compute_units, call, device)) + GROUP * each
    return START + busy + adding + fixup_cycles(0, splits, call, device)


def _memory(config: GemvConfig, share: float, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to read the operands once and write the result, by `share` work-groups of each compute unit."""
    along_k = reading(call, "A").order == "PANEL_ALONG_K"
    asking: float = min(1.0, share * config.items / ASKING) ** ASKING_POWER
    cycles = memory_cycles(call, device) / asking
    if not isinstance(config, RowsConfig):
        return ACROSS * cycles if along_k else cycles
    narrow = config.TEAM * reading(call, "A").width * element_type(call.dtype).itemsize < TEAM_LINE
    spread = SPREAD if narrow or (call.n == 1 and config.ROWS > 1) else 1.0
    return spread * (cycles if along_k else ACROSS * cycles)
