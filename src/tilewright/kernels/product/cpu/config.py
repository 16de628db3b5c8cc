"""The configuration of 06_production.cl: a register tile, and the blocks of a problem."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of
from ..config import ProductConfig
from .cost import Blocking, Tile, blocking
from .elements import depth_refusal, element_macros, multiplied_as_stored, result_refusal

# C has few columns and A is column-major: the transposed product reads A in place, as the row-major B of few rows. As it
# stands, the product would pack A for few multiply-adds. Sums have the same bits. The transposed C is written by the element,
# so that k must be STEPS_FOR_A_COLUMN times the columns. few_columns_down.cl goes first for up to 32 columns. Up to 3 times
# as fast as packing A on a Zen 4 (a trial).
FEW_COLUMNS = 64
STEPS_FOR_A_COLUMN = 8

# Columns past the last whole panel that are summed along k, and the least steps in a block of k for which that pays: a vector of
# columns takes MR / 2 cycles a step, whereas a vector of k takes one or two, and some 150 cycles in the end. On a Zen 5
# 1217 x 65 x 835 of float32 took 327 us so, and 385 with a vector of columns for the last one; with 63 steps it was slower.
LAST_COLUMNS = 4  # the most that last_columns.cl is included for
LAST_DEPTH = 128

MODULO_16_BITS = "vpdpwssd takes 16 bits for signed: products of uint16 are right modulo 2^16, not as {}"


def oriented(call: GemmCall) -> GemmCall:
    """The call with C by rows, or by columns where that lets A be read as it lies."""
    call = call.row_major
    few = call.n <= min(FEW_COLUMNS, call.m - 1, call.k // STEPS_FOR_A_COLUMN) and not call.symmetric
    return call.transposed if few and call.a.row == 1 and call.a.column != 1 else call


@dataclass(frozen=True)
class CpuConfig(ProductConfig):
    """The register tile and the buffers of 06_production.cl, whose fields are explained at its top."""

    MR: int
    NV: int
    VW: int
    KC: int
    NB: int
    units: int  # cores
    DOT: int = 0  # pieces of a REAL that one instruction multiplies and adds: 4 bytes or 2 of 16 bits; 0 for none
    AHEAD: int = 0  # steps of K for which a packed panel is asked before it is used
    TILES: int = 1  # row panels of A that use a panel of B in turn

    @classmethod
    def of(cls, tile: Tile, units: int, pieces: int = 0) -> "CpuConfig":
        """The configuration for a tile, cores, and pieces that an instruction takes."""
        return cls(tile.rows, tile.vectors, tile.width, tile.depth, tile.columns, units, pieces, tile.ahead, tile.tiles)

    @property
    def steps_per_real(self) -> int:
        return self.DOT or 1

    @property
    def tile(self) -> Tile:
        return Tile(self.MR, self.NV, self.VW, self.KC, self.NB, self.AHEAD, self.TILES)

    @property
    def uncut_depth(self) -> int:
        """Elements of K that are one block whatever the other sizes."""
        return self.tile.uncut_depth * self.steps_per_real

    def orientation(self, problem: Problem) -> GemmCall:
        return oriented(call_of(problem))

    def blocks(self, call: GemmCall) -> Blocking:
        """How the call is cut; its sizes are above 0."""
        a_bytes, c_bytes = (element_type(name).itemsize for name in (call.dtype, call.result))
        by_rows = call.a.column == 1 and multiplied_as_stored(call.dtype) and not call.conjugate_a
        a_row = call.a.row if by_rows else None
        k = -(-call.k // self.steps_per_real)
        return self.cut(call, k, c_bytes, a_bytes, a_row)

    def cut(self, call: GemmCall, k: int, c_bytes: int, a_bytes: int, a_row: int | None) -> Blocking:
        """The blocks, with `k` in REALs; `a_row` is the stride of A's rows if they could be multiplied where they lie."""
        return blocking(call.m, call.n, k, call.batch, self.tile, self.units, c_bytes, a_bytes, a_row)

    def sums_last(self, call: GemmCall, depth: int) -> bool:
        """Whether the last columns are summed along k, and so in another order than the others, in blocks of `depth`.

        Rows of a part of the caller's A must have the bits of the whole. So they must be rows of this call in any part, and no
        part may be transposed by `oriented`.
        """
        panel = self.NV * self.VW
        few = 0 < call.n % panel <= min(LAST_COLUMNS, panel // 4)  # they lie where their panel would, and must fit
        plain = element_type(call.dtype).parts == 1 and not self.DOT and not call.symmetric
        as_parts = not call.is_transposed and (call.a.column == 1 or call.n > FEW_COLUMNS)
        return few and plain and as_parts and depth >= LAST_DEPTH

    def sums_alike(self, problem: Problem) -> bool:
        call = self.oriented(problem)
        return not self.sums_last(call, self.blocks(call).kb)

    def blocks_of_k(self, call: GemmCall) -> int:
        """How many blocks K is cut into: with more than one, sums wait between them. Blocks may be shorter than KC."""
        if not (call.m and call.n and call.batch):
            return 1
        return max(1, -(-call.k // (self.blocks(call).kb * self.steps_per_real)))

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        if not (call.m and call.n and call.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        blocks = self.blocks(call)
        return NDRange((blocks.groups_n, blocks.groups_m, call.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        blocks = self.blocks(call)
        return {
            "mb": blocks.mb,
            "nb": blocks.nb,
            "kb": blocks.kb * self.steps_per_real,
            "stream": int(blocks.stream),
            "a_in_place": int(blocks.a_in_place),
            "sums_last": int(self.sums_last(call, blocks.kb)),
        }

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {
            **super().macros(problem),
            **element_macros(self.oriented(problem), self.DOT > 0),
            "A_ROW": self.KC + self.VW,
        }

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        refusal = result_refusal(call)
        if refusal:
            yield refusal
        elif self.DOT and call.dtype == "uint16" and call.result != "uint16":
            yield MODULO_16_BITS.format(call.result)
        inexact = "" if self.DOT else depth_refusal(problem.dtype, self.KC)
        if inexact:
            yield inexact
