"""split_vectors.cl: how the rows of A and the columns of B become halves, in one launch for both."""

from dataclasses import dataclass
from pathlib import Path

from ....core.kernel import Config, Kernel, NDRange, round_up
from ....core.operands import Layout
from ....core.problem import Problem
from ..call import GemmCall, call_of
from ..macros import LOAD_BYTES, vector_width

HERE = Path(__file__).parent
HALF_BYTES = 2
FLOAT_BYTES = 4
PITCH_MULTIPLE = 8  # halves: the copy engine wants rows that are multiples of 16 bytes
ALONG_LANES, ACROSS_LANES = 64, 32  # work-items for a vector that lies along k or across it
WIDEST = LOAD_BYTES // FLOAT_BYTES  # floats that one load takes


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
    """From one row of halves to the next, in elements."""
    return round_up(call.k, PITCH_MULTIPLE)


def load_width(call: GemmCall, own: Side) -> int:
    """Floats that one load may take of an operand: 4 or 1."""
    along, across = (call.k, own.layout.column), (own.length, own.layout.row)
    if not own.along_k:
        along, across = across, along
    return WIDEST if vector_width(own.layout, FLOAT_BYTES, along, across, own.batch) == WIDEST else 1


@dataclass(frozen=True)
class CutConfig(Config):
    """How many work-items share a vector of each operand, and how many floats each of them holds at a time."""

    ITEMS: int = 512
    HELD: int = 8
    A_LANES: int = 64
    B_LANES: int = 32

    def lanes(self, own: Side) -> int:
        return self.A_LANES if own.name == "A" else self.B_LANES

    def groups(self, own: Side) -> int:
        """Work-groups for an operand."""
        return -(-own.length // (self.ITEMS // self.lanes(own))) * own.batch

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = call_of(problem)
        return {"pitch": pitch_of(call), "a_groups": self.groups(sides(call)[0])}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call, macros = call_of(problem), super().macros(problem)
        for own in sides(call):
            whole = call.k <= self.HELD * self.lanes(own)
            facts = {"ALONG": int(own.along_k), "WIDTH": load_width(call, own), "WHOLE": int(whole)}
            macros |= {f"{own.name}_{name}": value for name, value in facts.items()}
        return macros

    def ndrange(self, problem: Problem) -> NDRange:
        groups = sum(self.groups(own) for own in sides(call_of(problem)))
        return NDRange((groups * self.ITEMS,), (self.ITEMS,))

    def local_bytes(self, problem: Problem) -> int:
        turned = (self.lanes(own) for own in sides(call_of(problem)) if not own.along_k)
        tiles = (self.ITEMS // lanes * (4 * lanes + 4) for lanes in turned)
        return 2 * FLOAT_BYTES * max((self.ITEMS, *tiles))


CUT = Kernel(HERE / "split_vectors.cl", CutConfig())


def cut_config(call: GemmCall) -> CutConfig:
    """Two warps share a vector along memory; of those across it, a work-group takes lines of 64 bytes."""
    a, b = (ALONG_LANES if own.along_k else ACROSS_LANES for own in sides(call))
    return CutConfig(A_LANES=a, B_LANES=b)
