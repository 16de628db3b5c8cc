"""What to compute: Gemm, Transpose and Copy, each with operands, cost, reference and error bound.

A problem knows nothing of kernels or devices. Sizes are in elements, costs in flops and bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

from ..errors import InvalidInput, quoted
from .operands import Layout, Operand, Scalars, dense_layout
from .own_problem import as_bytes, own_problem_of
from .precision import check_precision, product_bound, storing_bound
from .sizes import is_whole
from .types import element_type, numpy_dtype

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

ORDERS = ("row", "column")  # of the elements of a matrix in memory
Arrays: TypeAlias = "Mapping[str, np.ndarray]"


class Problem(Protocol):
    """What every problem offers. Kernels, plans, checks and measurements use nothing else."""

    @property
    def operation(self) -> str: ...  # "gemm", "transpose" or "copy"
    @property
    def dtype(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def flops(self) -> int: ...
    @property
    def operands(self) -> tuple[Operand, ...]: ...
    @property
    def scalars(self) -> Scalars: ...
    def reference(self, arrays: Arrays) -> np.ndarray: ...
    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float: ...


def output_of(problem: Problem) -> Operand:
    """The one operand that the problem writes."""
    return next(each for each in problem.operands if each.written)


def inputs_of(problem: Problem) -> tuple[Operand, ...]:
    return tuple(each for each in problem.operands if each.updated or not each.written)


def compulsory_bytes(problem: Problem) -> int:
    """Bytes that any solution must move: each input read once, the output written once. What a kernel of a user's own does with
    its buffers and images is not known: each counts once."""
    if (own := own_problem_of(problem)) is not None:
        return sum(each.nbytes for each in problem.operands) + sum(each.data.nbytes for each in own.images.values())
    return sum(each.nbytes * (2 if each.updated else 1) for each in problem.operands)


def random_arrays(problem: Problem, seed: int = 0) -> dict[str, np.ndarray]:
    """Random inputs: floats uniform in [-0.5, 0.5), integers over their whole range, bools so few true that of a product's
    elements some are. A kernel's own buffers as they are."""
    import numpy as np

    if (own := own_problem_of(problem)) is not None:
        return as_bytes(own.typed_arrays())
    generator = np.random.default_rng(seed)
    return {each.name: random_array(generator, each.shape, each.dtype) for each in inputs_of(problem)}


def constant_arrays(problem: Problem, numbers: Sequence[float]) -> dict[str, np.ndarray]:
    """Inputs that hold one number each. Constants hide mistakes: a transposed index reads the same number.

    InvalidInput for another count of numbers than of inputs, for numbers that the type does not hold, and for kernels with
    arguments of their own.
    """
    import numpy as np

    if own_problem_of(problem) is not None:
        raise InvalidInput("fill is for products, transposes and copies; --arg says what a kernel's own arguments hold")
    inputs = inputs_of(problem)
    if len(numbers) != len(inputs):
        names = ", ".join(each.name for each in inputs)
        raise InvalidInput(
            f"fill needs a number for each input of {problem.title}, {names}: {len(inputs)}, not {len(numbers)}"
        )
    arrays = {}
    for each, number in zip(inputs, numbers, strict=True):
        kind = element_type(each.dtype)
        if kind.exact and not (float(number).is_integer() and kind.limits[0] <= number <= kind.limits[1]):
            raise InvalidInput(f"fill has {number:g} for {each.name}, which {each.dtype} does not hold")
        arrays[each.name] = np.full(each.shape, number).astype(numpy_dtype(each.dtype))
    return arrays


