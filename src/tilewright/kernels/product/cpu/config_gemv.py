"""The configuration of gemv.cl: products where C is a single column or row."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ..call import GemmCall, call_of
from ..config import ProductConfig
from .elements import element_macros, result_refusal
from .row_groups import group_rows, groups_of

LEVEL1_BYTES = 16 * 1024  # for the sums, and as much for the vector: together two thirds of a level-1 cache of 48 KiB
ROW_STEP = 64  # rows of a group are a multiple of it: with A along its columns, whole cache lines


@dataclass(frozen=True)
class CpuGemvConfig(ProductConfig):
    """The buffers of gemv.cl, whose fields are explained at its top."""

    VW: int
    MAX_ROWS: int
    MAX_DEPTH: int
    units: int  # cores

    def orientation(self, problem: Problem) -> GemmCall:
        return call_of(problem).tall

    def group_rows(self, call: GemmCall) -> int:
        """Rows of C that one work-group computes."""
        return group_rows(call, self.units, self.MAX_ROWS, ROW_STEP)

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return groups_of(call, self.group_rows(call))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {"mb": self.group_rows(self.oriented(problem))}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(self.oriented(problem)), "DOT": 0}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        refusal = result_refusal(call)
        if refusal:
            yield refusal
        if call.n != 1:
            yield f"C is {call.m}x{call.n}, not a single row or column"
        elif call.a.column != 1 and call.a.row != 1:
            yield f"the matrix has strides {call.a.row} and {call.a.column}, neither of which is 1"
