"""The configuration of few_columns_down.cl: products where B has a few columns and A lies along its columns, or the transpose."""

from dataclasses import dataclass

from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of
from .config import LAST_COLUMNS, LAST_DEPTH
from .config_thin import ThinConfig
from .cost import in_place
from .row_groups import group_rows

SUMS_BYTES = 128 * 1024  # of a group: a quarter of the smallest level-2 caches (512 KiB), through which A streams
RUN_BYTES = 16 * 1024  # of A in a block of k, which stay in half of the smallest level-1 caches
MOST_COLUMNS = 32
# 06_production.cl packs A by columns, and computes whole vectors of columns, but its sums go to C from registers. So this kernel
# wants FEWEST_STEPS of k, and DEEP steps where FULL_COLUMNS or more fill two vectors there. Few rows need no packing of A there,
# so that as many of them are never taken. The time of that kernel by this one's on a Zen 5, 2500 rows of float32: with 64 steps
# 0.96 to 1.4, with 128 1.1 to 1.5, with 1000 1.2 to 1.5; 32 columns 0.85, 0.91 and 1.05. With 32 steps of float64 0.74 to 1.0.
# Stacks of products of 5 to 40 rows took 0.6 to 1.1. Rows count only where both kernels sum alike: a part has the whole's bits.
FEWEST_STEPS, DEEP, FULL_COLUMNS = 64, 256, 29
TALL = 4  # times the rows that are computed together
# Columns of A that lie a multiple of a page apart share a few places of a level-1 cache, and of a level-2 cache of 1 MiB, from
# which B's further columns then read them. 4096 x n x 4096 of float32 on a Zen 5: 1.15 with 4 columns, 1.0 with 8, 0.8 to 1.0
# with 16, and 0.65 to 0.76 with 24; on an Emerald Rapids Xeon, with 2 MiB, 1.9, 1.5 with 16 and 1.05 with 24.
CROWDED_COLUMNS = 8


@dataclass(frozen=True)
class CpuFewColumnsDownConfig(ThinConfig):
    """The register tile and the buffers of few_columns_down.cl, whose fields are explained at its top."""

    VECTORS: int
    COLUMNS: int
    VW: int
    MOST_COLUMNS: int
    SUMS: int
    DEPTH: int
    units: int  # cores
    panel: int  # columns of a panel of 06_production.cl
    uncut_depth: int  # steps of K up to which that kernel gives rows the same bits in products of other sizes
    crowded: int  # the most columns of B where columns of A lie a multiple of a page apart

    @property
    def rows(self) -> int:
        """Rows of C that are computed together."""
        return self.VECTORS * self.VW

    def orientation(self, problem: Problem) -> GemmCall:
        """With few columns, as the caller has it if it is so. Few rows are columns of the transposed product.

        A part of A that has few rows must have the bits of the whole where 06_production.cl promises that. Both sum in
        ascending k, but for the last columns that it sums along k.
        """
        call = call_of(problem)
        own = call.transposed if call.is_transposed else call
        along_k = own.k >= LAST_DEPTH and 0 < own.n % self.panel <= LAST_COLUMNS
        if self.takes(own) or (along_k and own.k <= self.uncut_depth):
            return own
        return own.transposed if self.takes(own.transposed) else own

    def takes(self, call: GemmCall) -> bool:
        """Whether the columns are few, A lies along its columns, and it pays."""
        return 0 < call.n <= self.MOST_COLUMNS and call.a.row == 1 and call.a.column != 1 and self.pays(call)

    def pays(self, call: GemmCall) -> bool:
        """Whether it takes less time than 06_production.cl."""
        if call.m < TALL * self.rows and call.k <= self.uncut_depth:
            return False
        if call.n > self.crowded and not in_place(call.a.column, self.rows, element_type(call.dtype).itemsize):
            return False
        if call.n >= FULL_COLUMNS:
            return call.k >= DEEP and not call.is_transposed
        return call.k >= FEWEST_STEPS

    def group_rows(self, call: GemmCall) -> int:
        most = (self.SUMS // max(1, call.n) - self.VW) // self.rows * self.rows
        return group_rows(call, self.units, max(self.rows, most), self.VW)

    def depth(self, call: GemmCall) -> int:
        """Steps of K in a block: all blocks have nearly as many."""
        return -(-call.k // max(1, -(-call.k // self.DEPTH)))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        # A vector more than is used: columns of sums then start at different sets of the level-1 cache.
        return {**super().scalars(problem), "kb": self.depth(call), "sum_row": self.group_rows(call) + self.VW}

    def refusal(self, call: GemmCall) -> str:
        if not 0 < call.n <= self.MOST_COLUMNS:
            return f"C has {call.n} columns, not 1 to {self.MOST_COLUMNS}"
        if call.a.row != 1:
            return f"the columns of A have elements {call.a.row} apart, not 1"
        if not self.takes(call):
            return f"another kernel computes {call.n} columns and k={call.k} sooner"
        return ""
