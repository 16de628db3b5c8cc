"""The configuration of few_columns.cl: products where B has a few columns and A lies along its rows, or the transpose of that."""

from dataclasses import dataclass

from ....core.kernel import round_up
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of
from .config_thin import ThinConfig
from .cost import in_place
from .row_groups import group_rows

PACKED_BYTES = 256 * 1024  # of B: half of the smallest level-2 caches, through which A streams meanwhile
MAX_ROWS = 1024  # of a group: their sums take 128 KiB in float32
FEWEST_VECTORS = 8  # of k: with fewer, adding up what a vector holds takes as long as multiplying
MOST_COLUMNS = 32
# 06_production.cl computes whole vectors of columns, this kernel four columns at a time (two with short vectors) at a lower rate.
# So it is taken where those vectors hold at least WASTE times the columns that it computes, and 1 + STEPS / k times, because each
# sum costs it STEPS steps of k more. On a Zen 5, 300 to 4000 rows, 4 and 8 columns of float32, and 4 of float64, take 0.4 to 0.9
# of the time from 300 steps on, and 12 and 20 of float32 0.8 to 1.4. With 150 steps 4 columns take 0.8 to 1.0, and 8 of float32
# 1.2.
#
# Rows that lie a multiple of a page apart are packed by 06_production.cl, which reads others in place. This kernel then takes
# 0.4 to 0.9 of the time with up to a vector of columns, and 0.7 to 1.1 where vectors hold CROWDED_WASTE times the columns.
#
# None of this may depend on how many rows there are, or parts of A would get other bits. They have the strides of the whole.
WASTE, CROWDED_WASTE = 2.0, 1.2
STEPS = 200
LONG_ROW = 1024
# Whole vectors of columns that it is taken for where tiles are four vectors wide, by the bytes of an element; beyond them it is
# taken as if rows were pages apart, for any k. On a Granite Rapids Xeon, 1000 rows and steps: 8 and 16 columns of float64 take
# 0.73 and 0.82 of the time, 16 of float32 0.93, 32 of either 1.1 to 1.2.
LARGE_LEVEL2_VECTORS = {4: 1, 8: 2}
# Few rows times a B that lies along k: 06_production.cl packs all of B for them, whatever they waste. On a Zen 5, with 300 to
# 2500 steps, it takes 1.1 to 1.5 times as long for up to 8 rows of float64. For up to 16, also of float32, it takes 1.05 to 1.35
# times as long if B has LARGE_B_BYTES, else 0.9 to 1.1; for 20 rows 0.8 to 1.05. Rows may count here: beyond `uncut_depth` steps
# 06_production.cl promises no equal bits, and up to it `orientation` leaves the product as it is.
FEW_ROWS, FEW_ROWS_OF_LARGE, LARGE_B_BYTES = 8, 16, 16 * 2**20


@dataclass(frozen=True)
class CpuFewColumnsConfig(ThinConfig):
    """The register tile and the buffers of few_columns.cl, whose fields are explained at its top."""

    ROWS: int
    COLUMNS: int
    VW: int
    MOST_COLUMNS: int
    MAX_ROWS: int
    PACKED: int
    units: int  # cores
    uncut_depth: int  # steps of K up to which 06_production.cl gives rows the same bits in products of other sizes
    whole_vectors: int = 0  # of columns, up to which it is taken although no vector wastes anything; 0: see WASTE

    def orientation(self, problem: Problem) -> GemmCall:
        """With few columns, as the caller has it if it is so: some of A's rows then get the bits that they get among all of them.

        Few rows are columns of the transposed product. Those are taken where 06_production.cl promises no such bits either.
        """
        call = call_of(problem)
        own = call.transposed if call.is_transposed else call
        if self.takes(own) or own.k <= self.uncut_depth:
            return own
        return own.transposed if self.takes(own.transposed) else own

    def takes(self, call: GemmCall) -> bool:
        """Whether the columns are few, rows lie along k, and it pays."""
        if not 0 < call.n <= self.MOST_COLUMNS or call.a.column != 1 or call.k < FEWEST_VECTORS * self.VW:
            return False
        waste = round_up(call.n, self.VW) / round_up(call.n, self.COLUMNS)
        if call.is_transposed and self.pays_for_rows(call):
            return True
        if self.whole_vectors:
            return waste >= CROWDED_WASTE or call.n <= self.whole_vectors * self.VW
        enough = 1 + STEPS / call.k
        nbytes = element_type(call.dtype).itemsize
        if in_place(call.a.row, min(call.k, self.uncut_depth), nbytes):
            return waste >= max(WASTE, enough)
        return waste >= max(CROWDED_WASTE, enough) or (call.n <= self.VW and call.k >= LONG_ROW)

    def pays_for_rows(self, call: GemmCall) -> bool:
        """Whether the caller's rows, columns of this call, are so few that to pack the other operand would take longer.

        Measured with vectors of 64 bytes, elements of 4 and 8 bytes, and single products.
        """
        nbytes = element_type(call.dtype).itemsize
        few = FEW_ROWS_OF_LARGE if call.m * call.k * nbytes >= LARGE_B_BYTES else FEW_ROWS
        return self.VW * nbytes == 64 and call.batch == 1 and call.n <= few

    def group_rows(self, call: GemmCall) -> int:
        return group_rows(call, self.units, self.MAX_ROWS, self.ROWS)

    def depth(self, call: GemmCall) -> int:
        """Steps of K in a block, whole vectors: blocks of nearly the same depth, one vector shorter than what can be packed."""
        columns = round_up(max(1, call.n), self.COLUMNS)
        most = max(self.VW, self.PACKED // columns // self.VW * self.VW - self.VW)
        return round_up(max(1, -(-call.k // max(1, -(-call.k // most)))), self.VW)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {**super().scalars(problem), "kb": self.depth(self.oriented(problem))}

    def refusal(self, call: GemmCall) -> str:
        if not 0 < call.n <= self.MOST_COLUMNS:
            return f"C has {call.n} columns, not 1 to {self.MOST_COLUMNS}"
        if call.a.column != 1:
            return f"the rows of A have elements {call.a.column} apart, not 1"
        if call.k < FEWEST_VECTORS * self.VW:
            return f"k={call.k} is less than {FEWEST_VECTORS} vectors of {self.VW}"
        if not self.takes(call):
            return f"{call.n} columns fill enough of vectors of {self.VW}, by which another kernel computes k={call.k} sooner"
        return ""
