"""How a product of 8-bit floats becomes one that other kernels can do: its operands as halves, its scales afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, NDRange, round_up
from ....core.operands import Layout, Operand
from ....core.problem import Problem, StridedGemm
from ...copy import Move, MoveConfig, move_of, width
from ..call import GemmCall, call_of
from ..macros import elements
from ..results import result_violations

HALF = "float16"
PITCH = 64  # halves: lines of widened operands begin on multiples of 128 bytes, as cache lines do
MOST_STORED = 8  # halves that one store takes: 16 bytes
WORTH_FLOPS = 2**30  # below it, two launches to widen the operands cost more than tensor cores gain


@dataclass(frozen=True)
class Widening(Move):
    """A Move of 8-bit floats to where they lie as halves."""

    operation: ClassVar[str] = "widening"

    @property
    def title(self) -> str:
        return f"{self.dtype} to {HALF}, {self.batch} of {self.rows}x{self.columns}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        source, _ = super().operands
        return source, Operand("output", (self.reserve,), HALF, written=True)


@dataclass(frozen=True)
class WidenConfig(MoveConfig):
    """convert.cl: the fields are explained at its top."""

    GROUP_X: int = 32
    GROUP_Y: int = 4

    def oriented(self, problem: Problem) -> Move:
        return move_of(problem).output_by_rows

    @property
    def items(self) -> int:
        return self.GROUP_X * self.GROUP_Y

    @staticmethod
    def vector(move: Move) -> int:
        sides = ((move.source, 1), (move.target, 2))
        return min(MOST_STORED, *(width(each, move.columns, move.rows, move.batch, size) for each, size in sides))

    def tile(self, move: Move) -> tuple[int, int]:
        return self.GROUP_Y, self.GROUP_X * self.vector(move)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        move = self.oriented(problem)
        own, half = elements(move.dtype), elements(HALF)
        return {
            **super().macros(problem), "VEC": self.vector(move), "PARTS": 1, "COMPONENT": own.component,
            "STORED": own.stored, "STORED_AS": own.form, "RESULT": half.stored, "RESULT_AS": half.form,
        }  # fmt: skip


@dataclass(frozen=True)
class AroundConfig(Config):
    """Another kernel, with launches around it that widen the operands, and scale the product if it cannot."""

    inner: Kernel
    widens: bool

    @property
    def key(self) -> dict[str, bool | int | str]:
        return {"inner": self.inner.name, "widens": self.widens, **self.inner.config.key}

    def __str__(self) -> str:
        return f"by {self.inner.name} {self.inner.config}"

    def scales_apart(self, call: GemmCall) -> bool:
        return bool(call.scale_a) and not self.inner.scales

    def core(self, call: GemmCall) -> StridedGemm:
        """What the other kernel is given."""
        return core(call, self.widens, self.scales_apart(call))

    def ndrange(self, problem: Problem) -> NDRange:
        return self.inner.config.ndrange(self.core(call_of(problem)))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = call_of(problem)
        yield from result_violations(call)
        yield from self.inner.config.violations(self.core(call), device)


def core(call: GemmCall, widened: bool, bare: bool) -> StridedGemm:
    """The product of operands `widened` to halves; `bare` of scales and epilogue, as float32 in rows without gaps."""
    a, b, c = call.views
    if widened:
        a, b = wide_layout(a, call.m, call.k, call.batch), wide_layout(b, call.k, call.n, call.batch)
    dtype = HALF if widened else call.dtype
    own = StridedGemm(call.m, call.n, call.k, dtype, out_dtype=call.result, batch=call.batch, views=(a, b, c))
    if bare:
        return replace(own, out_dtype="float32", views=(a, b, Layout(0, call.n, 1, call.m * call.n)))
    return replace(
        own, alpha=call.alpha, beta=call.beta, bias=call.bias, activation=call.activation, scale_a=call.scale_a,
        scale_b=call.scale_b,
    )  # fmt: skip


def wide_layout(view: Layout, rows: int, columns: int, batch: int) -> Layout:
    """Where a widened operand lies: by rows or columns as before, without gaps but for the ends of lines."""
    by_columns = abs(view.row) < abs(view.column)
    pitch = round_up(max(rows if by_columns else columns, 1), PITCH)
    matrix = 0 if batch == 1 or view.batch == 0 else pitch * (columns if by_columns else rows)
    return Layout(0, 1, pitch, matrix) if by_columns else Layout(0, pitch, 1, matrix)


def widening(call: GemmCall, name: str) -> Widening:
    """The operand "A" or "B" as halves."""
    view, rows, columns = (call.a, call.m, call.k) if name == "A" else (call.b, call.k, call.n)
    target = wide_layout(view, rows, columns, call.batch)
    count = 1 if view.batch == 0 else call.batch
    lines = columns if target.row == 1 else rows
    return Widening(
        rows, columns, call.dtype, view, target, count, count * max(lines, 1) * max(target.row, target.column)
    )
