"""Places (storage locations): registers, elements of private arrays, memory, and vector components in any of them."""

from typing import Any

import numpy as np

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.types import Array, Pointer, Scalar, Space, Struct, Type, Vector, lying_at, vector_of
from .cell_traffic import CellTraffic
from .compiled_code import Code, Frame, Place, Register, RegisterArray, Run, Value
from .findings import BOUNDS, Irregular
from .machine import Machine
from .masks import Mask
from .registers import Cells, check_set, dtype_of, merge, still_unset
from .segments import Access

Parts = tuple[int, ...]


def pick(value: Value, parts: Parts) -> Value:
    """Components of a vector: (lanes,) or a NumPy scalar for one, (components, lanes) for several."""
    if len(parts) > 1:
        return value[list(parts)]
    row = value[parts[0]]
    return row if row.size > 1 else row[0]


def insert(machine: Machine, old: Value, parts: Parts, value: Value, mask: Mask) -> Value:
    """`old` with some components replaced in the lanes of `mask`."""
    rows = list(parts) if len(parts) > 1 else parts[0]
    whole = machine.covers(mask)
    lanes = np.shape(value)[-1] if np.ndim(value) else 1
    width = 1 if whole and old.shape[1] == 1 and lanes == 1 else machine.lanes
    new = np.array(np.broadcast_to(old, (old.shape[0], width)))
    new[rows] = value if whole else np.where(mask.lanes, value, new[rows])
    return new


class RegisterPlace(Place):
    """A variable in a slot of its frame."""

    def __init__(self, machine: Machine, symbol: Register, name: str, position: Position) -> None:
        super().__init__(symbol.type, symbol.constant)
        self.machine, self.slot, self.tracked = machine, symbol.slot, symbol.tracked
        self.name, self.position = name, position

    def read(self, frame: Frame, mask: Mask, parts: Parts | None) -> Value:
        if self.tracked:
            unset = frame.unset[self.slot]
            if unset is not None:
                check_set(self.machine, unset, mask, parts, self.name, self.position)
        return frame.slots[self.slot]

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        return self.read(frame, mask, None)

    def load_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts) -> Value:
        return pick(self.read(frame, mask, parts), parts)

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        slot = self.slot
        if self.machine.covers(mask):
            frame.slots[slot] = value
        else:
            frame.slots[slot] = merge(self.machine, mask, value, frame.slots[slot])
        if self.tracked and frame.unset[slot] is not None:
            frame.unset[slot] = still_unset(self.machine, frame.unset[slot], mask, None)

    def store_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts, value: Value) -> None:
        slot = self.slot
        frame.slots[slot] = insert(self.machine, frame.slots[slot], parts, value, mask)
        if self.tracked and frame.unset[slot] is not None:
            frame.unset[slot] = still_unset(self.machine, frame.unset[slot], mask, parts)


class CellPlace(Place):
    """One element of a private array that has no address."""

    def __init__(
        self, machine: Machine, symbol: RegisterArray, subscripts: list[Code], name: str, position: Position
    ) -> None:
        super().__init__(symbol.element, symbol.constant)
        self.machine, self.slot, self.name, self.position = machine, symbol.slot, name, position
        self.subscripts = [(code.run, length) for code, length in zip(subscripts, symbol.lengths, strict=True)]
        self.traffic = (
            None if symbol.segment is None else CellTraffic(machine, symbol.segment, symbol.element, position)
        )

    def locate(self, frame: Frame, mask: Mask) -> Value:
        """The flat index: a Python int if all lanes agree."""
        flat: Any = 0
        for run, length in self.subscripts:
            index = run(frame, mask)
            if index.ndim == 0:
                own: Any = int(index)
                bad = mask.any and not 0 <= own < length
            else:
                own = index.astype(np.int64)
                wrong = ((own < 0) | (own >= length)) & mask.lanes
                bad = bool(wrong.any())
            if bad:
                self.outside(own, length, mask)
            if bad or index.ndim:
                own = min(max(own, 0), length - 1) if isinstance(own, int) else own.clip(0, length - 1)
            flat = flat * length + own
        return flat

    def outside(self, index: Any, length: int, mask: Mask) -> None:
        if np.ndim(index) == 2:
            raise Irregular
        which = np.broadcast_to((index < 0) | (index >= length), (self.machine.lanes,)) & mask.lanes
        lane = int(np.flatnonzero(which)[0])
        value = int(np.broadcast_to(index, (self.machine.lanes,))[lane])
        self.machine.findings.add(
            BOUNDS,
            self.position,
            Sentence(
                "subscript outside private '{name}', which has {length} elements there", name=self.name, length=length
            ),
            Sentence("subscript {subscript}, {item}", subscript=value, item=self.machine.item_name(lane)),
            count=int(which.sum()),
        )

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        cells: Cells = frame.slots[self.slot]
        if self.traffic is not None:
            self.traffic.count("load", where, mask)
        return cells.get(where, mask, None, self.name, self.position)

    def load_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts) -> Value:
        cells: Cells = frame.slots[self.slot]
        if self.traffic is not None:
            self.traffic.count("load", where, mask)
        return pick(cells.get(where, mask, parts, self.name, self.position), parts)

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        if self.traffic is not None:
            self.traffic.count("store", where, mask)
        frame.slots[self.slot].put(where, value, mask, None)

    def store_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts, value: Value) -> None:
        cells: Cells = frame.slots[self.slot]
        if self.traffic is not None:
            self.traffic.count("store", where, mask)
        cells.put(where, insert(self.machine, cells.peek(where), parts, value, mask), mask, parts)


