"""Compiles the declarations of variables inside functions."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..clc.lexer import Position
from ..clc.tree import Cast, Expression, Name, Variable
from ..clc.types import Array, Space, Struct, Type
from ..clc.walk import names
from .cell_traffic import CellTraffic
from .compiled_code import Frame, Memory, Place, Register, RegisterArray, Run, Value, flat_length
from .initialisers import Item
from .lasting_variables import LastingCompiler
from .masks import Mask
from .part_places import BitFieldPlace
from .places import MemoryPlace
from .registers import Cells, all_unset, merge, unset_value, zero_of
from .segments import Access, Segment

_LONGEST_REGISTER_ARRAY = 1 << 14


class DeclarationCompiler(LastingCompiler):
    """Adds variables of every address space."""

    def variable(self, variable: Variable) -> Run:
        variable = self.with_known_type(variable)
        if variable.space is Space.LOCAL:
            return self.local_variable(variable)
        if variable.static or variable.space in (Space.GLOBAL, Space.CONSTANT):
            self.declare(variable.name, self.lasting(variable))
            return _nothing
        if isinstance(variable.type, Array) and id(variable) not in self.state.addressed:
            element, lengths = flat_length(variable.type)
            if not isinstance(element, Struct) and prod(lengths) <= _LONGEST_REGISTER_ARRAY:
                return self.register_array(variable, element, lengths)
        if isinstance(variable.type, Array | Struct) or id(variable) in self.state.addressed:
            return self.memory_variable(variable)
        return self.register(variable)

    def with_known_type(self, variable: Variable) -> Variable:
        """The variable with its `typeof` replaced."""
        kind = self.resolved(variable.type)
        if kind is variable.type:
            return variable
        known = replace(variable, type=kind)
        self.state.kept.append(known)
        if id(variable) in self.state.addressed or isinstance(kind, Array):
            self.state.addressed.add(id(known))
        return known

    def local_variable(self, variable: Variable) -> Run:
        """One copy for each work-group, allocated once. OpenCL C allows no initialiser."""
        if variable.initial is not None:
            raise variable.position.error("a local variable cannot have an initialiser")
        kind = self.with_pitch(variable)
        segment = self.machine.memory.local(variable.name, kind.size, variable.position)
        segment.row = row_of(kind)
        address = segment.address
        self.declare(variable.name, Memory(kind, lambda frame, mask: address, Space.LOCAL, variable.constant))
        return _nothing

    def with_pitch(self, variable: Variable) -> Type:
        """The variable's type, with the row length that a what-if question asks for."""
        pitch = self.pitches.pop(variable.name, None)
        if pitch is None:
            return variable.type
        element, lengths = flat_length(variable.type) if isinstance(variable.type, Array) else (variable.type, ())
        if len(lengths) < 2 or pitch < 1:
            raise variable.position.error(f"{variable.name!r} has no rows that could be {pitch} elements apart")
        kind = Array(element, pitch)
        for length in reversed(lengths[:-1]):
            kind = Array(kind, length)
        return kind

    def register(self, variable: Variable) -> Run:
        kind, machine = variable.type, self.machine
        if variable.initial is not None and (self.state.jumps or names(variable.initial, variable.name)):
            return self.self_initialised(variable, variable.initial)
        initial = None if variable.initial is None else self.initial_value(variable.initial, kind)
        slot = self.new_slot()
        self.declare(variable.name, Register(slot, kind, initial is None, variable.constant))
        if initial is not None:
            source = initial.run

            def define(frame: Frame, mask: Mask) -> None:
                value = source(frame, mask)
                frame.slots[slot] = value if machine.covers(mask) else merge(machine, mask, value, frame.slots[slot])

            return define
        nothing = unset_value(machine, kind)

        def leave_unset(frame: Frame, mask: Mask) -> None:
            now = all_unset(machine, kind)
            before = frame.unset[slot]
            frame.slots[slot] = merge(machine, mask, nothing, frame.slots[slot])
            if not machine.covers(mask):
                now = now & mask.lanes if before is None else before | mask.lanes
            frame.unset[slot] = now

        if self.state.jumps:
            self.state.before.append(leave_unset)
        return leave_unset

    def self_initialised(self, variable: Variable, initial: Expression) -> Run:
        """`int x = sizeof(x)`: the name is known in its own initialiser already, its value is not set."""
        leave_unset = self.register(replace(variable, initial=None))
        place = self.place_of_name(Name(variable.position, variable.name))
        source = self.initial_value(initial, variable.type).run

        def define(frame: Frame, mask: Mask) -> None:
            leave_unset(frame, mask)
            place.store(frame, mask, None, source(frame, mask))

        return define

    def register_array(self, variable: Variable, element: Type, lengths: tuple[int, ...]) -> Run:
        machine, slot, length = self.machine, self.new_slot(), prod(lengths)
        segment, traffic = None, None
        if id(variable) in self.off_chip:
            segment = machine.memory.without_bytes(variable.name, variable.type.size)
            traffic = CellTraffic(machine, segment, element, variable.position)
        self.declare(variable.name, RegisterArray(slot, element, lengths, variable.constant, segment))
        items = [] if variable.initial is None else self.flatten(variable.type, variable.initial)
        size = element.size
        sources = [(each.offset // size, self.initial_value(each.expression, each.type).run) for each in items]
        initialised = variable.initial is not None

        def define(frame: Frame, mask: Mask) -> None:
            cells: Cells | None = frame.slots[slot]
            if cells is None:
                cells = frame.slots[slot] = Cells(machine, element, length)
            if not initialised:
                cells.clear(mask)
                return
            zero = zero_of(element)
            if traffic is not None:
                traffic.count_all(length, mask)
            for index in range(length):
                cells.put(index, zero, mask, None)
            for index, source in sources:
                cells.put(index, source(frame, mask), mask, None)

        def make(frame: Frame, mask: Mask) -> None:
            cells = frame.slots[slot] = Cells(machine, element, length)
            cells.clear(mask)

        if self.state.jumps:
            self.state.before.append(make)
        return define

    def memory_variable(self, variable: Variable) -> Run:
        """A private variable with an address: separate bytes for each lane."""
        segment = self.machine.memory.private(variable.name, variable.type.size, variable.position)
        address, kind = segment.address, variable.type
        segment.off_chip = id(variable) in self.off_chip
        self.declare(variable.name, Memory(kind, lambda frame, mask: address, Space.PRIVATE, variable.constant))
        fill = None if variable.initial is None else self.filling(segment, kind, variable.initial, variable.position)

        def leave_unset(frame: Frame, mask: Mask) -> None:
            forget(segment, mask)

        return leave_unset if fill is None else fill

    def filling(self, segment: Segment, kind: Type, initial: Expression, position: Position) -> Run:
        """Stores an initialiser; what it does not name becomes zero."""
        items = self.flatten(kind, initial)
        stores = [self.store_at(segment.address + np.int64(each.offset), each) for each in items]
        access = Access(
            np.dtype(np.uint8), kind.size, 1, self.machine.memory.site(position, "store", kind.size, 1), counted=False
        )
        whole = len(items) == 1 and items[0].type.size == kind.size and items[0].field is None
        zero, memory = np.uint8(0), self.machine.memory

        def fill(frame: Frame, mask: Mask) -> None:
            if not whole:
                memory.store(segment.address, access, zero, mask)
            for store in stores:
                store(frame, mask)

        return fill

    def literal(self, expression: Cast) -> Place:
        """`(struct S){1, 2}`: an object without a name, filled where it stands."""
        kind, position = self.resolved(expression.type), expression.position
        segment = self.machine.memory.private("a literal", kind.size, position)
        fill, address = self.filling(segment, kind, expression.operand, position), segment.address

        def filled(frame: Frame, mask: Mask) -> Value:
            fill(frame, mask)
            return address

        return MemoryPlace(self.machine, kind, filled, Space.PRIVATE, False, position, False)

    def store_at(self, address: Any, item: Item) -> Run:
        kind, expression, machine = item.type, item.expression, self.machine
        code = self.value(expression) if isinstance(kind, Struct) else self.initial_value(expression, kind)
        if isinstance(kind, Struct):
            self.check_assignable(code, kind, expression.position)
        source = code.run
        place: Place = MemoryPlace(
            machine, kind, lambda frame, mask: address, Space.PRIVATE, False, expression.position, False
        )
        if item.field is not None:
            assert isinstance(place, MemoryPlace)
            place = BitFieldPlace(place, item.field, place.address, expression.position)

        def store(frame: Frame, mask: Mask) -> None:
            place.store(frame, mask, address, source(frame, mask))

        return store


def row_of(kind: Type) -> tuple[int, int]:
    """(bytes of a row, bytes of an element) of an array of rows; (0, 0) of anything else."""
    if isinstance(kind, Array):
        element, lengths = flat_length(kind)
        if len(lengths) > 1:
            return element.size * lengths[-1], element.size
    return 0, 0


def _nothing(frame: Frame, mask: Mask) -> Value:
    return None


def forget(segment: Segment, mask: Mask) -> None:
    """The lanes of `mask` declare a private variable anew: its bytes are unset."""
    unset = segment.unset
    assert unset is not None
    assert segment.base is not None
    room = len(unset.written) * unset.granule // len(segment.base)
    unset.written.reshape(len(segment.base), room // unset.granule)[mask.indices] = False
