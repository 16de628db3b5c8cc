"""Enumerations: constants whose types are those that Clang gives them."""

from .attributes import AttributeParser, Attributes
from .tree import Number
from .typed_constants import converted, wrapped
from .types import INT, LONG, UINT, ULONG, Scalar, Type


class EnumerationParser(AttributeParser):
    """Adds enumerations."""

    def enumeration(self) -> Type:
        """`enum tag { A, B = 7 }`, or `enum tag` alone."""
        self.take()
        self.attributes(Attributes())
        tag = self.take().text if self.current.kind == "name" else ""
        if not self.accept("{"):
            return self.types.get(f"enum {tag}", UINT)
        names: list[str] = []
        following: Number | None = None
        while not self.accept("}"):
            name = self.identifier("an enumerator")
            self.attributes(Attributes())
            number = self.typed_integer(self.conditional()) if self.accept("=") else following
            number = number or Number(name.position, 0, INT)
            names.append(name.text)
            self.constants[name.text] = Number(name.position, number.value, _inner_type(number))
            following = _following(self.constants[name.text])
            if self.current.text != "}":
                self.expect(",")
        self.attributes(Attributes())
        kind = whole_type([int(self.constants[name].value) for name in names])
        for each in names:
            number = self.constants[each]
            number = converted(number, INT if fits(int(number.value), INT) else kind)
            self.constants[each] = self.enumerators[each] = number
        if tag:
            self.types[f"enum {tag}"] = kind
        return kind


def _inner_type(number: Number) -> Scalar:
    """The type of an enumerator inside the braces: int, unless its value needs that of its expression."""
    return INT if fits(int(number.value), INT) else number.type


def _following(number: Number) -> Number:
    """One more, in a larger type of the same sign if there is need and one exists."""
    value, kind = int(number.value) + 1, number.type
    if not fits(value, kind):
        kind = LONG if kind.is_signed else ULONG
    return Number(number.position, wrapped(value, kind), kind)


def fits(value: int, kind: Scalar) -> bool:
    bits = 8 * kind.size - kind.is_signed
    return (-(1 << bits) if kind.is_signed else 0) <= value < 1 << bits


def whole_type(values: list[int]) -> Scalar:
    """The type of an enumeration: the first of uint and ulong, or with negative values of int and long, that holds them all."""
    candidates = (INT, LONG) if any(value < 0 for value in values) else (UINT, ULONG)
    return next((kind for kind in candidates if all(fits(value, kind) for value in values)), candidates[-1])
