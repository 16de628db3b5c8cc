"""The configuration of gemv.cl: products where C is a single column or row."""

from dataclasses import dataclass

from ....core.problem import Problem
from ..call import GemmCall, call_of
from .config_thin import ThinConfig
from .row_groups import group_rows

LEVEL1_BYTES = 16 * 1024  # for the sums, and as much for the vector: together two thirds of a level-1 cache of 48 KiB
ROW_STEP = 64  # rows of a group are a multiple of it: with A along its columns, whole cache lines


@dataclass(frozen=True)
class CpuGemvConfig(ThinConfig):
    """The buffers of gemv.cl, whose fields are explained at its top."""

    VW: int
    MAX_ROWS: int
    MAX_DEPTH: int
    units: int  # cores

    def orientation(self, problem: Problem) -> GemmCall:
        return call_of(problem).tall

    def group_rows(self, call: GemmCall) -> int:
        return group_rows(call, self.units, self.MAX_ROWS, ROW_STEP)

    def refusal(self, call: GemmCall) -> str:
        if call.n != 1:
            return f"C is {call.m}x{call.n}, not a single row or column"
        if call.a.column != 1 and call.a.row != 1:
            return f"the matrix has strides {call.a.row} and {call.a.column}, neither of which is 1"
        return ""
