"""Private variables and arrays in frames, and which lanes have set them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.types import Type, Vector, element_of
from .compiled_code import Value
from .findings import UNINITIALISED, Irregular
from .masks import Mask

if TYPE_CHECKING:
    from .machine import Machine

Components = tuple[int, ...] | None


def dtype_of(kind: Type) -> "np.dtype[Any]":
    """The element type of the NumPy value that holds a scalar, vector or pointer."""
    element = element_of(kind)
    return np.dtype(np.int64) if element is None else element.dtype


def value_of_bytes(raw: npt.NDArray[np.uint8]) -> Value:
    """A struct's bytes as the value of all lanes. One byte is a scalar, as a load gives it."""
    return raw.reshape(-1, 1) if raw.size != 1 else raw[0]


def zero_of(kind: Type) -> Value:
    if isinstance(kind, Vector):
        return np.zeros((kind.width, 1), kind.element.dtype)
    return dtype_of(kind).type(0)


def unset_value(machine: "Machine", kind: Type) -> Value:
    """The value of a variable before it is set."""
    if not machine.fill:
        return zero_of(kind)
    dtype = dtype_of(kind)
    value = np.full(dtype.itemsize, machine.fill, np.uint8).view(dtype)[0]
    return np.full((kind.width, 1), value) if isinstance(kind, Vector) else value


def all_unset(machine: "Machine", kind: Type) -> npt.NDArray[np.bool_]:
    shape = (kind.width, machine.lanes) if isinstance(kind, Vector) else (machine.lanes,)
    return np.ones(shape, bool)


def still_unset(machine: "Machine", unset: Any, mask: Mask, components: Components) -> Any:
    """What is still unset after the lanes of `mask` stored (all, or some components of a vector); None if nothing is."""
    if components is None:
        if machine.covers(mask):
            return None
        left = unset & ~mask.lanes
    else:
        left = unset.copy()
        left[list(components)] &= ~mask.lanes
    return left if (left & machine.live).any() else None


def check_set(
    machine: "Machine", unset: Any, mask: Mask, components: Components, name: str, position: Position
) -> None:
    """Adds a finding if a lane of `mask` reads an unset value."""
    bad = (unset if components is None else unset[list(components)]) & mask.lanes
    if not bad.any():
        return
    lanes = bad.any(axis=0) if bad.ndim == 2 else bad
    machine.findings.add(
        UNINITIALISED,
        position,
        Sentence("private '{name}' is read before it is set", name=name),
        machine.item_name(int(np.flatnonzero(lanes)[0])),
        count=int(lanes.sum()),
    )


def merge(machine: "Machine", mask: Mask, new: Value, old: Value) -> Value:
    """`new` in the lanes of `mask`, `old` elsewhere. Lanes that have returned do not matter."""
    if old is None or machine.covers(mask):
        return new
    return np.where(mask.lanes, new, old)


class Cells:
    """A private array: one value per element while subscripts are the same in all lanes, else one table."""

    __slots__ = ("element", "machine", "table", "unset", "unset_table", "values")

    def __init__(self, machine: "Machine", element: Type, length: int) -> None:
        self.machine = machine
        self.element = element
        self.values: list[Value] = [unset_value(machine, element)] * length
        self.unset: list[Any] = [None] * length
        self.table: npt.NDArray[Any] | None = None
        self.unset_table: npt.NDArray[np.bool_] | None = None

    def clear(self, mask: Mask) -> None:
        """The lanes of `mask` declare the array anew."""
        fresh = all_unset(self.machine, self.element)
        length = len(self.values)
        if self.machine.covers(mask):
            self.values = [unset_value(self.machine, self.element)] * length
            self.unset = [fresh] * length
            self.table = self.unset_table = None
            return
        now = fresh & mask.lanes
        if self.table is not None and self.unset_table is not None:
            self.unset_table |= now
        else:
            self.unset = [now if each is None else each | now for each in self.unset]

    def get(self, index: Value, mask: Mask, components: Components, name: str, position: Position) -> Value:
        if np.ndim(index) == 2:
            return self._rows(index)
        if isinstance(index, int):
            unset = self.unset[index] if self.unset_table is None else self.unset_table[index]
            if unset is not None:
                check_set(self.machine, unset, mask, components, name, position)
            return self.values[index] if self.table is None else self.table[index].copy()
        table = self._tabulate()
        lanes = np.arange(self.machine.lanes)
        assert self.unset_table is not None
        check_set(self.machine, self._pick(self.unset_table, index, lanes), mask, components, name, position)
        return self._pick(table, index, lanes)

    def _rows(self, index: Value) -> Value:
        """The elements that the iterations of a batch read. They must be the same for all lanes, and set in all of them."""
        if index.shape[1] != 1:
            raise Irregular
        chosen = index[:, 0]
        if self.table is not None and self.unset_table is not None:
            if self.unset_table[chosen].any():
                raise Irregular
            return self.table[chosen]
        numbers = chosen.tolist()
        if any(self.unset[each] is not None for each in numbers):
            raise Irregular
        values = [self.values[each] for each in numbers]
        if not any(np.ndim(each) for each in values):
            return np.array(values)[:, None]
        rows = np.empty((len(values), self.machine.lanes), dtype_of(self.element))
        for row, value in zip(rows, values, strict=True):
            row[...] = value
        return rows

    def _pick(self, table: npt.NDArray[Any], index: Value, lanes: Any) -> Any:
        if table.ndim == 2:
            return table[index, lanes]
        return np.ascontiguousarray(table[index, :, lanes].T)

    def peek(self, index: Value) -> Value:
        """As `get`, without the check for unset values: the value that a partial assignment changes."""
        if isinstance(index, int):
            return self.values[index] if self.table is None else self.table[index].copy()
        return self._pick(self._tabulate(), index, np.arange(self.machine.lanes))

    def put(self, index: Value, value: Value, mask: Mask, components: Components) -> None:
        """Stores a whole element. `components` are those that change."""
        if isinstance(index, int) and self.table is None:
            self.values[index] = merge(self.machine, mask, value, self.values[index])
            if self.unset[index] is not None:
                self.unset[index] = still_unset(self.machine, self.unset[index], mask, components)
            return
        table = self._tabulate()
        assert self.unset_table is not None
        chosen = slice(None) if components is None else list(components)
        if isinstance(index, int):
            np.copyto(table[index], value, where=mask.lanes)
            row = self.unset_table[index]
            row[chosen] = row[chosen] & ~mask.lanes
            return
        lanes = mask.indices
        where = index[lanes]
        if table.ndim == 2:
            table[where, lanes] = np.broadcast_to(value, (self.machine.lanes,))[lanes]
            self.unset_table[where, lanes] = False
        else:
            table[where, :, lanes] = np.broadcast_to(value, table.shape[1:])[:, lanes].T
            for component in range(table.shape[1]) if components is None else components:
                self.unset_table[where, component, lanes] = False

    def _tabulate(self) -> npt.NDArray[Any]:
        if self.table is None:
            shape = all_unset(self.machine, self.element).shape
            self.table = np.stack([np.broadcast_to(each, shape) for each in self.values])
            nothing = np.zeros(shape, bool)
            self.unset_table = np.stack([nothing if each is None else each for each in self.unset])
        return self.table
