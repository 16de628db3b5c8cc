"""GemmCall: a matrix product over strided operands in buffers, with everything that the kernels' arguments say."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...dtypes import element_type, numpy_dtype
from ...errors import InvalidInput
from ...problem import Gemm, Operand, Problem

ACTIVATIONS = ("none", "relu", "gelu_tanh", "gelu_erf", "silu")
Scalar = int | float | complex


@dataclass(frozen=True)
class Layout:
    """Where a matrix lies in its buffer: element (b, i, j) at offset + b * batch + i * row + j * column.

    All in elements; strides may be zero or negative. `base_align` is the known alignment of the buffer in bytes.
    """

    row: int
    column: int
    batch: int = 0
    offset: int = 0
    base_align: int = 16

    @property
    def turned(self) -> "Layout":
        """The same memory seen as the transposed matrix."""
        return replace(self, row=self.column, column=self.row)

    def moved(self, batches: int) -> "Layout":
        return replace(self, offset=self.offset + batches * self.batch)

    def span(self, rows: int, columns: int, batch: int) -> int:
        """Elements from the buffer's start to the last one touched, it included."""
        if 0 in (rows, columns, batch):
            return 0
        reach = ((rows, self.row), (columns, self.column), (batch, self.batch))
        return self.offset + sum(max(0, (size - 1) * stride) for size, stride in reach) + 1

    def view(self, flat: np.ndarray, rows: int, columns: int, batch: int) -> np.ndarray:
        """The matrices as an array (batch, rows, columns) over the buffer's elements."""
        shape = (batch, rows, columns)
        if 0 in shape:
            return np.empty(shape, flat.dtype)
        strides = tuple(stride * flat.itemsize for stride in (self.batch, self.row, self.column))
        return np.lib.stride_tricks.as_strided(flat[self.offset :], shape, strides)


