"""How C is divided among work-groups: by rows for gemv.cl and the kernels of few columns, by blocks for outer.cl and bools.cl."""

from ....core.kernel import NDRange, round_up
from ....core.types import element_type
from ..call import GemmCall

GROUP_BYTES = 128 * 1024  # of A that a work-group reads at least: some 5 us, against 1 to 3 us to wake a core


def group_rows(call: GemmCall, units: int, most: int, multiple: int) -> int:
    """Rows of C that one work-group computes: one group for each of `units` cores, but at most `most` rows.

    More groups would mend what a busy core loses, and cost more by shorter runs of memory.
    """
    row_bytes = max(1, call.k) * element_type(call.dtype).itemsize
    fair = -(-call.m * call.batch // units)
    wanted = max(fair, -(-GROUP_BYTES // row_bytes))
    return min(most, round_up(wanted, multiple))


def groups_of(call: GemmCall, rows: int) -> NDRange:
    """A work-item for each `rows` rows of each matrix."""
    return NDRange((-(-call.m // rows), 1, call.batch), (1, 1, 1))


def blocks_of(call: GemmCall, rows: int, columns: int) -> NDRange:
    """A work-item for each block of `rows` and `columns` of each matrix."""
    if not (call.m and call.n and call.batch):
        return NDRange((0, 0, 0), (1, 1, 1))
    return NDRange((-(-call.n // columns), -(-call.m // rows), call.batch), (1, 1, 1))
