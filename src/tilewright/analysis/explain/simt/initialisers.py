"""Takes initialisers apart: which value goes to which byte (C99, 6.7.8), with or without inner braces."""

from typing import Any, NamedTuple

import numpy as np

from ..clc.lexer import Position
from ..clc.tree import Designators, Expression, InitList, Number, Span, Text
from ..clc.types import INT, UCHAR, Array, Field, Pointer, Scalar, Struct, Type, Vector, lying_at
from .compiled_code import Code
from .expressions import ExpressionCompiler


class Item(NamedTuple):
    """A value at an offset in bytes; `field` is the bit-field that it fills. `repeats` are (elements, bytes to the next).
    The value is computed once, and stands at the offset and in the elements before it. `unions` are those around it, by offset
    and identity, and the number of the member in each."""

    offset: int
    type: Type
    expression: Expression
    field: Field | None = None
    repeats: tuple[tuple[int, int], ...] = ()
    unions: tuple[tuple[tuple[int, int], int], ...] = ()

    @property
    def places(self) -> "np.typing.NDArray[np.int64]":
        """All offsets of the value."""
        return offsets(self.offset, self.repeats)

    def touches(self, begin: int, end: int) -> bool:
        """Whether one of its places has bytes between two offsets."""
        places = self.places
        return bool(((places < end) & (places + self.type.size > begin)).any())

    def view(self, data: "np.typing.NDArray[np.uint8]", copies: int, dtype: "np.dtype[Any]", count: int) -> Any:
        """All places of the value, `count` elements of `dtype`, in the `copies` of a variable: (copies, ..., count)."""
        first = self.offset - sum((each - 1) * stride for each, stride in self.repeats)
        shape, strides = [each for each, _ in self.repeats], [stride for _, stride in self.repeats]
        steps = (data.size // copies, *strides, dtype.itemsize)
        return np.ndarray((copies, *shape, count), dtype, data.data, first, steps)


class Slot(NamedTuple):
    """Where a member or element of an aggregate lies."""

    offset: int
    type: Type
    field: Field | None = None


class Level(NamedTuple):
    """An aggregate at an offset, and the number of the part that a designator names."""

    kind: Array | Struct
    number: int
    offset: int


class Located(NamedTuple):
    """What designators name: the last of its places, how it is repeated, and the aggregates around it from outside."""

    slot: Slot
    repeats: tuple[tuple[int, int], ...]
    levels: list[Level]

    def unions(self, offset: int) -> list[tuple[Level, tuple[int, int]]]:
        """The unions among the aggregates, by offset and identity."""
        return [
            (each, (offset + each.offset, each.kind.identity))
            for each in self.levels
            if isinstance(each.kind, Struct) and each.kind.union
        ]

    def emptied(self, before: list[Item], offset: int) -> list[Slot]:
        """What is gone then: the outermost union that holds another member so far, or what a union that has its value from an
        expression holds behind the member."""
        out: list[Slot] = []
        for level, key in self.unions(offset):
            assert isinstance(level.kind, Struct)
            slot, size = Slot(level.offset, level.kind), level.kind.fields[level.number].type.size
            if is_value(slot, before, offset):
                out.append(Slot(level.offset + size, Array(UCHAR, level.kind.size - size)))
            elif filled_member(before, key) not in (None, level.number):
                return [*out, slot]
        return [each for each in out if each.type.size]


def filled_member(items: list[Item], union: tuple[int, int]) -> int | None:
    """The number of the member that was filled last in a union. A range may have several such unions."""
    for item in reversed(items):
        for (offset, identity), number in item.unions:
            if identity == union[1] and union[0] in offsets(offset, item.repeats):
                return number
    return None


def offsets(last: int, repeats: tuple[tuple[int, int], ...]) -> "np.typing.NDArray[np.int64]":
    """All places of what stands at `last`, and in the elements before it."""
    out = np.array([last], np.int64)
    for count, stride in repeats:
        out = (out[:, None] - stride * np.arange(count, dtype=np.int64)).ravel()
    return out


def is_value(slot: Slot, before: list[Item], offset: int) -> bool:
    """Whether a struct has its value from an expression so far, or is a part of one that has."""
    if not any(isinstance(each.type, Struct) for each in before):
        return False
    begin = offset + slot.offset
    last = next((each for each in reversed(before) if each.touches(begin, begin + slot.type.size)), None)
    return last is not None and isinstance(last.type, Struct)


def count_of(kind: Array | Struct) -> int:
    """How many values a list without designators may give."""
    return kind.length if isinstance(kind, Array) else min(len(kind.fields), 1) if kind.union else len(kind.fields)


def slot_of(kind: Array | Struct, number: int) -> Slot:
    if isinstance(kind, Array):
        return Slot(number * kind.element.size, kind.element)
    field = kind.fields[number]
    return Slot(field.offset, lying_at(field.type, field.offset, kind), field if field.bits else None)


def located(kind: Array | Struct, designators: Designators, position: Position) -> Located:
    slot, levels, repeats = Slot(0, kind), list[Level](), list[tuple[int, int]]()
    for each in designators:
        for number in numbers_of(slot.type, each, position):
            assert isinstance(slot.type, Array | Struct)
            levels.append(Level(slot.type, number, slot.offset))
            inner = slot_of(slot.type, number)
            slot = Slot(slot.offset + inner.offset, inner.type, inner.field)
        if isinstance(each, Span) and each.first < each.last:
            repeats.append((each.last - each.first + 1, slot.type.size))
    return Located(slot, tuple(repeats), levels)


def numbers_of(kind: Type, designator: str | Span, position: Position) -> list[int]:
    """The number of the last element or of the member that is named, inside of those of anonymous members."""
    if isinstance(designator, Span):
        if not isinstance(kind, Array):
            raise position.error(f"{kind} has no element {designator.last}")
        for index in (designator.first, designator.last):
            if not 0 <= index < kind.length:
                raise position.error(f"index {index} is outside {kind}")
        return [designator.last]
    for number, field in enumerate(kind.fields if isinstance(kind, Struct) else ()):
        if field.name == designator:
            return [number]
        if not field.name and isinstance(field.type, Struct) and field.type.field_of(designator) is not None:
            return [number, *numbers_of(field.type, designator, position)]
    raise position.error(f"{kind} has no member {designator!r}")


class InitialiserCompiler(ExpressionCompiler):
    """Adds initialisers to the expressions."""

    def initial_value(self, expression: Expression, kind: Type) -> Code:
        if isinstance(expression, InitList):
            return self.braced(expression, kind)
        code = self.value(expression)
        self.check_assignable(code, kind, expression.position)
        return self.converted(code, kind, expression.position)

    def braced(self, items: InitList, kind: Type) -> Code:
        """`{...}` for what is no aggregate: each component of a vector, or one value, inside of any braces."""
        if any(designators for designators, _ in items.items):
            raise items.position.error(f"{kind} takes no designators")
        values = [item for _, item in items.items]
        if not values and isinstance(kind, Scalar | Vector | Pointer):
            return self.converted(self.value(Number(items.position, 0, INT)), kind, items.position)
        if isinstance(kind, Vector):
            element = kind.element
            codes = [self.braced(each, element) if isinstance(each, InitList) else self.value(each) for each in values]
            return self.vector_of_codes(kind, codes, items.position)
        if not values:
            raise items.position.error(f"{kind} takes one initial value")
        for each in values[1:]:
            self.unused(each)
        return self.initial_value(values[0], kind)

    def unused(self, item: Expression) -> None:
        """An initial value for which there is no room: drivers warn, and compute nothing."""
        if isinstance(item, InitList):
            for _, each in item.items:
                self.unused(each)
        else:
            self.value(item)

    def flatten(self, kind: Type, expression: Expression, offset: int = 0, field: Field | None = None) -> list[Item]:
        """The parts of an initialiser with their byte offsets; what it does not name stays zero."""
        if isinstance(kind, Array):
            if isinstance(expression, InitList) and _is_text(kind, expression):
                for _, each in expression.items[1:]:
                    self.unused(each)
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
        again = any(designators for designators, _ in items.items)
        while index < len(items.items):
            if items.items[index][0]:
                at, index = self.designated(kind, items, index, offset, out)
            elif at >= count_of(kind):  # Clang looks at nothing that comes after it, designators included
                for _, each in items.items[index:]:
                    self.unused(each)
                break
            else:
                index = self.fill_slot(slot_of(kind, at), items, index, offset, out, again)
            at += 1
        if isinstance(kind, Struct) and kind.union:
            own = (offset, kind.identity)
            return [
                each if own in dict(each.unions) else each._replace(unions=((own, 0), *each.unions)) for each in out
            ]
        return out

    def designated(
        self, kind: Array | Struct, items: InitList, index: int, offset: int, out: list[Item]
    ) -> tuple[int, int]:
        """Fills what the designators of an item name, and what comes after it inside of that part of `kind`. The number of the
        part, and that of the next item."""
        designators, item = items.items[index]
        place, begin = located(kind, designators, item.position), len(out)
        out += [zeros(slot, offset, item.position) for slot in place.emptied(out, offset)]
        index = self.fill_slot(place.slot, items, index, offset, out, bool(out))
        unions = tuple((key, level.number) for level, key in place.unions(offset))
        out[begin:] = [
            each._replace(repeats=(*place.repeats, *each.repeats), unions=(*unions, *each.unions))
            for each in out[begin:]
        ]
        for level in reversed(place.levels[1:]):
            index = self.fill(level.kind, items, index, offset + level.offset, out, level.number + 1, True)
        return place.levels[0].number, index

    def fill_slot(
        self, slot: Slot, items: InitList, index: int, offset: int, out: list[Item], again: bool = False
    ) -> int:
        """Fills a member or element by an item, or by as many from there on as it has room for. The number of the next one.
        `again` says that parts of it may have been filled before: braces forget them."""
        item = items.items[index][1]
        if again and isinstance(item, InitList) and isinstance(slot.type, Array | Struct):
            out.append(zeros(slot, offset, item.position))
        if self.is_whole(slot.type, item):
            out += self.flatten(slot.type, item, offset + slot.offset, slot.field)
            return index + 1
        assert isinstance(slot.type, Array | Struct)
        if again and isinstance(slot.type, Struct) and is_value(slot, out, offset):
            out.append(zeros(slot, offset, item.position))
        return self.fill(slot.type, items, index, offset + slot.offset, out, again=again)

    def fill(
        self,
        kind: Array | Struct,
        items: InitList,
        index: int,
        offset: int,
        out: list[Item],
        first: int = 0,
        again: bool = False,
    ) -> int:
        """An aggregate whose braces are left out takes as many values as it has room for. The number of the next one."""
        begin = len(out)
        key = (offset, kind.identity) if isinstance(kind, Struct) and kind.union and not first else None
        if again and key is not None and filled_member(out, key):
            out.append(zeros(Slot(0, kind), offset, items.items[index][1].position))
        for number in range(first, count_of(kind)):
            if index >= len(items.items) or (number and items.items[index][0]):
                break
            index = self.fill_slot(slot_of(kind, number), items, index, offset, out, again)
        if key is not None:
            out[begin:] = [each._replace(unions=((key, 0), *each.unions)) for each in out[begin:]]
        return index

    def is_whole(self, kind: Type, item: Expression) -> bool:
        """Whether `item` initialises all of `kind`, and not its first part."""
        if not isinstance(kind, Array | Struct) or isinstance(item, InitList) or not count_of(kind):
            return True
        if isinstance(kind, Array):
            return isinstance(item, Text) and isinstance(kind.element, Scalar)
        return not isinstance(item, Number | Text) and self.type_of(item) == kind


def zeros(slot: Slot, offset: int, position: Position) -> Item:
    """Zeros for an aggregate that braces fill anew."""
    element: Type = slot.type
    while isinstance(element, Array):
        element = element.element
    if isinstance(element, Struct):
        element = UCHAR
    count = slot.type.size // element.size
    last = offset + slot.offset + (count - 1) * element.size
    return Item(last, element, Number(position, 0, INT), repeats=((count, element.size),))


def _is_text(kind: Array, expression: InitList) -> bool:
    """Whether it is a string in braces."""
    if not isinstance(kind.element, Scalar) or kind.element.size != 1 or not expression.items:
        return False
    designators, item = expression.items[0]
    return not designators and isinstance(item, Text)


def characters(kind: Array, text: Text, offset: int) -> list[Item]:
    element = kind.element
    if not isinstance(element, Scalar) or element.size != 1:
        raise text.position.error(f"a string initialises an array of char, not {kind}")
    return [
        Item(offset + index, element, Number(text.position, ord(letter), element))
        for index, letter in enumerate(text.text[: kind.length])
    ]
