"""Compiles lvalues: expressions that can be assigned to or have an address."""

import numpy as np

from ..clc.layout import check_has_values
from ..clc.lexer import Position
from ..clc.tree import (
    Assign,
    Call,
    Cast,
    Comma,
    Conditional,
    Expression,
    Index,
    InitList,
    Member,
    Name,
    StatementExpression,
    Text,
    Unary,
)
from ..clc.types import CHAR, INT, Array, Pointer, Scalar, Space, Struct, Type, Vector, Void, lying_at, vector_of
from .arithmetic import binary
from .compiled_code import Code, Frame, Memory, Place, Register, RegisterArray, Value
from .context import Context
from .convert import change
from .masks import Mask
from .part_places import BitFieldPlace, ComponentPlace, checked_index, component_in_memory
from .places import CellPlace, MemoryPlace, RegisterPlace, SwizzlePlace, pick, swizzle


def whole_of(expression: Expression) -> Expression:
    """The struct or vector that a member is a part of; without members, the expression itself."""
    while isinstance(expression, Member) and not expression.arrow:
        expression = expression.base
    return expression


class PlaceCompiler(Context):
    """Adds places to the compiler's state."""

    def read(self, expression: Expression) -> Code:
        """The value of a place; arrays become pointers to their first element."""
        if isinstance(expression, Member) and not self.is_place(expression.base) and not expression.arrow:
            base = self.value(expression.base)
            if isinstance(base.type, Vector):
                return self.components_of_value(base, base.type, expression)
        if isinstance(expression, Index) and not self.is_place(expression.base):
            base = self.value(expression.base)
            if isinstance(base.type, Vector):
                return self.component_of_value(base, base.type, expression)
        return self.read_place(self.place(expression))

    def read_place(self, place: Place) -> Code:
        locate, load = place.locate, place.load
        if isinstance(place, BitFieldPlace):
            kind = place.read_type
            return change(Code(place.type, lambda frame, mask: load(frame, mask, locate(frame, mask))), kind)
        if isinstance(place.type, Array):
            return Code(Pointer(place.type.element, place.space, place.constant, volatile=place.volatile), locate)
        return Code(place.type, lambda frame, mask: load(frame, mask, locate(frame, mask)))

    def is_place(self, expression: Expression) -> bool:
        whole = whole_of(expression)
        return isinstance(whole, Name | Index | Member) or (isinstance(whole, Unary) and whole.operator == "*")

    def has_address(self, expression: Expression) -> bool:
        """Whether & may stand before a place: not if it is a struct that was computed, or a part of one."""
        whole = whole_of(expression)
        return self.is_place(whole) or (isinstance(whole, Cast) and isinstance(whole.operand, InitList))

    def components_of_value(self, base: Code, kind: Vector, expression: Member) -> Code:
        run, parts = base.run, swizzle(expression.name, kind, expression.position, target=False)
        return Code(vector_of(kind.element, len(parts)), lambda frame, mask: pick(run(frame, mask), parts))

    def component_of_value(self, base: Code, kind: Vector, expression: Index) -> Code:
        """`(a + b)[i]`."""
        machine, run = self.machine, base.run
        index = checked_index(machine, self.subscript(expression.index), kind, expression.position)

        def chosen(frame: Frame, mask: Mask) -> Value:
            number, value = index(frame, mask), run(frame, mask)
            if np.ndim(number) == 0:
                return pick(value, (int(number),))
            return np.broadcast_to(value, (kind.width, machine.lanes))[number, np.arange(machine.lanes)]

        return Code(kind.element, chosen)

    def place(self, expression: Expression) -> Place:
        match expression:
            case Name():
                return self.place_of_name(expression)
            case Index():
                return self.place_of_index(expression)
            case Member():
                return self.place_of_member(expression)
            case Unary(operator="*"):
                return self.place_of_pointer(self.value(expression.operand), expression.position)
            case Cast(operand=InitList()):
                return self.literal(expression)
            case Call() | Cast() | Conditional() | Assign() | Comma() | StatementExpression():
                code = self.value(expression)
                if isinstance(code.type, Struct):
                    return self.temporary(code, expression.position)
        raise expression.position.error("this cannot be assigned to, nor has it an address")

    def temporary(self, code: Code, position: Position) -> Place:
        """A struct returned by a function, stored in memory so that its members can be accessed."""
        segment = self.machine.memory.private("a temporary", code.type.size, position)
        address, run = segment.address, code.run
        place = MemoryPlace(self.machine, code.type, lambda frame, mask: address, Space.PRIVATE, True, position, False)

        def filled(frame: Frame, mask: Mask) -> Value:
            place.store(frame, mask, address, run(frame, mask))
            return address

        return MemoryPlace(self.machine, code.type, filled, Space.PRIVATE, True, position, False)

    def place_of_name(self, expression: Name) -> Place:
        symbol = self.find(expression.name, expression.position)
        match symbol:
            case Register():
                return RegisterPlace(self.machine, symbol, expression.name, expression.position)
            case Memory():
                counted = symbol.space is not Space.PRIVATE
                place = MemoryPlace(
                    self.machine,
                    symbol.type,
                    symbol.address,
                    symbol.space,
                    symbol.constant,
                    expression.position,
                    counted,
                )
                place.volatile = symbol.volatile
                return place
            case RegisterArray():
                raise expression.position.error(f"array {expression.name!r} has no value of its own")

    def place_of_pointer(self, pointer: Code, position: Position) -> Place:
        if not isinstance(pointer.type, Pointer):
            raise position.error(f"{pointer.type} is no pointer")
        if isinstance(pointer.type.target, Void):
            raise position.error("a pointer to void points to nothing that has a value")
        check_has_values(pointer.type.target, position)
        place = MemoryPlace(
            self.machine, pointer.type.target, pointer.run, pointer.type.space, pointer.type.constant, position
        )
        place.volatile = pointer.type.volatile
        return place

    def place_of_index(self, expression: Index) -> Place:
        subscripts: list[Expression] = []
        base: Expression = expression
        while isinstance(base, Index):
            subscripts.insert(0, base.index)
            base = base.base
        if isinstance(base, Name):
            symbol = self.find(base.name, base.position)
            if isinstance(symbol, RegisterArray):
                codes = [self.subscript(each) for each in subscripts[: len(symbol.lengths)]]
                place: Place = CellPlace(self.machine, symbol, codes, base.name, expression.position)
                for each in subscripts[len(symbol.lengths) :]:
                    place = self.place_within(place, self.subscript(each), expression.position)
                return place
        index = self.subscript(expression.index)
        if isinstance(expression.base, Name) or not self.is_place(expression.base):
            pointer = self.value(expression.base)
            if isinstance(pointer.type, Vector):
                return self.component(self.place(expression.base), index, expression.position)
        else:
            return self.place_within(self.place(expression.base), index, expression.position)
        return self.place_behind(pointer, index, expression.position)

    def place_within(self, base: Place, index: Code, position: Position) -> Place:
        """A component of a vector, or an element of an array or behind a pointer."""
        if isinstance(base.type, Vector):
            return self.component(base, index, position)
        return self.place_behind(self.read_place(base), index, position)

    def place_behind(self, pointer: Code, index: Code, position: Position) -> Place:
        if isinstance(pointer.type, Scalar) and isinstance(index.type, Pointer):
            pointer, index = index, pointer
        if not isinstance(pointer.type, Pointer):
            raise position.error(f"{pointer.type} takes no subscript")
        return self.place_of_pointer(binary("+", pointer, index, position, self.machine), position)

    def component(self, base: Place, index: Code, position: Position) -> Place:
        """One component of a vector, by its number."""
        if not isinstance(base.type, Vector):
            raise position.error(f"{base.type} takes no subscript")
        if index.constant is not None and 0 <= int(index.constant) < base.type.width:
            return self.components_at(base, (int(index.constant),), position)
        if isinstance(base, MemoryPlace):
            return component_in_memory(self.machine, base, index, position)
        return ComponentPlace(self.machine, base, index, position)

    def subscript(self, expression: Expression) -> Code:
        code = self.value(expression)
        if not isinstance(code.type, Scalar | Pointer) or (isinstance(code.type, Scalar) and code.type.is_float):
            raise expression.position.error(f"a subscript must be an integer, not {code.type}")
        if code.boolean:
            return change(code, INT)
        return code

    def place_of_member(self, expression: Member) -> Place:
        if expression.arrow:
            base = self.place_of_pointer(self.value(expression.base), expression.position)
        else:
            base = self.place(expression.base)
        if isinstance(base.type, Vector):
            return self.components(base, expression)
        if not isinstance(base.type, Struct) or not isinstance(base, MemoryPlace):
            raise expression.position.error(f"{base.type} has no members")
        field = base.type.field_of(expression.name)
        if field is None:
            raise expression.position.error(f"{base.type} has no member {expression.name!r}")
        kind = lying_at(field.type, field.offset, base.type)
        moved = self.moved_place(base, kind, field.offset, expression.position)
        moved.volatile = moved.volatile or field.volatile
        return BitFieldPlace(moved, field, moved.address, expression.position) if field.bits else moved

    def components(self, base: Place, expression: Member) -> Place:
        assert isinstance(base.type, Vector)
        parts = swizzle(expression.name, base.type, expression.position, target=False)
        return self.components_at(base, parts, expression.position)

    def components_at(self, base: Place, parts: tuple[int, ...], position: Position) -> Place:
        assert isinstance(base.type, Vector)
        consecutive = parts == tuple(range(parts[0], parts[0] + len(parts)))
        if isinstance(base, MemoryPlace) and consecutive and len(parts) in (1, 2, 4, 8, 16):
            element = base.type.element
            narrow = Vector(element, len(parts), element.size) if len(parts) > 1 else element
            offset = parts[0] * element.size
            return self.moved_place(base, lying_at(narrow, offset, base.type), offset, position)
        return SwizzlePlace(base, parts)

    def moved_place(self, base: MemoryPlace, kind: Type, offset: int, position: Position) -> MemoryPlace:
        address, step = base.address, np.int64(offset)

        def moved(frame: Frame, mask: Mask) -> Value:
            return address(frame, mask) + step

        run = moved if offset else address
        place = MemoryPlace(self.machine, kind, run, base.space, base.constant, position, base.counted)
        place.volatile = base.volatile
        return place

    def writable(self, expression: Expression) -> Place:
        place = self.place(expression)
        if place.constant or place.space is Space.CONSTANT:
            raise expression.position.error("this is const and cannot be written")
        if (
            isinstance(expression, Member)
            and isinstance(place, SwizzlePlace)
            and len(set(place.parts)) < len(place.parts)
        ):
            raise expression.position.error(f".{expression.name} assigns one component twice")
        return place

    def type_of(self, expression: Expression) -> Type:
        if isinstance(expression, Name):
            symbol = self.find(expression.name, expression.position)
            if isinstance(symbol, RegisterArray):
                kind = symbol.element
                for length in reversed(symbol.lengths):
                    kind = Array(kind, length)
                return kind
            return symbol.type
        if isinstance(expression, Index | Member) and self.is_place(expression):
            place = self.place(expression)
            if isinstance(place, BitFieldPlace):
                raise expression.position.error("a bit-field has no size and no type of its own")
            return place.type
        if isinstance(expression, Text):
            return Array(CHAR, len(expression.text) + 1)
        return self.value(expression).type
