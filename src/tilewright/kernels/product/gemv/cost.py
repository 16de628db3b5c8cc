"""What rows.cl and columns.cl would take, for a C of few columns or rows: an estimate in clock cycles.

The constants were fitted to some 500 times of an H200, of 60 products of one to eight rows or columns in every type: the first
choice then took 1.4% longer than the best one on average. GROUP, WAIT, COLD_WAIT and HOT were added for stacks and deep products
of an H100.
"""

from math import ceil, log2

from ....core.device import DeviceInfo
from ....core.types import element_type
from ..call import GemmCall
from ..cost import L2_BYTES, LANES, LATENCY, START, fixup_cycles, memory_cycles, moved_bytes, slowness, splits_of
from ..macros import elements, reading
from .config import ColumnsConfig, GemvConfig, RowsConfig

VECTOR_ITEMS = {True: 1000, False: 700}  # work-items of a compute unit that keep memory busy, along rows and columns
VECTOR_POWER = 0.4  # how much less is delivered if there are fewer
VECTOR_SHARE = 0.3  # of all units, those that draw all that memory delivers
VECTOR_IDLE = 0.06  # of the time, what is lost where most units idle all the same
# Sums of a work-item along rows, and words of them across; more leave no registers to read ahead, and take so much longer.
VECTOR_SUMS, CROWDED = {True: 8, False: 16}, {True: 1.6, False: 2.2}
TEAM_LINE = 1024  # bytes that a team reads side by side
SPREAD = 1.04  # slowness with fewer, or of a team with more than one row for a single vector
VECTOR_ISSUE = {True: 1.4, False: 2.2}  # instructions for a multiply-add of the gemv kernels
SCATTERED_ISSUE = 8.0  # the same if elements of B are read one by one
LAST_WAVE = 0.3  # part of the time in which the last work-groups leave others idle, that is lost
ADDING_UP = 300  # cycles to halve the number of sums
# A compute unit holds so many work-items at a time; further work-groups add up after these. A few partial sums are halved in the
# time of one, more in turn. Without both, 20,000 products of 8 x 8 x 8 went to work-groups that took an H200 165 us, not 15.
RESIDENT, FEW_PARTIALS = 2048, 4
GROUP = 300  # cycles of a compute unit for each work-group at least: those of 697 products of 2 x 225 x 2 took an H100 26 us
# Cycles from loads of a work-item of columns.cl to its next ones, however few others there are: from L2, and, beyond
# HOT bytes, from global memory. 41 work-groups of an H100 took 50 us for 1292 x 3 x 14169, where 132, each for a twelfth
# of k, took 15.
WAIT, COLD_WAIT, HOT = 700, 1500, 16e6


def cost(config: GemvConfig, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles that the gemv kernels would take: A's bytes through as much of the memory's speed as the items ask for, or
    B's, read again for each ROWS of A, through the cache's; then the arithmetic."""
    rows = isinstance(config, RowsConfig)
    splits, _ = splits_of(config, call)
    share = -(-call.m // config.group_rows(call)) * splits * call.batch / device.compute_units
    share = max(share, 1e-3)
    idle = (
        max(1 + VECTOR_IDLE * (1 - share), VECTOR_SHARE / share)
        if share < 1
        else 1 + LAST_WAVE * (ceil(share) / share - 1)
    )
    asking = min(1.0, min(ceil(share) * config.items, 2048) / VECTOR_ITEMS[rows]) ** VECTOR_POWER
    itemsize = element_type(call.dtype).itemsize
    how = reading(call, "A")
    straight = (how.order == "PANEL_ALONG_K") == rows
    waste = (1.0 if how.width * itemsize >= 8 else 1.3) if straight else 8.0
    memory = waste * memory_cycles(call, device) * idle / asking * _unsteady(config, call, how.width * itemsize)
    products = call.batch * call.m * call.k * call.n * slowness(call.dtype) / device.compute_units
    again = 0.35 * products * itemsize / config.ROWS / L2_BYTES if isinstance(config, RowsConfig) else 0.0
    scattered = rows and reading(call, "B").order != "PANEL_ALONG_K"
    issue = SCATTERED_ISSUE if scattered else VECTOR_ISSUE[rows]
    arithmetic = idle * issue * products / LANES if call.n > 1 else 0.0
    halvings = ADDING_UP * log2(config.sharing)
    each = (
        halvings * max(1.0, config.partials(call) / FEW_PARTIALS) * share * config.items / RESIDENT
    )  # of all work-groups
    adding = halvings + fixup_cycles(0, splits, call, device)
    cycles: float = (
        START + LATENCY + max(memory, again, each, GROUP * share, _waiting(config, call, share)) + arithmetic + adding
    )
    return cycles


def _waiting(config: GemvConfig, call: GemmCall, share: float) -> float:
    """Cycles that a compute unit's work-items wait for their loads along k, one run of them after another."""
    if not isinstance(config, ColumnsConfig):
        return 0.0
    _, depth = splits_of(config, call)
    wait = WAIT if moved_bytes(call) < HOT else COLD_WAIT
    return wait * depth / config.steps(call) * ceil(share * config.items / RESIDENT)


def _unsteady(config: GemvConfig, call: GemmCall, load_bytes: int) -> float:
    """How much longer work-items wait for memory that they ask for too late, or here and there."""
    if not isinstance(config, RowsConfig):
        words = config.partials(call) * elements(call.dtype).component_bytes // 4
        return CROWDED[False] if words > VECTOR_SUMS[False] else 1.0
    crowded = CROWDED[True] if config.partials(call) > VECTOR_SUMS[True] else 1.0
    narrow = SPREAD if config.TEAM * load_bytes < TEAM_LINE else 1.0
    return crowded * narrow * (SPREAD if call.n == 1 and config.ROWS > 1 else 1.0)
