"""mma.sync and ldmatrix, the wrappers of kernels/prelude/mma.cl: matrices that are spread over the registers of a warp.

PTX ISA, "Matrix Fragments for mma": with lane = 4 * g + q, register i of A holds row g + i % 2 * 8, of B column g, both from
k = width * q + i / 2 * 4 * width (B: i * 4 * width) on, where a register holds `width` elements. Of the sum a lane holds columns
2q and 2q + 1 of row g, then of row g + 8. The products are exact, and each sum is rounded once,
but fp64 is rounded as NumPy does it: hardware may round otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import UINT, VOID
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..findings import COLLECTIVE
from ..machine import Machine
from ..masks import Mask
from ..segments import Access
from ..teams import Teams
from .common import Builtin, arguments, pointer_argument

WARP = 32
Places = npt.NDArray[np.intp]
_LANE = np.arange(WARP)


@dataclass(frozen=True)
class Fragment:
    """Where the elements of one matrix lie: row and column of element j of register i of each lane, (registers, 32, width)."""

    rows: Places
    columns: Places

    def gather(self, registers: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
        """The matrices (warps, rows, columns) of registers (registers, warps, 32, width)."""
        out = np.zeros((registers.shape[1], *shape), registers.dtype)
        out[:, self.rows, self.columns] = registers.transpose(1, 0, 2, 3)
        return out

    def lanes(self, shape: tuple[int, int]) -> npt.NDArray[np.intp]:
        """The lane that holds each element."""
        out = np.zeros(shape, np.intp)
        out[self.rows, self.columns] = _LANE[None, :, None]
        return out


@dataclass(frozen=True)
class MatrixProduct:
    """One mma.sync: 16 x 8 sums over `depth` products. `word` is a register of A and B, `width` its elements of type
    `element`, whose values `read` gives; `sum_type` is what is added up, in `exact` numbers."""

    name: str
    depth: int
    word: "np.dtype[Any]"
    width: int
    element: "np.dtype[Any]"
    read: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    sum_type: "np.dtype[Any]"
    exact: "np.dtype[Any]"

    def _place(self, register: int, step: int) -> tuple[Places, Places]:
        g, k = _LANE[:, None] // 4, self.width * (_LANE[:, None] % 4) + np.arange(self.width)
        return np.broadcast_to(g, k.shape), k + register // step * 4 * self.width

    @property
    def sums_shape(self) -> tuple[int, int]:
        return 16, 8

    @cached_property
    def a(self) -> Fragment:
        parts = [self._place(i, 2) for i in range(self.depth // self.width // 2)]
        rows = np.stack([row + i % 2 * 8 for i, (row, _) in enumerate(parts)])
        return Fragment(rows, np.stack([k for _, k in parts]))

    @cached_property
    def b(self) -> Fragment:
        parts = [self._place(i, 1) for i in range(self.depth // self.width // 4)]
        return Fragment(np.stack([k for _, k in parts]), np.stack([column for column, _ in parts]))

    @cached_property
    def sums(self) -> Fragment:
        rows = np.stack([_LANE // 4 + i // 2 * 8 for i in range(4)])[..., None]
        return Fragment(rows, np.stack([_LANE % 4 * 2 + i % 2 for i in range(4)])[..., None])

    def registers(self, words: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(registers, warps, 32) words, or (warps, 32) of one register, as elements, (registers, warps, 32, width)."""
        return np.ascontiguousarray(words).view(self.element).reshape(-1, *words.shape[-2:], self.width)

    def multiply(self, a: Value, b: Value, sums: Value) -> Value:
        """New sums, (4, warps, 32), from registers of that shape."""
        first = self.read(self.a.gather(a, (16, self.depth))).astype(self.exact)
        second = self.read(self.b.gather(b, (self.depth, 8))).astype(self.exact)
        total = self.sums.gather(sums[..., None], (16, 8)).astype(self.exact) + first @ second
        rows, columns = self.sums.rows[..., 0], self.sums.columns[..., 0]
        return total[:, rows, columns].transpose(1, 0, 2).astype(self.sum_type)


def warps_of(machine: Machine, position: Position, name: str) -> Teams:
    """The warps of a machine; an error where work-groups are not whole warps, or sub-groups are not warps."""
    if machine.sub_group != WARP or machine.items % WARP:
        raise position.error(
            f"{name} is an instruction of warps of {WARP} work-items; here are sub-groups of {machine.sub_group} in "
            f"work-groups of {machine.items}. Use the rules of nvidia, and whole warps"
        )
    return Teams("warp", machine.lanes, machine.items, WARP)


