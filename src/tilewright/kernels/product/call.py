"""GemmCall: a strided product as the kernels are given it: perhaps as its transpose, perhaps in splits of K."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from ...core.operands import Layout, Operand, Scalars
from ...core.problem import Gemm, Problem, StridedGemm
from ...core.types import element_type
from ...errors import InvalidInput

Others = ParamSpec("Others")
Found = TypeVar("Found")
TRANSPOSED_BIAS = {"": "", "row": "column", "column": "row"}


@dataclass(frozen=True)
class GemmCall(StridedGemm):
    """C (m x n) = activation(alpha * A (m x k) * B (k x n) + beta * C + bias), `batch` times.

    If it `is_transposed`, A and B stand for the caller's B and A, and C for its transpose. With a `k_chunk`, K is split:
    split p sums k_chunk elements of k from p * k_chunk on into C + p * c_split. The operands in `packed` lie in scratch
    memory, where packing.py has put them. With `even_odd_rows` the batch is one product: its even rows, and its odd rows.
    """

    operation: ClassVar[str] = "gemm"
    is_transposed: bool = False
    k_chunk: int = 0
    c_split: int = 0
    packed: tuple[str, ...] = ()
    even_odd_rows: bool = False

    def __post_init__(self) -> None:
        Gemm.__post_init__(self)  # a symmetric product stays one when an operand is packed

    @cached_property
    def memory(self) -> dict[tuple[Any, ...], Any]:
        """What `remembered` functions have found out about this call."""
        return {}

    @property
    def a(self) -> Layout:
        return self.views[0]

    @property
    def b(self) -> Layout:
        return self.views[1]

    @property
    def c(self) -> Layout:
        return self.views[2]

    @property
    def result(self) -> str:
        """The element type of C."""
        return self.out_dtype or self.dtype

    @property
    def splits(self) -> int:
        """In how many parts K is summed."""
        return max(1, -(-self.k // self.k_chunk)) if self.k_chunk else 1

    @property
    def operands(self) -> tuple[Operand, ...]:
        a, b, c = super().operands
        a, b = (replace(each, shape=each.shape[-2:]) if self._is_lone(each.name) else each for each in (a, b))
        return (a, b, replace(c, shape=(self.splits, *c.shape))) if self.k_chunk else (a, b, c)

    def _is_lone(self, name: str) -> bool:
        """Whether operand "A" or "B" lies in scratch memory once for the whole batch."""
        return name in self.packed and self.sided(name)[0].batch == 0

    @property
    def buffers(self) -> tuple[tuple[str, str], ...]:
        """Which of the caller's buffers the arguments get, where it is not the one of the same name."""
        names: dict[str, str] = {}
        if self.is_transposed:
            names = {"A": "B", "B": "A", "scale_a": "scale_b", "scale_b": "scale_a"}
        names |= {name: f"packed_{name}" for name in self.packed}
        if self.symmetric and len(self.packed) == 2:
            names["B"] = "packed_A"  # one copy serves both
        if not self.bias:
            names["bias"] = "C"
        if not self.scale_a:
            names |= {"scale_a": "C", "scale_b": "C"}
        return tuple(names.items())

    @property
    def scalars(self) -> Scalars:
        """The value of every argument that is not a pointer."""
        chunk = self.k_chunk or self.k
        own = {"k_chunk": chunk, "c_split": self.c_split, "splits": self.splits}
        return {**super().scalars, **own}

    @cached_property
    def transposed(self) -> "GemmCall":
        """The same product seen from its transpose: C' = B' A'."""
        a, b, c = (view.swapped for view in self.views)
        return replace(
            self, m=self.n, n=self.m, views=(b, a, c), bias=TRANSPOSED_BIAS[self.bias], is_transposed=not self.is_transposed,
            scale_a=self.scale_b, scale_b=self.scale_a, conjugate_a=self.conjugate_b, conjugate_b=self.conjugate_a,
        )  # fmt: skip

    @property
    def row_major(self) -> "GemmCall":
        """This call, or its transpose if C lies in columns."""
        return self.transposed if self.c.row == 1 and self.c.column != 1 else self

    @property
    def tall(self) -> "GemmCall":
        """This call, or its transpose if C is wider than high."""
        return self.transposed if self.m < self.n else self

    def sided(self, name: str) -> tuple[Layout, int]:
        """Operand "A" or "B" with its rows across k, and how many there are."""
        return (self.a, self.m) if name == "A" else (self.b_rows, self.n)

    def batched(self, name: str) -> bool:
        """Whether operand "A" or "B" has a matrix for each of the batch: what a lone product is taken for, so that it shares
        programs with batches."""
        return self.batch == 1 or self.sided(name)[0].batch != 0

    @cached_property
    def b_rows(self) -> Layout:
        """B by its rows across k, which are its columns."""
        return self.b.swapped

    @cached_property
    def by_even_odd_rows(self) -> "GemmCall":
        """This call, of an even number of rows and no batch, as a batch of its even and its odd rows."""
        a, b, c = self.views
        a, c = (Layout(view.offset, 2 * view.row, view.column, view.row) for view in (a, c))
        views = (a, replace(b, batch=0), c)
        return replace(self, m=self.m // 2, batch=2, views=views, even_odd_rows=True, symmetric=False)

    def with_split_k(self, k_chunk: int) -> "GemmCall":
        """The first step of split-K: sums of `k_chunk` products each, in scratch memory, in the accumulator's type."""
        area = self.m * self.n
        scratch = Layout(0, self.n, 1, area)
        return replace(
            self, views=(self.a, self.b, scratch), k_chunk=k_chunk, c_split=self.batch * area, alpha=1, beta=0, bias="",
            activation="", scale_a="", scale_b="", out_dtype=element_type(self.dtype).accumulator, symmetric=False,
        )  # fmt: skip

    def batches(self, first: int, count: int) -> "GemmCall":
        """The call for `count` matrices of the batch from `first` on."""
        a, b, c = (replace(view, offset=view.offset + first * view.batch) for view in self.views)
        return replace(self, views=(a, b, c), batch=count)


def remembered(
    function: Callable[Concatenate[GemmCall, Others], Found],
) -> Callable[Concatenate[GemmCall, Others], Found]:
    """The function, computed once for each call and other arguments: a choice among hundreds of configurations asks the same
    of one product again and again."""

    @wraps(function)
    def asked(call: GemmCall, /, *others: Others.args, **named: Others.kwargs) -> Found:
        memory, key = call.memory, (function, *others, *named.items())
        if key not in memory:
            memory[key] = function(call, *others, **named)
        found: Found = memory[key]
        return found

    return asked


def call_of(problem: Problem) -> GemmCall:
    """A problem as a GemmCall; InvalidInput if it is no matrix product."""
    if isinstance(problem, GemmCall):
        return problem
    if not isinstance(problem, Gemm):
        raise InvalidInput(f"{problem.title} is no matrix product")
    own = problem if isinstance(problem, StridedGemm) else _plain(problem)
    return GemmCall(**{each.name: getattr(own, each.name) for each in fields(own)})


def _plain(gemm: Gemm) -> StridedGemm:
    """A Gemm whose operands lie without gaps, by its strides."""
    return StridedGemm(
        gemm.m, gemm.n, gemm.k, gemm.dtype, alpha=gemm.alpha, beta=gemm.beta, out_dtype=gemm.out_dtype, batch=gemm.batch,
        views=gemm.layouts, precision=gemm.precision,
    )  # fmt: skip