def random_array(generator: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    import numpy as np

    target = numpy_dtype(dtype)
    if element_type(dtype).kind == "boolean":
        true: np.ndarray = generator.random(shape) ** 2 * max((1, *shape[-2:])) < 1
        return true
    if element_type(dtype).exact:
        return generator.integers(*element_type(dtype).limits, shape, dtype=target, endpoint=True)
    values = generator.random(shape, dtype=np.float32 if target.itemsize <= 4 else np.float64) - 0.5
    if target.kind == "c":
        values = values + 1j * (generator.random(shape) - 0.5)
    return values.astype(target)


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if not is_whole(size):
            raise InvalidInput(f"{name}={quoted(size)}: pass a whole number from 0 on")
        if size < 0:
            raise InvalidInput(f"{name}={size} is negative")


def _check_orders(**orders: str) -> None:
    for name, order in orders.items():
        if not isinstance(order, str) or order not in ORDERS:
            raise InvalidInput(f"{name}={quoted(order)}: pass row or column")


@dataclass(frozen=True)
class Gemm:
    """C (m x n) = alpha * A (m x k) * B (k x n) + beta * C, `batch` times.

    `a_order`, `b_order` and `c_order` are "row" or "column": row-major or column-major. An operand that is transposed in
    BLAS has the other order here. `dtype` is the type of A and B, `out_dtype` that of C (the same if None). `precision` is
    "" for the type's own arithmetic, or a mode of `precision.PRECISIONS`, for devices that support it.
    """

    operation: ClassVar[str] = "gemm"
    m: int
    n: int
    k: int
    dtype: str = "float32"
    a_order: str = "row"
    b_order: str = "row"
    c_order: str = "row"
    alpha: complex = 1.0
    beta: complex = 0.0
    out_dtype: str | None = None
    batch: int = 1
    precision: str = ""

    def __post_init__(self) -> None:
        element_type(self.dtype)
        if self.out_dtype is not None:
            element_type(self.out_dtype)
        _check_orders(a_order=self.a_order, b_order=self.b_order, c_order=self.c_order)
        check_precision(self.precision, self.dtype)
        _check_sizes(m=self.m, n=self.n, k=self.k, batch=self.batch)

    @property
    def title(self) -> str:
        many = f"{self.batch} of " if self.batch != 1 else ""
        return f"gemm {many}{self.m}x{self.n}x{self.k} {self.dtype} {self.precision}".rstrip()

    @property
    def flops(self) -> int:
        return 2 * element_type(self.dtype).parts ** 2 * self.batch * self.m * self.n * self.k

    @property
    def operands(self) -> tuple[Operand, ...]:
        lead = () if self.batch == 1 else (self.batch,)
        return (
            Operand("A", (*lead, self.m, self.k), self.dtype, self.a_order),
            Operand("B", (*lead, self.k, self.n), self.dtype, self.b_order),
            Operand(
                "C",
                (*lead, self.m, self.n),
                self.out_dtype or self.dtype,
                self.c_order,
                written=True,
                updated=self.beta != 0,
            ),
        )

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """Where A, B and C lie in their buffers."""
        a, b, c = map(dense_layout, self.operands)
        return a, b, c

    @property
    def scalars(self) -> Scalars:
        values: Scalars = {"M": self.m, "N": self.n, "K": self.k, "alpha": self.alpha, "beta": self.beta}
        for name, layout in zip("abc", self.layouts, strict=True):
            values |= layout.scalars(name)
        return values

    def reference(self, arrays: Arrays) -> np.ndarray:
        import numpy as np

        from .reference import as_int64, exact_matmul, float64_matmul

        a, b = arrays["A"], arrays["B"]
        if element_type(self.dtype).exact:
            whole = as_int64(self.alpha) * exact_matmul(a, b)
            if self.beta != 0.0:
                whole = whole + as_int64(self.beta) * arrays["C"].astype(np.int64)
            return whole.astype(numpy_dtype(self.out_dtype or self.dtype))
        product = self.alpha * float64_matmul(a, b)
        return product if self.beta == 0.0 else product + self.beta * arrays["C"]

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        """The rounding errors of alpha A B, of beta C and of storing the sum; 0 for integers, which are exact."""
        import numpy as np

        kind = element_type(self.dtype)
        if kind.exact:
            return 0.0
        bound = np.abs(self.alpha) * product_bound(arrays["A"], arrays["B"], self.dtype, self.precision)
        if self.beta != 0.0:
            bound = bound + 4 * kind.epsilon * np.abs(self.beta * arrays["C"])
        whole: np.ndarray = bound + storing_bound(self.out_dtype or self.dtype, reference)
        return whole


@dataclass(frozen=True)
class Transpose:
    """output (columns - offset) x rows = the transpose of input (rows x columns) without its first `offset` columns.

    A `batch` is that many matrices without gaps between them. It is another operation: kernels for one matrix, such as
    those of the ladder, refuse it.
    """

    verb: ClassVar[str] = "transpose"
    rows: int
    columns: int
    dtype: str = "float32"
    offset: int = 0
    batch: int = 1

    def __post_init__(self) -> None:
        _check_sizes(rows=self.rows, columns=self.columns, offset=self.offset, batch=self.batch)
        element_type(self.dtype)

    @property
    def operation(self) -> str:
        return self.verb if self.batch == 1 else f"stacked {self.verb}"

    @property
    def title(self) -> str:
        many = f"{self.batch} of " if self.batch != 1 else ""
        return f"{self.operation} {many}{self.rows}x{self.columns} {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def stack(self) -> tuple[int, ...]:
        """The leading dimension of a batch's operands; empty for a single matrix."""
        return () if self.batch == 1 else (self.batch,)

    @property
    def kept(self) -> int:
        """Columns that remain after the offset."""
        return max(0, self.columns - self.offset)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (
            Operand("input", (*self.stack, self.rows, self.columns), self.dtype),
            Operand("output", (*self.stack, self.kept, self.rows), self.dtype, written=True),
        )

    @property
    def scalars(self) -> Scalars:
        return {"ROWS": self.rows, "COLUMNS": self.columns, "OFFSET": self.offset}

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"][..., self.offset :].swapaxes(-1, -2)

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class Copy(Transpose):
    """output rows x (columns - offset) = input (rows x columns) without its first `offset` columns, `batch` times."""

    verb: ClassVar[str] = "copy"

    @property
    def operands(self) -> tuple[Operand, ...]:
        source, target = super().operands
        return source, replace(target, shape=(*self.stack, self.rows, self.kept))

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"][..., self.offset :]


# A bias seen as a matrix of C's shape: stride 0 repeats it.
BIAS_LAYOUTS = {"": Layout(0, 0, 0), "row": Layout(0, 0, 1), "column": Layout(0, 1, 0)}


@dataclass(frozen=True)
class StridedGemm(Gemm):
    """A Gemm whose operands are views into larger buffers, with an epilogue.

    C = activation(alpha * S + beta * C + bias). S is A * B with row i scaled by scale_a[i] and column j by scale_b[j].
    `scale_a` and `scale_b` are "each" for float32 vectors, "one" for one number, or "" for no scales; give both or
    neither. `bias` is a vector of `out_dtype`: "row" has one element for each column of C, "column" one for each row, ""
    is none. `activation` is "relu", "gelu" (by erf), "gelu_tanh", "silu" or "". Complex operands may be conjugated.
    `symmetric` says that B is A transposed, in A's own memory, and that C equals its transpose: beta is 0, and nothing
    else of the epilogue depends on a row or a column. Kernels may then compute half of C.
    """

    views: tuple[Layout, Layout, Layout] = (Layout(0, 0, 0), Layout(0, 0, 0), Layout(0, 0, 0))
    bias: str = ""
    activation: str = ""
    conjugate_a: bool = False
    conjugate_b: bool = False
    scale_a: str = ""
    scale_b: str = ""
    symmetric: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.symmetric:
            return
        apart = [name for name in ("bias", "scale_a", "scale_b") if getattr(self, name)]
        apart += [f"beta={self.beta:g}"] if self.beta != 0 else []
        if element_type(self.dtype).parts == 2 and self.conjugate_a != self.conjugate_b:
            apart.append("the conjugate of one operand alone")
        if self.m != self.n or self.views[1] != self.views[0].swapped or apart:
            why = ", ".join(apart) or "other views"
            raise InvalidInput(f"{self.m}x{self.n}x{self.k} is not symmetric: B must be A transposed, without {why}")

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        return self.views

    @property
    def scalars(self) -> Scalars:
        conjugates: Scalars = {"a_conjugate": int(self.conjugate_a), "b_conjugate": int(self.conjugate_b)}
        scales: Scalars = {"scale_a_row": int(self.scale_a == "each"), "scale_b_column": int(self.scale_b == "each")}
        return {**super().scalars, **conjugates, **BIAS_LAYOUTS[self.bias].scalars("bias"), **scales}


def precision_of(problem: Problem) -> str:
    """The precision mode that a problem asks for; "" for a type's own arithmetic, and for other problems than products."""
    return problem.precision if isinstance(problem, Gemm) else ""


def has_scales(problem: Problem) -> bool:
    """Whether a product's rows and columns are scaled."""
    return isinstance(problem, StridedGemm) and bool(problem.scale_a)


def offset_of(problem: Problem) -> int:
    """The columns at the start of each row of its input that a copy or transpose leaves out."""
    return problem.offset if isinstance(problem, Transpose) else 0
