"""Places that are parts of others: bit-fields, and components of vectors chosen while the kernel runs."""

from typing import Any

import numpy as np

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.types import INT, Field, Scalar, Type, Vector, lying_at, promoted
from .compiled_code import Code, Frame, Place, Run, Value
from .findings import BOUNDS, Irregular
from .machine import Machine
from .masks import Mask
from .places import MemoryPlace, memory_access


class BitFieldPlace(Place):
    """Some bits of an integer in memory. A store leaves the other bits as they are."""

    def __init__(self, base: MemoryPlace, field: Field, address: Run, position: Position) -> None:
        super().__init__(field.type, base.constant)
        assert field.container is not None
        assert isinstance(field.type, Scalar)
        self.machine, self.address, self.space = base.machine, address, base.space
        self.container, self.field, self.kind = field.container, field, field.type
        counted = base.counted
        self._load = memory_access(self.machine, self.container, position, "load", counted)
        self._store = memory_access(self.machine, self.container, position, "store", counted)

    @property
    def read_type(self) -> Type:
        """The integer promotions of a bit-field go by its width (C99, 6.3.1.1)."""
        kind = self.kind
        narrow = self.field.bits < 8 * INT.size
        return INT if narrow and kind.size <= INT.size else promoted(kind)

    def locate(self, frame: Frame, mask: Mask) -> Value:
        return self.address(frame, mask)

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        return self._taken(self.machine.memory.load(where, self._load, mask))

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        word = self.container.dtype.type
        bits = word(((1 << self.field.bits) - 1) << self.field.shift)
        before = self.machine.memory.peek(where, self._store, mask)
        moved = value.astype(word) << word(self.field.shift)
        self.machine.memory.store(where, self._store, (before & ~bits) | (moved & bits), mask)

    def kept(self, value: Value) -> Value:
        """What is left of `value` once it is stored."""
        return self._taken(value.astype(self.container.dtype) << self.container.dtype.type(self.field.shift))

    def _taken(self, raw: Value) -> Value:
        room = 8 * self.container.size
        word = np.dtype(f"{'i' if self.kind.is_signed else 'u'}{self.container.size}").type
        top = (raw << raw.dtype.type(room - self.field.shift - self.field.bits)).astype(word)
        return (top >> word(room - self.field.bits)).astype(self.kind.dtype)


class ComponentPlace(Place):
    """`v[i]` of a vector that is no memory."""

    def __init__(self, machine: Machine, base: Place, index: Code, position: Position) -> None:
        assert isinstance(base.type, Vector)
        super().__init__(base.type.element, base.constant)
        self.machine, self.base, self.kind, self.position = machine, base, base.type, position
        self.index = checked_index(machine, index, base.type, position)

    def locate(self, frame: Frame, mask: Mask) -> Value:
        return self.base.locate(frame, mask), self.index(frame, mask)

    def _parts(self, index: Any, mask: Mask) -> list[tuple[int, Mask]]:
        """The components in use, each with its lanes."""
        if np.ndim(index) == 0:
            return [(int(index), mask)]
        numbers = np.unique(index[mask.indices]).tolist()
        return [(number, mask.where(index == number)) for number in numbers]

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        base, index = where
        parts = self._parts(index, mask)
        if len(parts) == 1:
            return self.base.load_parts(frame, parts[0][1], base, (parts[0][0],))
        out = np.zeros(self.machine.lanes, self.kind.element.dtype)
        for number, own in parts:
            np.copyto(out, self.base.load_parts(frame, own, base, (number,)), where=own.lanes)
        return out

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        base, index = where
        for number, own in self._parts(index, mask):
            self.base.store_parts(frame, own, base, (number,), value)


def checked_index(machine: Machine, index: Code, kind: Vector, position: Position) -> Run:
    """The number of a component, inside the vector; a finding where it is not."""
    run, width = index.run, kind.width

    def checked(frame: Frame, mask: Mask) -> Value:
        value = run(frame, mask)
        if np.ndim(value) == 2:
            raise Irregular
        number = value.astype(np.int64)
        wrong = np.broadcast_to((number < 0) | (number >= width), (machine.lanes,)) & mask.lanes
        if not wrong.any():
            return number if np.ndim(number) == 0 else np.where(mask.lanes, number, 0)
        lane = int(np.flatnonzero(wrong)[0])
        subscript = int(np.broadcast_to(number, (machine.lanes,))[lane])
        example = Sentence("subscript {subscript}, {item}", subscript=subscript, item=machine.item_name(lane))
        text = Sentence("subscript outside a vector, which has {width} components", width=width)
        machine.findings.add(BOUNDS, position, text, example, count=int(wrong.sum()))
        return number.clip(0, width - 1)

    return checked


def component_in_memory(machine: Machine, base: MemoryPlace, index: Code, position: Position) -> MemoryPlace:
    """`p->v[i]`: only the component moves, not the vector."""
    assert isinstance(base.type, Vector)
    element, address = base.type.element, base.address
    number = checked_index(machine, index, base.type, position)

    def moved(frame: Frame, mask: Mask) -> Value:
        return address(frame, mask) + number(frame, mask) * np.int64(element.size)

    kind = lying_at(element, element.size, base.type)
    return MemoryPlace(machine, kind, moved, base.space, base.constant, position, base.counted)
