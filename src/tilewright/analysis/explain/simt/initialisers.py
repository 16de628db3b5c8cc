"""Takes initialisers apart: which value goes to which byte (C99, 6.7.8), with or without inner braces."""

from typing import NamedTuple

from ..clc.tree import Expression, InitList, Number, Text, VectorLiteral
from ..clc.types import Array, Field, Scalar, Struct, Type, Vector, lying_at
from .compiled_code import Code
from .expressions import ExpressionCompiler


class Item(NamedTuple):
    """A value at an offset in bytes; `field` is the bit-field that it fills."""

    offset: int
    type: Type
    expression: Expression
    field: Field | None = None


class Slot(NamedTuple):
    """Where a member or element of an aggregate lies."""

    offset: int
    type: Type
    field: Field | None = None


def count_of(kind: Array | Struct) -> int:
    """How many values a list without designators may give."""
    return kind.length if isinstance(kind, Array) else min(len(kind.fields), 1) if kind.union else len(kind.fields)


def slot_of(kind: Array | Struct, number: int) -> Slot:
    if isinstance(kind, Array):
        return Slot(number * kind.element.size, kind.element)
    field = kind.fields[number]
    return Slot(field.offset, lying_at(field.type, field.offset, kind), field if field.bits else None)


class InitialiserCompiler(ExpressionCompiler):
    """Adds initialisers to the expressions."""

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

    def flatten(self, kind: Type, expression: Expression, offset: int = 0, field: Field | None = None) -> list[Item]:
        """The parts of an initialiser with their byte offsets; what it does not name stays zero."""
        if isinstance(kind, Array):
            if isinstance(expression, InitList) and len(expression.items) == 1 and _is_text(kind, expression):
                expression = expression.items[0][1]
            if isinstance(expression, Text):
                return characters(kind, expression, offset)
            if not isinstance(expression, InitList):
                raise expression.position.error("an array is initialised by braces")
        if isinstance(kind, Array | Struct) and isinstance(expression, InitList):
            return self.flatten_list(kind, expression, offset)
        return [Item(offset, kind, expression, field)]

    def flatten_list(self, kind: Array | Struct, items: InitList, offset: int) -> list[Item]:
        out: list[Item] = []
        at = index = 0
        while index < len(items.items):
            designator, item = items.items[index]
            if isinstance(designator, str):
                at, item = self.designated_member(kind, designator, item)
            elif isinstance(designator, int):
                at = designator
            if designator is None and at >= count_of(kind):
                raise item.position.error(f"more initial values than the {count_of(kind)} of {kind}")
            if isinstance(designator, int) and not 0 <= at < count_of(kind):
                raise item.position.error(f"index {at} is outside {kind}")
            index = self.fill_slot(slot_of(kind, at), item, items, index, offset, out)
            at += 1
        return out

    def fill_slot(self, slot: Slot, item: Expression, items: InitList, index: int, offset: int, out: list[Item]) -> int:
        """Fills a member or element by `item`, or by as many values from there on as it has room for. The number of the
        next one."""
        if self.is_whole(slot.type, item):
            out += self.flatten(slot.type, item, offset + slot.offset, slot.field)
            return index + 1
        assert isinstance(slot.type, Array | Struct)
        return self.fill(slot.type, items, index, offset + slot.offset, out)

    def designated_member(self, kind: Array | Struct, name: str, item: Expression) -> tuple[int, Expression]:
        """The number of a member; one of an anonymous member becomes a list for that."""
        found = kind.field_of(name) if isinstance(kind, Struct) else None
        if not isinstance(kind, Struct) or found is None:
            raise item.position.error(f"{kind} has no member {name!r}")
        for number, field in enumerate(kind.fields):
            if field.name == name:
                return number, item
            if not field.name and isinstance(field.type, Struct) and field.type.field_of(name) is not None:
                return number, InitList(item.position, ((name, item),))
        raise item.position.error(f"{kind} has no member {name!r}")

    def fill(self, kind: Array | Struct, items: InitList, index: int, offset: int, out: list[Item]) -> int:
        """An aggregate whose braces are left out takes as many values as it has room for. The number of the next one."""
        for number in range(count_of(kind)):
            if index >= len(items.items) or (number and items.items[index][0] is not None):
                break
            index = self.fill_slot(slot_of(kind, number), items.items[index][1], items, index, offset, out)
        return index

    def is_whole(self, kind: Type, item: Expression) -> bool:
        """Whether `item` initialises all of `kind`, and not its first part."""
        if not isinstance(kind, Array | Struct) or isinstance(item, InitList) or not count_of(kind):
            return True
        if isinstance(kind, Array):
            return isinstance(item, Text) and isinstance(kind.element, Scalar)
        return not isinstance(item, Number | Text) and self.type_of(item) == kind


def _is_text(kind: Array, expression: InitList) -> bool:
    return isinstance(kind.element, Scalar) and kind.element.size == 1 and isinstance(expression.items[0][1], Text)


def characters(kind: Array, text: Text, offset: int) -> list[Item]:
    element = kind.element
    if not isinstance(element, Scalar) or element.size != 1:
        raise text.position.error(f"a string initialises an array of char, not {kind}")
    if len(text.text) > kind.length:
        raise text.position.error(f"a string of {len(text.text)} characters does not fit into {kind}")
    return [
        Item(offset + index, element, Number(text.position, ord(letter), element))
        for index, letter in enumerate(text.text)
    ]
