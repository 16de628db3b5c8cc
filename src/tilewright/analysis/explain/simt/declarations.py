"""Compiles the declarations of variables inside functions."""

from dataclasses import replace
from math import prod

import numpy as np

from ..clc.tree import Cast, Expression, Name, Variable
from ..clc.types import Array, Space, Struct, Type
from ..clc.walk import names
from .cell_traffic import CellTraffic
from .compiled_code import Frame, Memory, Place, Register, RegisterArray, Run, Value, flat_length
from .initialisers import Item
from .lasting_variables import LastingCompiler
from .masks import Mask
from .part_places import BitFieldPlace
from .places import MemoryPlace, memory_access
from .registers import Cells, all_unset, merge, unset_value, zero_of
from .segments import Segment

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
        self.declare(
            variable.name, Memory(kind, lambda frame, mask: address, Space.LOCAL, variable.constant, variable.volatile)
        )
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
        sources = [
            ((each.places // size).tolist(), self.initial_value(each.expression, each.type).run) for each in items
        ]
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
            for indices, source in sources:
                value = source(frame, mask)
                for index in indices:
                    cells.put(index, value, mask, None)

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
        self.declare(
            variable.name,
            Memory(kind, lambda frame, mask: address, Space.PRIVATE, variable.constant, variable.volatile),
        )
        fill = None if variable.initial is None else self.filling(segment, kind, variable.initial)

        def leave_unset(frame: Frame, mask: Mask) -> None:
            forget(segment, mask)

        return leave_unset if fill is None else fill

    def filling(self, segment: Segment, kind: Type, initial: Expression) -> Run:
        """Stores an initialiser; what it does not name becomes zero."""
        items = self.flatten(kind, initial)
        stores = [self.repeated(segment, each) if each.repeats else self.store_at(segment, each) for each in items]

        whole = len(items) == 1 and items[0].type.size == kind.size and items[0].field is None

        def fill(frame: Frame, mask: Mask) -> None:
            if not whole:
                clear(segment, mask)
            for store in stores:
                store(frame, mask)

        return fill

    def literal(self, expression: Cast) -> Place:
        """`(struct S){1, 2}`: an object without a name, filled where it stands."""
        kind, position = self.resolved(expression.type), expression.position
        segment = self.machine.memory.private("a literal", kind.size, position)
        fill, address = self.filling(segment, kind, expression.operand), segment.address

        def filled(frame: Frame, mask: Mask) -> Value:
            fill(frame, mask)
            return address

        return MemoryPlace(self.machine, kind, filled, Space.PRIVATE, False, position, False)

    def value_of(self, item: Item) -> Run:
        if not isinstance(item.type, Struct):
            return self.initial_value(item.expression, item.type).run
        code = self.value(item.expression)
        self.check_assignable(code, item.type, item.expression.position)
        return code.run

    def store_at(self, segment: Segment, item: Item) -> Run:
        kind, expression, machine = item.type, item.expression, self.machine
        source, address = self.value_of(item), segment.address + np.int64(item.offset)
        place: Place = MemoryPlace(
            machine, kind, lambda frame, mask: address, Space.PRIVATE, False, expression.position, False
        )
        if item.field is not None:
            assert isinstance(place, MemoryPlace)
            place = BitFieldPlace(place, item.field, place.address, expression.position)

        def store(frame: Frame, mask: Mask) -> None:
            place.store(frame, mask, address, source(frame, mask))

        return store

    def repeated(self, segment: Segment, item: Item) -> Run:
        """Stores one value at all places of an item."""
        if item.field is not None:
            stores = [self.store_at(segment, item._replace(offset=int(place), repeats=())) for place in item.places]
            return lambda frame, mask: [store(frame, mask) for store in stores]
        source = self.value_of(item)
        access = memory_access(self.machine, item.type, item.expression.position, "store", counted=False)

        def store(frame: Frame, mask: Mask) -> None:
            values = np.broadcast_to(source(frame, mask), (access.count, self.machine.lanes))[:, mask.indices].T
            own = item.view(segment.data, self.machine.lanes, access.dtype, access.count)
            own[mask.indices] = values.reshape(len(values), *(1,) * len(item.repeats), access.count)

        return store


def clear(segment: Segment, mask: Mask) -> None:
    """The bytes of a private variable in the lanes of `mask` become zeros that are set."""
    assert segment.base is not None
    segment.data.reshape(len(segment.base), -1)[mask.indices] = 0
    set_all(segment, mask, True)


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
    set_all(segment, mask, False)


def set_all(segment: Segment, mask: Mask, written: bool) -> None:
    unset = segment.unset
    assert unset is not None
    assert segment.base is not None
    unset.written.reshape(len(segment.base), -1)[mask.indices] = written
