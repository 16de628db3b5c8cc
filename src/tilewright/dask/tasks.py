"""What workers run: sums of products, grown in place.

A task adds some products to a `RunningSum` that an earlier one left, and hands on the same object. Dask may run a task again, on
this worker or on another: when a worker died, or work was moved. So a sum knows how many products it has, and a task
leaves out those that are already there. A task whose sum was lost begins with the one before it, or anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from dask import get

from ..core.types import numpy_dtype
from ..errors import LaunchFailed
from ..library.copies import transpose
from ..library.products import gemm
from .devices import worker_device


@dataclass(frozen=True)
class Making:
    """The tasks that make one chunk, run by the task that multiplies it. `inputs` are data from elsewhere, by their keys."""

    tasks: Mapping[Any, Any]
    key: Any

    def __call__(self, inputs: Mapping[Any, Any]) -> Any:
        return get({**self.tasks, **inputs}, self.key)


class Factors(NamedTuple):
    """One product: which of the task's chunks it multiplies, and which parts of them."""

    a: int
    in_a: tuple[slice, ...]
    b: int
    in_b: tuple[slice, ...]


class Arithmetic(NamedTuple):
    """The types of a sum and of the result, and the precision of the products."""

    sum: str
    result: str
    precision: str | None


class RunningSum:
    """The sum of the first `count` products of a tile. Whoever changes or copies it holds `lock`."""

    def __init__(self, array: np.ndarray, count: int) -> None:
        self.array = array if array.flags.writeable else array.copy()  # what another worker sent may be read-only
        self.count: int | None = count  # None while, and if, a product failed half-way
        self.lock = Lock()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.array.nbytes

    def __reduce__(self) -> Any:
        """A copy, because what is sent may still be on its way when the next task changes the sum."""
        with self.lock:
            return RunningSum, (self.array.copy(), self.count)

    def add(self, a: Any, b: Any, arithmetic: "Arithmetic") -> None:
        """Add a product; the first one is stored."""
        count, self.count = self.count or 0, None
        gemm(
            a, b, self.array if count else None, beta=1 if count else 0, out=self.array, dtype=numpy_dtype(arithmetic.sum),
            precision=arithmetic.precision, device=worker_device(),
        )  # fmt: skip
        self.count = count + 1


class Chunks:
    """A task's chunks of one operand. Of those that it makes itself it keeps the last one only."""

    def __init__(self, chunks: Sequence[Any], inputs: Mapping[Any, Any]) -> None:
        self._chunks, self._inputs = chunks, inputs
        self._made: tuple[int, Any] = (-1, None)

    def __getitem__(self, number: int) -> Any:
        chunk = self._chunks[number]
        if not isinstance(chunk, Making):
            return chunk
        if self._made[0] != number:
            self._made = (-1, None)  # gives its memory back first
            self._made = (number, chunk(self._inputs))
        return self._made[1]


def add_products(
    before: RunningSum | None,
    shape: tuple[int, ...],
    begin: int,
    factors: Sequence[Factors],
    operands: tuple[Sequence[Any], Sequence[Any]],
    inputs: tuple[Sequence[Any], Sequence[Any]],
    arithmetic: Arithmetic,
    last: bool,
) -> Any:
    """Add products, the first of which has the number `begin`, to the sum `before` or to a new one.

    `inputs` are keys and values of what chunks are made of. The `last` task of a tile gives an array of the result's type.
    """
    total = before or _new_sum(shape, arithmetic, bool(factors))
    given = dict(zip(*inputs, strict=True))
    a, b = (Chunks(each, given) for each in operands)
    with total.lock:
        for number, pair in enumerate(factors, begin):
            if total.count is None:
                raise LaunchFailed(
                    "an earlier product failed while it was added to this tile, which cannot be used: compute again"
                )
            if number >= total.count:
                total.add(a[pair.a][pair.in_a], b[pair.b][pair.in_b], arithmetic)
    return _finished(total.array, arithmetic) if last else total


def merge_sums(one: RunningSum, other: RunningSum, arithmetic: Arithmetic, last: bool) -> Any:
    """The sum of two parts of k, as a new one: its operands stay as they are for a second run."""
    array = np.add(one.array, other.array)
    return _finished(array, arithmetic) if last else RunningSum(array, 0)


def transposed_chunk(chunk: Any) -> np.ndarray:
    """A chunk with its dimensions reversed, dense."""
    result: np.ndarray = transpose(np.asarray(chunk), device=worker_device())
    return result


def _new_sum(shape: tuple[int, ...], arithmetic: Arithmetic, follow: bool) -> RunningSum:
    """A sum without products. If none follow, it is 0."""
    make = np.empty if follow else np.zeros
    return RunningSum(make(shape, numpy_dtype(arithmetic.sum)), 0)


def _finished(array: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
    return array.astype(numpy_dtype(arithmetic.result), copy=False)
