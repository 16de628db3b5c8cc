"""Enumerations: constants whose types are those that Clang gives them."""

from .attributes import AttributeParser, Attributes
from .lexer import Position
from .tree import Number
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
        names: dict[str, Position] = {}
        value = 0
        while not self.accept("}"):
            name = self.identifier("an enumerator")
            self.attributes(Attributes())
            if self.accept("="):
                value = self.integer(self.conditional())
            names[name.text] = name.position
            self.constants[name.text] = value
            value += 1
            if self.current.text != "}":
                self.expect(",")
        self.attributes(Attributes())
        kind = whole_type([self.constants[name] for name in names])
        for each, position in names.items():
            value = self.constants[each]
            self.enumerators[each] = Number(position, value, INT if fits(value, INT) else kind)
        if tag:
            self.types[f"enum {tag}"] = kind
        return kind


def fits(value: int, kind: Scalar) -> bool:
    bits = 8 * kind.size - kind.is_signed
    return (-(1 << bits) if kind.is_signed else 0) <= value < 1 << bits


def whole_type(values: list[int]) -> Scalar:
    """The type of an enumeration: the first of uint and ulong, or with negative values of int and long, that holds them all."""
    candidates = (INT, LONG) if any(value < 0 for value in values) else (UINT, ULONG)
    return next((kind for kind in candidates if all(fits(value, kind) for value in values)), candidates[-1])