def private_access(context: Context, call: Call, dtype: "np.dtype[Any]", count: int, operation: str) -> Access:
    size = dtype.itemsize
    return Access(
        dtype, count, size, context.machine.memory.site(call.position, operation, size * count, size), counted=False
    )


def multiply(product: MatrixProduct) -> Builtin:
    """mma.sync(sum, a, b): pointers to the registers of each lane."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 3)
        for code in codes:
            pointer_argument(code, call)
        machine, memory, position = context.machine, context.machine.memory, call.position
        warps = warps_of(machine, position, call.name)
        counts = (4, len(product.a.rows), len(product.b.rows))
        loads = [
            (code.run, private_access(context, call, product.sum_type if i == 0 else product.word, count, "load"))
            for i, (code, count) in enumerate(zip(codes, counts, strict=True))
        ]
        store = private_access(context, call, product.sum_type, 4, "store")

        def run(frame: Frame, mask: Mask) -> Value:
            machine.check_together(mask, position, call.name, warps, COLLECTIVE)
            places = [address(frame, mask) for address, _ in loads]
            sums, a, b = (
                warps.rows(memory.load(place, access, mask)) for place, (_, access) in zip(places, loads, strict=True)
            )
            a, b = product.registers(a), product.registers(b)
            machine.recorder.multiplied(position, product, a, b, mask)
            memory.store(places[0], store, warps.lanes(product.multiply(a, b, sums)), mask)

        return Code(VOID, run)

    return build


def load_matrices(transposed: bool) -> Builtin:
    """ldmatrix.x4(registers, row): lane i has the address of row i % 8 of matrix i / 8, 16 bytes. Lane 4 * g + q gets word q of
    row g of each; of transposed ones the 16-bit elements 2q and 2q + 1 of column g."""

    def build(context: Context, call: Call) -> Code:
        held, row = arguments(context, call, 2)
        pointer_argument(held, call)
        pointer_argument(row, call)
        machine, memory, position = context.machine, context.machine.memory, call.position
        warps = warps_of(machine, position, call.name)
        load = Access(UINT.dtype, 4, 16, memory.site(position, "load", 16, 16))
        store = private_access(context, call, UINT.dtype, 4, "store")
        g, q = _LANE // 4, _LANE % 4

        def run(frame: Frame, mask: Mask) -> Value:
            machine.check_together(mask, position, call.name, warps, COLLECTIVE)
            target = held.run(frame, mask)
            words = warps.rows(memory.load(row.run(frame, mask), load, mask))  # (4 words, warps, 32 rows)
            matrices = words.transpose(1, 2, 0).reshape(-1, 4, 8, 4)  # (warps, matrices, rows, words)
            if transposed:
                elements = np.ascontiguousarray(matrices).view(np.uint16)  # (warps, matrices, rows, 8)
                matrices = np.ascontiguousarray(elements.transpose(0, 1, 3, 2)).view(np.uint32)
            memory.store(target, store, warps.lanes(matrices[:, :, g, q].transpose(1, 0, 2)), mask)

        return Code(VOID, run)

    return build


def _same(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values


def _bfloat16(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return (values.astype(np.uint32) << 16).view(np.float32)


def _tf32(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return (values & np.uint32(0xFFFFE000)).view(np.float32)


def _products() -> dict[str, MatrixProduct]:
    word, single, double = np.dtype(np.uint32), np.dtype(np.float32), np.dtype(np.float64)
    short, whole, wide = np.dtype(np.uint16), np.dtype(np.int32), np.dtype(np.int64)
    half, byte = np.dtype(np.float16), np.dtype(np.int8)
    found = [
        MatrixProduct("m16n8k16_f32_f16", 16, word, 2, half, _same, single, double),
        MatrixProduct("m16n8k16_f32_bf16", 16, word, 2, short, _bfloat16, single, double),
        MatrixProduct("m16n8k8_f32_tf32", 8, word, 1, word, _tf32, single, double),
        MatrixProduct("m16n8k32_s32_s8", 32, word, 4, byte, _same, whole, wide),
        MatrixProduct("m16n8k32_s32_u8", 32, word, 4, np.dtype(np.uint8), _same, whole, wide),
        *(MatrixProduct(f"m16n8k{k}_f64", k, double, 1, double, _same, double, double) for k in (4, 8, 16)),
    ]
    return {f"mma_sync_{each.name}": each for each in found}


MATRIX_WRAPPERS: dict[str, Builtin] = {
    **{name: multiply(product) for name, product in _products().items()},
    "ldmatrix_x4": load_matrices(transposed=False),
    "ldmatrix_x4_trans": load_matrices(transposed=True),
}
