"""How a product of 8-bit floats becomes one that other kernels can do: its operands as fp16, its scales afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Kernel, NDRange, round_up
from ....core.operands import Layout, Operand
from ....core.problem import Problem, StridedGemm
from ...copy import StridedCopy, StridedCopyConfig, strided_copy_of, width
from ..call import GemmCall, call_of
from ..config import ProductConfig
from ..macros import elements
from ..results import result_violations

FP16 = "float16"
PITCH = 64  # elements: lines of converted operands begin on multiples of 128 bytes, as cache lines do
MOST_STORED = 8  # elements of fp16 that one store takes: 16 bytes


@dataclass(frozen=True)
class Conversion(StridedCopy):
    """A StridedCopy of 8-bit floats to where they lie as fp16."""

    operation: ClassVar[str] = "conversion"

    @property
    def title(self) -> str:
        return f"{self.dtype} to {FP16}, {self.batch} of {self.rows}x{self.columns}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        source, _ = super().operands
        return source, Operand("output", (self.reserve,), FP16, written=True)


@dataclass(frozen=True)
class ConvertConfig(StridedCopyConfig):
    """convert.cl: the fields are explained at its top."""

    GROUP_X: int = 32
    GROUP_Y: int = 4

    def oriented(self, problem: Problem) -> StridedCopy:
        return strided_copy_of(problem).output_by_rows

    @property
    def items(self) -> int:
        return self.GROUP_X * self.GROUP_Y

    @staticmethod
    def vector(copy: StridedCopy) -> int:
        sides = ((copy.source, 1), (copy.target, 2))
        return min(MOST_STORED, *(width(each, copy.columns, copy.rows, copy.batch, size) for each, size in sides))

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        return self.GROUP_Y, self.GROUP_X * self.vector(copy)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        copy = self.oriented(problem)
        own, fp16 = elements(copy.dtype), elements(FP16)
        return {
            **super().macros(problem), "VEC": self.vector(copy), "PARTS": 1, "COMPONENT": own.component,
            "STORED": own.stored, "STORED_AS": own.form, "RESULT": fp16.stored, "RESULT_AS": fp16.form,
        }  # fmt: skip


@dataclass(frozen=True)
class WrapperConfig(ProductConfig):
    """Another kernel, with launches around it that convert the operands, and scale the product if it cannot."""

    inner: Kernel
    converts: bool

    @property
    def key(self) -> dict[str, bool | int | str]:
        return {"inner": self.inner.name, "converts": self.converts, **self.inner.config.key}

    def __str__(self) -> str:
        return f"by {self.inner.name} {self.inner.config}"

    def orientation(self, problem: Problem) -> GemmCall:
        """The product as it comes: the other kernel orients it."""
        return call_of(problem)

    def scales_afterwards(self, call: GemmCall) -> bool:
        return bool(call.scale_a) and not self.inner.scales

    def core(self, call: GemmCall) -> StridedGemm:
        """What the other kernel is given."""
        return core(call, self.converts, self.scales_afterwards(call))

    def ndrange(self, problem: Problem) -> NDRange:
        return self.inner.config.ndrange(self.core(self.oriented(problem)))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from result_violations(call)
        yield from self.inner.config.violations(self.core(call), device)


def core(call: GemmCall, converted: bool, bare: bool) -> StridedGemm:
    """The product of operands `converted` to fp16; `bare` of scales and epilogue, as float32 in rows without gaps."""
    a, b, c = call.views
    if converted:
        a = converted_layout(a, call.m, call.k, call.batch)
        b = converted_layout(b, call.k, call.n, call.batch)
    dtype = FP16 if converted else call.dtype
    own = StridedGemm(call.m, call.n, call.k, dtype, out_dtype=call.result, batch=call.batch, views=(a, b, c))
    if bare:
        return replace(own, out_dtype="float32", views=(a, b, Layout(0, call.n, 1, call.m * call.n)))
    return replace(
        own, alpha=call.alpha, beta=call.beta, bias=call.bias, activation=call.activation, scale_a=call.scale_a,
        scale_b=call.scale_b,
    )  # fmt: skip


def converted_layout(view: Layout, rows: int, columns: int, batch: int) -> Layout:
    """Where a converted operand lies: by rows or columns as before, without gaps but for the ends of lines."""
    by_columns = abs(view.row) < abs(view.column)
    pitch = round_up(max(rows if by_columns else columns, 1), PITCH)
    matrix = 0 if batch == 1 or view.batch == 0 else pitch * (columns if by_columns else rows)
    return Layout(0, 1, pitch, matrix) if by_columns else Layout(0, pitch, 1, matrix)


def conversion(call: GemmCall, name: str) -> Conversion:
    """The operand "A" or "B" as fp16."""
    view, rows, columns = (call.a, call.m, call.k) if name == "A" else (call.b, call.k, call.n)
    target = converted_layout(view, rows, columns, call.batch)
    count = 1 if view.batch == 0 else call.batch
    lines = columns if target.row == 1 else rows
    return Conversion(
        rows, columns, call.dtype, view, target, count, count * max(lines, 1) * max(target.row, target.column)
    )