@dataclass(frozen=True)
class GemmCall:
    """C (m x n) = activation(alpha * A (m x k) * B (k x n) + beta * C + bias), `batch` times.

    `out_dtype` is the type of C and of the bias, that of A and B if empty. A bias is laid out like C: stride 0 repeats it.
    `swapped` tells that A and B stand for the caller's B and A. With `k_chunk` the product is left in pieces: piece p sums
    k_chunk elements of k from p * k_chunk on into C + p * c_split.
    """

    operation: ClassVar[str] = "gemm"
    m: int
    n: int
    k: int
    a: Layout
    b: Layout
    c: Layout
    dtype: str = "float32"
    out_dtype: str = ""
    batch: int = 1
    alpha: Scalar = 1
    beta: Scalar = 0
    bias: Layout | None = None
    activation: str = "none"
    conjugate_a: bool = False
    conjugate_b: bool = False
    swapped: bool = False
    k_chunk: int = 0
    c_split: int = 0

    def __post_init__(self) -> None:
        element_type(self.dtype)
        if self.activation not in ACTIVATIONS:
            raise InvalidInput(f"no activation {self.activation!r}; there are {', '.join(ACTIVATIONS)}")
        for name, size in (("m", self.m), ("n", self.n), ("k", self.k), ("batch", self.batch)):
            if not 0 <= size < 2**31:
                raise InvalidInput(f"{name}={size} is not a size from 0 to {2**31 - 1}")

    @property
    def result(self) -> str:
        """The element type of C."""
        return self.out_dtype or self.dtype

    @property
    def title(self) -> str:
        return f"gemm {self.m}x{self.n}x{self.k} {self.dtype}" + (f" batch {self.batch}" if self.batch != 1 else "")

    @property
    def flops(self) -> int:
        return (8 if self.dtype.startswith("complex") else 2) * self.batch * self.m * self.n * self.k

    @property
    def pieces(self) -> int:
        """In how many parts K is summed."""
        return max(1, -(-self.k // self.k_chunk)) if self.k_chunk else 1

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The buffers, flat, as long as the call reaches into them."""
        c_span = self.c.span(self.m, self.n, self.batch) + (self.pieces - 1) * self.c_split
        spans = [
            Operand("A", (self.a.span(self.m, self.k, self.batch),), self.dtype),
            Operand("B", (self.b.span(self.k, self.n, self.batch),), self.dtype),
            Operand("C", (c_span,), self.result, written=True),
        ]
        if self.bias is not None:
            spans.append(Operand("bias", (self.bias.span(self.m, self.n, 1),), self.result))
        return tuple(spans)

    @property
    def buffers(self) -> tuple[tuple[str, str], ...]:
        """Which of the caller's buffers the arguments get, where it is not the one of the same name."""
        names = (("A", "B"), ("B", "A")) if self.swapped else ()
        return names if self.bias is not None else (*names, ("bias", "C"))

    @property
    def scalars(self) -> dict[str, int | float]:
        """The value of every argument that is not a pointer."""
        values: dict[str, int | float] = {"M": self.m, "N": self.n, "K": self.k, "k_chunk": self.k_chunk or self.k}
        values |= {"alpha": self.alpha, "beta": self.beta, "c_split": self.c_split, "pieces": self.pieces}  # type: ignore[dict-item]
        for name, layout in (("a", self.a), ("b", self.b), ("c", self.c), ("bias", self.bias or Layout(0, 0))):
            values |= {f"{name}_offset": layout.offset, f"{name}_row": layout.row, f"{name}_column": layout.column}
            values[f"{name}_batch"] = layout.batch
        return values

    @property
    def turned(self) -> "GemmCall":
        """The same product seen from its transpose: C' = B' A'."""
        return replace(
            self, m=self.n, n=self.m, a=self.b.turned, b=self.a.turned, c=self.c.turned,
            bias=None if self.bias is None else self.bias.turned,
            conjugate_a=self.conjugate_b, conjugate_b=self.conjugate_a, swapped=not self.swapped,
        )  # fmt: skip

    @property
    def row_major(self) -> "GemmCall":
        """This call, or its turn if C lies in columns."""
        return self.turned if self.c.row == 1 and self.c.column != 1 else self

    @property
    def tall(self) -> "GemmCall":
        """This call, or its turn if C is wider than high."""
        return self.turned if self.m < self.n else self

    def in_pieces(self, k_chunk: int) -> "GemmCall":
        """The first step of split-K: sums of `k_chunk` products each, in scratch memory, in the accumulator's type."""
        area = self.m * self.n
        scratch = Layout(self.n, 1, area, base_align=16)
        return replace(
            self, c=scratch, k_chunk=k_chunk, c_split=self.batch * area, alpha=1, beta=0, bias=None,
            activation="none", out_dtype=element_type(self.dtype).accumulator,
        )  # fmt: skip

    def batches(self, first: int, count: int) -> "GemmCall":
        """The call for `count` matrices of the batch from `first` on."""
        a, b, c = (layout.moved(first) for layout in (self.a, self.b, self.c))
        return replace(self, a=a, b=b, c=c, batch=count)

    def reference(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """The result (batch, m, n) for flat buffers, in float64, or complex128, or exactly for integers.

        C is read from arrays["C"] if beta is not 0.
        """
        wide = _wide(self.dtype)
        a, b, bias, c = self._views(arrays)
        product = np.matmul(_conjugate(a, self.conjugate_a).astype(wide), _conjugate(b, self.conjugate_b).astype(wide))
        total = product * self.alpha
        if self.beta != 0:
            total = total + self.beta * c.astype(wide)
        if bias is not None:
            total = total + bias.astype(wide)
        if element_type(self.dtype).exact:
            kept = np.dtype(np.int32)
            total = total.astype(kept)
        return _activate(total, self.activation).astype(numpy_dtype(self.result) if element_type(self.result).exact else wide)

    def error_bound(self, arrays: Mapping[str, np.ndarray], reference: np.ndarray) -> np.ndarray | float:
        """What rounding allows, as `problem.Gemm.error_bound` says; the activations' slope is at most 1.13."""
        kind = element_type(self.dtype)
        if kind.exact:
            return 0.0
        a, b, bias, c = self._views(arrays)
        wide = _wide(self.dtype)
        size = abs(self.alpha) * np.matmul(np.abs(a.astype(wide)), np.abs(b.astype(wide)))
        bound = (self.k + 4 + self.pieces) * kind.epsilon * size
        if self.beta != 0:
            bound = bound + 4 * kind.epsilon * np.abs(self.beta * c.astype(wide))
        if bias is not None:
            bound = bound + 2 * kind.epsilon * np.abs(bias.astype(wide))
        if self.activation != "none":
            bound = 1.13 * bound + 32 * kind.epsilon * np.abs(reference)
        if numpy_dtype(self.result).itemsize < 4:
            digits = 10 if self.result == "float16" else 7
            bound = bound + 2.0**-digits * np.abs(reference) + (2.0**-24 if digits == 10 else 0.0)
        return bound

    def _views(self, arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
        names = ("B", "A") if self.swapped else ("A", "B")
        a = self.a.view(arrays[names[0]], self.m, self.k, self.batch)
        b = self.b.view(arrays[names[1]], self.k, self.n, self.batch)
        bias = None if self.bias is None else self.bias.view(arrays["bias"], self.m, self.n, 1)
        c = self.c.view(arrays["C"], self.m, self.n, self.batch) if self.beta != 0 else np.zeros(1, numpy_dtype(self.result))
        return a, b, bias, c


def contiguous(gemm: Gemm) -> GemmCall:
    """The call for a problem whose operands lie in buffers of their own without gaps."""
    shapes = {"a": (gemm.m, gemm.k, gemm.a_order), "b": (gemm.k, gemm.n, gemm.b_order), "c": (gemm.m, gemm.n, gemm.c_order)}
    layouts = {
        name: Layout(columns, 1, rows * columns) if order == "row" else Layout(1, rows, rows * columns)
        for name, (rows, columns, order) in shapes.items()
    }
    return GemmCall(
        gemm.m, gemm.n, gemm.k, **layouts, dtype=gemm.dtype, out_dtype=gemm.out_dtype or "", batch=gemm.batch,
        alpha=gemm.alpha, beta=gemm.beta,
    )  # fmt: skip


def call_of(problem: Problem) -> GemmCall:
    """A problem as a GemmCall; InvalidInput if it is no matrix product."""
    if isinstance(problem, GemmCall):
        return problem
    if isinstance(problem, Gemm):
        return contiguous(problem)
    raise InvalidInput(f"{problem.title} is no matrix product")


def _wide(dtype: str) -> np.dtype:
    if element_type(dtype).exact:
        return np.dtype(np.int64)
    return np.dtype(np.complex128 if dtype.startswith("complex") else np.float64)


def _conjugate(array: np.ndarray, wanted: bool) -> np.ndarray:
    return np.conj(array) if wanted else array


def _activate(total: np.ndarray, activation: str) -> np.ndarray:
    if activation == "none":
        return total
    if activation == "relu":
        return np.where(total < 0, np.zeros_like(total), total)
    if activation == "silu":
        return total / (1 + np.exp(-total))
    if activation == "gelu_tanh":
        return total / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (total + 0.044715 * total**3)))
    from math import erfc

    return total * np.vectorize(erfc, otypes=[np.float64])(-total / np.sqrt(2)) / 2
