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
from ..errors import InvalidInput, LaunchFailed
from ..library.copies import transpose
from ..library.products import gemm
from ..library.views import as_host_array
from .arithmetic import Arithmetic, Factor
from .device_memory import DeviceMemory, Resident, worker_memory
from .devices import worker_device

SPOILED = "an earlier product failed while it was added to this tile, which cannot be used: compute again"


@dataclass(frozen=True)
class Making:
    """The tasks that make one chunk, run by the task that multiplies it. `inputs` are data from elsewhere, by their keys."""

    tasks: Mapping[Any, Any]
    key: Any

    def __call__(self, inputs: Mapping[Any, Any]) -> Any:
        return get({**self.tasks, **inputs}, self.key)


class Taken(NamedTuple):
    """One operand of a product: the number of the task's chunk, its shape as its array says, and the part that is multiplied."""

    number: int
    shape: tuple[int, ...]
    part: tuple[slice, ...]


class Factors(NamedTuple):
    """One product of a task."""

    a: Taken
    b: Taken


class RunningSum:
    """The sum of the first `count` products of a tile. Whoever changes or copies it holds `lock`.

    While a GPU has it, `_array` is out of date.
    """

    def __init__(self, array: np.ndarray, count: int) -> None:
        self._array = array if array.flags.writeable else array.copy()  # what another worker sent may be read-only
        self._on_device: Resident | None = None
        self.count: int | None = count  # None while, and if, a product failed half-way
        self.lock = Lock()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._array.nbytes

    def __reduce__(self) -> Any:
        """A copy, because what is sent may still be on its way when the next task changes the sum."""
        with self.lock:
            return RunningSum, (self._copied(), self.count)

    def values(self) -> np.ndarray:
        """The sum in the host's memory, where it is from now on."""
        if self._on_device is not None:
            self._on_device.read(self._array)
            self._on_device = None
        return self._array

    def add(self, a: Factor, b: Factor, arithmetic: Arithmetic) -> None:
        """Add a product; the first one is stored."""
        count, self.count = self.count or 0, None
        memory = worker_memory()
        if memory is None or not self._added_on(memory, a, b, arithmetic, count):
            total = self.values() if count else self._array
            gemm(
                a.values, b.values, total if count else None, beta=1 if count else 0, out=total,
                dtype=numpy_dtype(arithmetic.sum), precision=arithmetic.precision, device=worker_device(),
            )  # fmt: skip
        self.count = count + 1

    def _added_on(self, memory: DeviceMemory, a: Factor, b: Factor, arithmetic: Arithmetic, count: int) -> bool:
        """Add the product in a GPU's memory, if such products are computed there and it has room."""
        if not memory.multiplies(a, b, self._array, arithmetic):
            return False
        if self._on_device is not None and self._on_device.memory is not memory:
            self.values()
        before = self._array if count and self._on_device is None else None
        total = memory.added(self._on_device, before, self._array.shape, a, b, arithmetic)
        if total is None:
            return False
        self._on_device = total
        if memory.crowded:
            self.values()
        return True

    def _copied(self) -> np.ndarray:
        if self._on_device is None:
            return self._array.copy()
        found = np.empty_like(self._array)
        self._on_device.read(found)
        return found


class Chunks:
    """A task's chunks of one operand. Of those that it makes itself it keeps the last one only."""

    def __init__(self, name: str, chunks: Sequence[Any], inputs: Mapping[Any, Any]) -> None:
        self._name, self._chunks, self._inputs = name, chunks, inputs
        self._made: tuple[int, Any] = (-1, None)

    def factor(self, taken: Taken) -> Factor:
        """An operand of a product. InvalidInput if the chunk has another shape than its array says: parts of it would be left
        out."""
        chunk = self._chunk(taken.number)
        found = chunk if isinstance(chunk, np.ndarray) else as_host_array(chunk, f"a chunk of {self._name}")
        if found.shape != taken.shape:
            raise InvalidInput(
                f"a chunk of {self._name} has the shape {found.shape}, and its array says {taken.shape}: tell Dask what the "
                "function that makes it gives, as by map_blocks(..., chunks=)"
            )
        return Factor(found, taken.part)

    def _chunk(self, number: int) -> Any:
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
    a, b = (Chunks(name, each, given) for name, each in zip("ab", operands, strict=True))
    with total.lock:
        for number, pair in enumerate(factors, begin):
            if total.count is None:
                raise LaunchFailed(SPOILED)
            if number >= total.count:
                total.add(a.factor(pair.a), b.factor(pair.b), arithmetic)
        return _finished(total.values(), arithmetic) if last else total


def merge_sums(one: RunningSum, other: RunningSum, arithmetic: Arithmetic, last: bool) -> Any:
    """The sum of two parts of k, as a new one: its operands stay as they are for a second run."""
    array = np.add(*map(_whole, (one, other)))
    return _finished(array, arithmetic) if last else RunningSum(array, 0)


def _whole(total: RunningSum) -> np.ndarray:
    """The values of a sum. LaunchFailed if a product failed half-way."""
    with total.lock:
        if total.count is None:
            raise LaunchFailed(SPOILED)
        return total.values()


def transposed_chunk(chunk: Any) -> np.ndarray:
    """A chunk with its dimensions reversed, dense."""
    result: np.ndarray = transpose(as_host_array(chunk, "a chunk"), device=worker_device())
    return result


def _new_sum(shape: tuple[int, ...], arithmetic: Arithmetic, follow: bool) -> RunningSum:
    """A sum without products. If none follow, it is 0."""
    make = np.empty if follow else np.zeros
    return RunningSum(make(shape, numpy_dtype(arithmetic.sum)), 0)


def _finished(array: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
    return array.astype(numpy_dtype(arithmetic.result), copy=False)
