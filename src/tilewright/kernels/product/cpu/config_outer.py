"""The configuration of outer.cl: products over a single step of k."""

from dataclasses import dataclass

from ....core.kernel import NDRange
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of
from .config_thin import ThinConfig
from .cost import STREAM_BYTES
from .elements import form
from .row_groups import blocks_of

LEVEL1_BYTES = 16 * 1024  # for a part of B's row: C passes by beside it
# Of C that a work-group writes at least, if it has so many rows: 10 to 16 us. To wake a core takes 1 to 3 us on most machines, 40
# on a virtual one.
GROUP_BYTES = 256 * 1024
GROUPS = 4  # for each core, so that a busy one holds the others up less


@dataclass(frozen=True)
class CpuOuterConfig(ThinConfig):
    """The buffer of outer.cl, whose fields are explained at its top."""

    VW: int
    WIDTH: int
    units: int  # cores

    def orientation(self, problem: Problem) -> GemmCall:
        return call_of(problem).row_major

    def group_rows(self, call: GemmCall) -> int:
        columns = -(-call.n // self.WIDTH)
        line = min(call.n, self.WIDTH) * element_type(call.result).itemsize
        fair = -(-call.m * columns * call.batch // (GROUPS * self.units))
        return max(1, min(call.m, max(fair, GROUP_BYTES // max(1, line))))

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return blocks_of(call, self.group_rows(call), self.WIDTH)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        nbytes = call.batch * call.m * call.n * element_type(call.result).itemsize
        return {**super().scalars(problem), "stream": int(nbytes > STREAM_BYTES)}

    def refusal(self, call: GemmCall) -> str:
        if call.k != 1:
            return f"k={call.k}, not 1"
        if 1 in (call.m, call.n):
            return f"C is {call.m}x{call.n}, a single row or column"
        if call.c.column != 1:
            return f"the rows of C have elements {call.c.column} apart, not 1"
        if element_type(call.dtype).parts == 2 or form(call.dtype).real != form(call.dtype).sum:
            return f"{call.dtype} is not multiplied as it is summed"
        if call.bias or call.activation:
            return "a bias or an activation goes through the sums of another kernel"
        return ""
