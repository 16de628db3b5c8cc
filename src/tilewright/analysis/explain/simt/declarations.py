"""Compiles declarations and initialisers."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..clc.image_types import SAMPLER
from ..clc.tree import Expression, InitList, Name, Number, Text, Variable, VectorLiteral
from ..clc.types import Array, Scalar, Space, Struct, Type, Vector, element_of
from .address_taken import names
from .compiled_code import Code, Frame, Memory, Register, RegisterArray, Run, Value, flat_length
from .expressions import ExpressionCompiler
from .masks import Mask
from .places import memory_access
from .registers import Cells, all_unset, merge, unset_value, zero_of
from .segment_table import check_room
from .segments import Access, Segment

_LONGEST_REGISTER_ARRAY = 1 << 14
Item = tuple[int, Type, Expression]


class DeclarationCompiler(ExpressionCompiler):
    """Adds variables of every address space."""

    def variable(self, variable: Variable) -> Run:
        if variable.space is Space.LOCAL:
            return self.local_variable(variable)
        if variable.space is Space.GLOBAL:
            raise variable.position.error(f"{variable.name!r} cannot be declared in global memory here")
        if isinstance(variable.type, Array) and id(variable) not in self.state.addressed:
            element, lengths = flat_length(variable.type)
            if not isinstance(element, Struct) and int(np.prod(lengths)) <= _LONGEST_REGISTER_ARRAY:
                return self.register_array(variable, element, lengths)
        if isinstance(variable.type, Array | Struct) or id(variable) in self.state.addressed:
            return self.memory_variable(variable)
        return self.register(variable)

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
        if variable.initial is not None and names(variable.initial, variable.name):
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

    def initial_value(self, expression: Expression, kind: Type) -> Code:
        if isinstance(expression, InitList):
            if isinstance(kind, Vector):
                items = tuple(item for _, item in expression.items)
                return self.value(VectorLiteral(expression.position, kind, items))
            if len(expression.items) != 1:
                raise expression.position.error(f"{kind} takes one initial value")
            expression = expression.items[0][1]
        code = self.value(expression)
        self.check_assignable(code, kind, expression.position)
        return self.converted(code, kind, expression.position)

    def register_array(self, variable: Variable, element: Type, lengths: tuple[int, ...]) -> Run:
        machine, slot, length = self.machine, self.new_slot(), int(np.prod(lengths))
        items = [] if variable.initial is None else self.flatten(variable.type, variable.initial)
        size = element.size
        sources = [(offset // size, self.initial_value(value, kind).run) for offset, kind, value in items]
        self.declare(variable.name, RegisterArray(slot, element, lengths, variable.constant))
        initialised = variable.initial is not None

        def define(frame: Frame, mask: Mask) -> None:
            cells: Cells | None = frame.slots[slot]
            if cells is None:
                cells = frame.slots[slot] = Cells(machine, element, length)
            if not initialised:
                cells.clear(mask)
                return
            zero = zero_of(element)
            for index in range(length):
                cells.put(index, zero, mask, None)
            for index, source in sources:
                cells.put(index, source(frame, mask), mask, None)

        return define

    def memory_variable(self, variable: Variable) -> Run:
        """A private variable with an address: separate bytes for each lane."""
        segment = self.machine.memory.private(variable.name, variable.type.size, variable.position)
        address = segment.address
        items = [] if variable.initial is None else self.flatten(variable.type, variable.initial)
        stores = [self.store_at(address + np.int64(offset), kind, value) for offset, kind, value in items]
        access = self.bytes_access(variable)
        self.declare(
            variable.name, Memory(variable.type, lambda frame, mask: address, Space.PRIVATE, variable.constant)
        )
        machine, initialised = self.machine, variable.initial is not None
        whole = len(items) == 1 and items[0][1].size == variable.type.size
        zeros = np.zeros((access.count, 1), np.uint8)

        def define(frame: Frame, mask: Mask) -> None:
            if initialised and not whole:
                machine.memory.store(address, access, zeros, mask)
            elif not initialised:
                forget(segment, mask)
            for store in stores:
                store(frame, mask)

        return define

    def bytes_access(self, variable: Variable) -> Access:
        site = self.machine.memory.site(variable.position, "store", variable.type.size, 1)
        return Access(np.dtype(np.uint8), variable.type.size, 1, site, counted=False)

    def store_at(self, address: Any, kind: Type, expression: Expression) -> Run:
        code = self.value(expression) if isinstance(kind, Struct) else self.initial_value(expression, kind)
        source = code.run
        access = memory_access(self.machine, kind, expression.position, "store", counted=False)
        memory = self.machine.memory

        def store(frame: Frame, mask: Mask) -> None:
            memory.store(address, access, source(frame, mask), mask)

        return store

    def flatten(self, kind: Type, expression: Expression, offset: int = 0) -> list[Item]:
        """The parts of an initialiser with their byte offsets; what it does not name stays zero."""
        if isinstance(kind, Array):
            if isinstance(expression, Text):
                return self.characters(kind, expression, offset)
            if not isinstance(expression, InitList):
                raise expression.position.error("an array is initialised by braces")
            return self.flatten_array(kind, expression, offset)
        if isinstance(kind, Struct) and isinstance(expression, InitList):
            return self.flatten_struct(kind, expression, offset)
        return [(offset, kind, expression)]

    def flatten_array(self, kind: Array, items: InitList, offset: int) -> list[Item]:
        element, lengths = flat_length(kind)
        braced = any(isinstance(item, InitList | Text) for _, item in items.items)
        if len(lengths) > 1 and not braced:
            inner: Type = element
            count = int(np.prod(lengths))
        else:
            inner, count = kind.element, kind.length
        out: list[Item] = []
        at = 0
        for designator, item in items.items:
            at = designator if isinstance(designator, int) else at
            if at >= count:
                raise item.position.error(f"more initial values than the {count} elements of {kind}")
            out += self.flatten(inner, item, offset + at * inner.size)
            at += 1
        return out

    def flatten_struct(self, kind: Struct, items: InitList, offset: int) -> list[Item]:
        out: list[Item] = []
        at = 0
        for designator, item in items.items:
            if isinstance(designator, str):
                names = [field.name for field in kind.fields]
                if designator not in names:
                    raise item.position.error(f"{kind} has no member {designator!r}")
                at = names.index(designator)
            if at >= len(kind.fields):
                raise item.position.error(f"more initial values than {kind} has members")
            field = kind.fields[at]
            out += self.flatten(field.type, item, offset + field.offset)
            at += 1
        return out

    def characters(self, kind: Array, text: Text, offset: int) -> list[Item]:
        element = element_of(kind.element)
        assert isinstance(element, Scalar)
        return [
            (offset + index, element, Number(text.position, ord(letter), element))
            for index, letter in enumerate(text.text)
        ]

    def program_variable(self, variable: Variable) -> None:
        """A variable at program scope: constant memory, whose contents are known before the kernel starts."""
        kind = variable.type
        if variable.space not in (Space.CONSTANT, None) or (variable.space is None and not variable.constant):
            raise variable.position.error("a variable outside functions must be __constant")
        check_room(variable.name, Space.CONSTANT, kind.size, 1, variable.position)
        items = [] if variable.initial is None else self.flatten(kind, variable.initial)
        data = np.zeros(kind.size, np.uint8)
        everyone = Mask(np.ones(self.machine.lanes, bool))
        for offset, part, expression in items:
            value = self.initial_value(expression, part).run(Frame(0), everyone)
            raw = np.ascontiguousarray(np.asarray(value)).view(np.uint8).ravel()
            data[offset : offset + raw.size] = raw
        segment = self.machine.memory.buffer(variable.name, data, Space.CONSTANT, writable=False)
        address = segment.address
        space = Space.PRIVATE if kind == SAMPLER else Space.CONSTANT  # a sampler is no access to memory
        self.globals[variable.name] = Memory(kind, lambda frame, mask: address, space, True)


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
