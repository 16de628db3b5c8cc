"""The configuration of bools.cl: products of bools by bits."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange, round_up
from ....core.problem import Problem
from ..call import GemmCall, call_of
from ..config import ProductConfig
from .elements import result_refusal
from .row_groups import blocks_of

GROUP_STEPS = 2**22  # of rows, columns and k that a work-group does at least: 10 to 20 us
LONGER = 2  # times the other side
LEAST_COLUMNS = 64  # with 16 rows and 16 columns it took a Zen 3 eight times as long as 06_production.cl
GROUPS = 2  # for each core, so that a busy one holds the others up less


@dataclass(frozen=True)
class CpuBoolsConfig(ProductConfig):
    """The vectors and buffers of bools.cl, whose fields are explained at its top."""

    VW: int
    ROWS: int
    VECTORS: int
    DEPTH: int
    MAX_ROWS: int
    units: int  # cores

    @property
    def width(self) -> int:
        """Columns of C that a work-group does."""
        return self.VECTORS * 64 * self.VW

    def orientation(self, problem: Problem) -> GemmCall:
        """With the longer side as columns where one is much longer: to make a word takes as long as to pack a vector of B.

        Else with B by rows, which is packed soonest, if either operand allows it.
        """
        call = call_of(problem).row_major
        if max(call.m, call.n) >= LONGER * min(call.m, call.n):
            return call if call.n >= call.m else call.transposed
        return call.transposed if call.b.column != 1 and call.transposed.b.column == 1 else call

    def group_rows(self, call: GemmCall) -> int:
        """Rows of C that one work-group computes."""
        columns = -(-call.n // self.width)
        fair = -(-call.m * columns * call.batch // (GROUPS * self.units))
        least = GROUP_STEPS // max(1, min(call.n, self.width) * call.k)
        return round_up(max(1, min(self.MAX_ROWS, call.m, max(fair, least))), self.ROWS)

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return blocks_of(call, self.group_rows(call), self.width)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {"mb": self.group_rows(self.oriented(problem))}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "WORDS": 2 * self.VW}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        refusal = result_refusal(call)
        if refusal:
            yield refusal
        if call.result != "bool":
            yield f"a result of {call.result} counts: one bit says only whether there is any"
        elif call.n < LEAST_COLUMNS:
            yield f"{call.n} columns fill too few of a vector's {64 * self.VW} bits: another kernel computes them sooner"
        elif call.alpha != 1 or call.beta != 0 or call.bias or call.activation:
            yield "alpha, beta and a bias are multiplied with, and added to, how many there are"