class MemoryPlace(Place):
    """Something at an address. An array's value is its address."""

    def __init__(
        self,
        machine: Machine,
        kind: Type,
        address: Run,
        space: Space,
        constant: bool,
        position: Position,
        counted: bool = True,
    ) -> None:
        super().__init__(kind, constant)
        self.machine, self.address, self.space, self.position, self.counted = machine, address, space, position, counted
        self._load: Access | None = None
        self._store: Access | None = None

    def access(self, operation: str) -> Access:
        return memory_access(self.machine, self.type, self.position, operation, self.counted)

    def locate(self, frame: Frame, mask: Mask) -> Value:
        return self.address(frame, mask)

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        if self._load is None:
            if isinstance(self.type, Array):
                return where
            self._load = self.access("load")
        return self.machine.memory.load(where, self._load, mask)

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        if self._store is None:
            if isinstance(self.type, Array):
                raise self.position.error("an array cannot be assigned as a whole")
            self._store = self.access("store")
        self.machine.memory.store(where, self._store, value, mask)

    def load_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts) -> Value:
        return pick(self.load(frame, mask, where), parts)

    def store_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts, value: Value) -> None:
        assert isinstance(self.type, Vector)
        element = self.type.element
        if self._store is None:
            kind = lying_at(element, 0, self.type)
            self._store = memory_access(self.machine, kind, self.position, "store", self.counted)
        rows = np.broadcast_to(value, (len(parts), np.shape(value)[-1] if np.ndim(value) else 1))
        for part, row in zip(parts, rows, strict=True):
            one = row if row.size > 1 else row[0]
            self.machine.memory.store(where + np.int64(part * element.size), self._store, one, mask)


def memory_access(machine: Machine, kind: Type, position: Position, operation: str, counted: bool = True) -> Access:
    """How to load and store a value of `kind`."""
    if isinstance(kind, Struct):
        site = machine.memory.site(position, operation, kind.size, kind.alignment)
        return Access(np.dtype(np.uint8), kind.size, kind.alignment, site, counted)
    if not isinstance(kind, Scalar | Vector | Pointer) and kind.size != 8:
        raise position.error(f"{kind} has no value that can be copied")
    count = kind.width if isinstance(kind, Vector) else 1
    dtype = dtype_of(kind)
    site = machine.memory.site(position, operation, dtype.itemsize * count, kind.alignment)
    return Access(dtype, count, kind.alignment, site, counted)


class SwizzlePlace(Place):
    """Components of a vector that lies elsewhere: `v.xy`, `v.s3`, `v.hi`."""

    def __init__(self, base: Place, parts: Parts) -> None:
        assert isinstance(base.type, Vector)
        super().__init__(vector_of(base.type.element, len(parts)), base.constant)
        self.base, self.parts = base, parts

    def locate(self, frame: Frame, mask: Mask) -> Value:
        return self.base.locate(frame, mask)

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        return self.base.load_parts(frame, mask, where, self.parts)

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        self.base.store_parts(frame, mask, where, self.parts, value)

    def load_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts) -> Value:
        return self.base.load_parts(frame, mask, where, tuple(self.parts[part] for part in parts))

    def store_parts(self, frame: Frame, mask: Mask, where: Value, parts: Parts, value: Value) -> None:
        self.base.store_parts(frame, mask, where, tuple(self.parts[part] for part in parts), value)


_LETTERS = {**{letter: index for index, letter in enumerate("xyzw")}, **{c: i for i, c in enumerate("rgba")}}


def swizzle(name: str, kind: Vector, position: Position, target: bool) -> Parts:
    """The component numbers of `.name`. `target` says that it is assigned to."""
    width = kind.width
    half = (4 if width == 3 else width) // 2
    named = {
        "lo": tuple(range(half)),
        "hi": tuple(range(half, 2 * half)),
        "even": tuple(range(0, 2 * half, 2)),
        "odd": tuple(range(1, 2 * half, 2)),
    }
    parts: Parts
    if name in named:
        parts = named[name]
    elif name[0] in "sS" and len(name) > 1 and all(digit in "0123456789abcdefABCDEF" for digit in name[1:]):
        parts = tuple(int(digit, 16) for digit in name[1:])
    elif all(letter in _LETTERS for letter in name):
        parts = tuple(_LETTERS[letter] for letter in name)
    else:
        raise position.error(f".{name} is not a component of {kind}")
    limit = 4 if width == 3 and name in ("hi", "odd") else width
    if any(part >= limit for part in parts) or len(parts) not in (1, 2, 3, 4, 8, 16):
        raise position.error(f".{name} is not a component of {kind}")
    if target and len(set(parts)) < len(parts):
        raise position.error(f".{name} assigns one component twice")
    return tuple(min(part, width - 1) for part in parts)
