"""The configuration of split_vectors.cl: how rows of A and columns of B become fp16, in one launch for both."""

from dataclasses import dataclass

from ....core.kernel import NDRange, round_up
from ....core.operands import Layout
from ....core.problem import Problem
from ..call import GemmCall
from ..config import ProductConfig
from ..macros import LOAD_BYTES, vector_width

FP16_BYTES = 2
FP32_BYTES = 4
PITCH_MULTIPLE = 8  # elements of fp16: TMA wants rows that are multiples of 16 bytes
ALONG_LANES, ACROSS_LANES = 64, 32  # work-items for a vector that lies along k or across it
WIDEST = LOAD_BYTES // FP32_BYTES  # floats that one load takes


@dataclass(frozen=True)
class Side:
    """Operand "A" or "B" of a call as vectors along k: the rows of A, the columns of B."""

    name: str
    length: int
    layout: Layout  # row: from vector to vector; column: along k
    batch: int

    @property
    def along_k(self) -> bool:
        return self.length == 1 or abs(self.layout.column) <= abs(self.layout.row)


def sides(call: GemmCall) -> tuple[Side, Side]:
    a = Side("A", call.m, call.a, 1 if call.a.batch == 0 else call.batch)
    b = Side("B", call.n, call.b.swapped, 1 if call.b.batch == 0 else call.batch)
    return a, b


def pitch_of(call: GemmCall) -> int:
    """From one row of fp16 to the next, in elements."""
    return round_up(call.k, PITCH_MULTIPLE)


def load_width(call: GemmCall, side: Side) -> int:
    """Floats that one load may take of an operand: 4 or 1."""
    along, across = (call.k, side.layout.column), (side.length, side.layout.row)
    if not side.along_k:
        along, across = across, along
    return WIDEST if vector_width(side.layout, FP32_BYTES, along, across, side.batch) == WIDEST else 1


@dataclass(frozen=True)
class SplitConfig(ProductConfig):
    """How many work-items share a vector of each operand, and how many floats each of them holds at a time."""

    ITEMS: int = 512
    HELD: int = 8
    A_LANES: int = 64
    B_LANES: int = 32

    def lanes(self, side: Side) -> int:
        return self.A_LANES if side.name == "A" else self.B_LANES

    def groups(self, side: Side) -> int:
        """Work-groups for an operand."""
        return -(-side.length // (self.ITEMS // self.lanes(side))) * side.batch

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        return {"pitch": pitch_of(call), "a_groups": self.groups(sides(call)[0])}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call, macros = self.oriented(problem), super().macros(problem)
        for side in sides(call):
            one_read = call.k <= self.HELD * self.lanes(side)
            facts = {"ALONG": int(side.along_k), "WIDTH": load_width(call, side), "WHOLE": int(one_read)}
            macros |= {f"{side.name}_{name}": value for name, value in facts.items()}
        return macros

    def ndrange(self, problem: Problem) -> NDRange:
        groups = sum(self.groups(side) for side in sides(self.oriented(problem)))
        return NDRange((groups * self.ITEMS,), (self.ITEMS,))

    def local_bytes(self, problem: Problem) -> int:
        transposed = (self.lanes(side) for side in sides(self.oriented(problem)) if not side.along_k)
        tiles = (self.ITEMS // lanes * (4 * lanes + 4) for lanes in transposed)
        return 2 * FP32_BYTES * max((self.ITEMS, *tiles))


def split_config(call: GemmCall) -> SplitConfig:
    """Two warps share a vector along memory. Across memory, a work-group takes lines of 64 bytes."""
    a, b = (ALONG_LANES if side.along_k else ACROSS_LANES for side in sides(call))
    return SplitConfig(A_LANES=a, B_LANES=b)
