"""The configuration of few_columns.cl: products where B has a few columns and A lies along its rows, or the transpose of that."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange, round_up
from ....core.problem import Problem
from ..call import GemmCall, call_of
from ..config import ProductConfig
from .elements import element_macros, result_refusal
from .row_groups import group_rows, groups_of

PACKED_BYTES = 256 * 1024  # of B: half of the smallest level-2 caches, through which A streams meanwhile
MAX_ROWS = 1024  # of a group: their sums take 128 KiB in float32
FEWEST_VECTORS = 8  # of k: with fewer, adding up what a vector holds takes as long as multiplying
MOST_COLUMNS = 32
# 06_production.cl computes whole vectors of columns, this kernel four columns at a time at some 0.6 of its rate. So it is taken
# where vectors would waste a fifth. On a Zen 4 4 and 8 columns of float32 take 0.25 to 0.7 of the time, 12 and 24 0.7 to 0.95, 16
# and 32 1.0 to 1.3. Long rows come from memory, and lie too far apart to be multiplied in place there: up to one vector
# of columns then takes 0.6 to 0.85. None of this may depend on how many rows there are, or parts of A would get other bits.
WASTE = 1.2
LONG_ROW = 4096
# Whole vectors of columns that it is taken for where tiles are four vectors wide, by the bytes of an element. On a Granite
# Rapids Xeon, 1000 rows and steps: 8 and 16 columns of float64 take 0.73 and 0.82 of the time, 16 of float32 0.93, 32 of either
# 1.1 to 1.2.
LARGE_LEVEL2_VECTORS = {4: 1, 8: 2}


@dataclass(frozen=True)
class CpuFewColumnsConfig(ProductConfig):
    """The register tile and the buffers of few_columns.cl, whose fields are explained at its top."""

    ROWS: int
    COLUMNS: int
    VW: int
    MOST_COLUMNS: int
    MAX_ROWS: int
    PACKED: int
    units: int  # cores
    uncut_depth: int  # steps of K up to which 06_production.cl gives rows the same bits in products of other sizes
    whole_vectors: int = 0  # of columns, up to which it is taken although no vector wastes anything

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
        waste = round_up(call.n, self.VW) / call.n
        full = call.n <= self.whole_vectors * self.VW or (call.n <= self.VW and call.k >= LONG_ROW)
        return waste >= WASTE or full

    def group_rows(self, call: GemmCall) -> int:
        """Rows of C that one work-group computes."""
        return group_rows(call, self.units, self.MAX_ROWS, self.ROWS)

    def depth(self, call: GemmCall) -> int:
        """Steps of K in a block, whole vectors: blocks of nearly the same depth, one vector shorter than what can be packed."""
        columns = round_up(max(1, call.n), self.COLUMNS)
        most = max(self.VW, self.PACKED // columns // self.VW * self.VW - self.VW)
        return round_up(max(1, -(-call.k // max(1, -(-call.k // most)))), self.VW)

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return groups_of(call, self.group_rows(call))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        return {"mb": self.group_rows(call), "kb": self.depth(call)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(self.oriented(problem)), "DOT": 0}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        refusal = result_refusal(call)
        if refusal:
            yield refusal
        if not 0 < call.n <= self.MOST_COLUMNS:
            yield f"C has {call.n} columns, not 1 to {self.MOST_COLUMNS}"
        elif call.a.column != 1:
            yield f"the rows of A have elements {call.a.column} apart, not 1"
        elif call.k < FEWEST_VECTORS * self.VW:
            yield f"k={call.k} is less than {FEWEST_VECTORS} vectors of {self.VW}"
        elif not self.takes(call):
            yield f"{call.n} columns nearly fill vectors of {self.VW}, by which another kernel computes them sooner"
