"""Enumerations: constants whose types are those of C23 and of Clang, which OpenCL C says nothing about beyond int."""

from dataclasses import replace

from .attributes import AttributeParser, Attributes
from .lexer import Token
from .stream import ENUMERATOR, describe
from .tree import Number
from .typed_constants import converted
from .types import CHAR, INT, LONG, SHORT, UCHAR, UINT, ULONG, USHORT, Scalar, Type


class EnumerationParser(AttributeParser):
    """Adds enumerations."""

    def enumeration(self) -> Type:
        """`enum tag { A, B = 7 }`, or `enum tag` alone."""
        keyword = self.take()
        attributes = Attributes()
        self.attributes(attributes)
        tag = self.take().text if self.current.kind == "name" else ""
        own = self.own_type() if self.current.text == ":" and self.starts_type(1) else None
        if not self.accept("{"):
            if own is not None:
                self.declare_enumeration(tag, own, keyword)
            return self.types.get(f"enum {tag}", UINT)
        if tag:
            known = self.tags.get(tag)
            if tag in self.tags and (known is None or known != own):
                raise keyword.position.error(f"there are two definitions of enum {tag}")
            self.tags[tag] = None
        names: list[str] = []
        while not self.accept("}"):
            self.enumerator(names, own)
            if self.current.text != "}":
                self.expect(",")
        self.attributes(attributes)
        kind = replace(own or self.finished(names, attributes.packed, keyword), own=f"enum {tag or keyword.position}")
        if tag:
            self.types[f"enum {tag}"] = kind
        return kind

    def own_type(self) -> Scalar:
        """`: type` after the tag, as C23 has it."""
        position = self.take().position
        kind = self.specified_type()
        if not isinstance(kind, Scalar) or kind.is_float:
            raise position.error(f"the type of an enumeration is an integer, not {kind}")
        return kind

    def specified_type(self) -> Type:
        raise NotImplementedError

    def declare_enumeration(self, tag: str, own: Scalar, keyword: Token) -> None:
        """`enum tag : type;`, whose enumerators come later."""
        if not tag or self.current.text != ";":
            raise self.position.error(f"expected the enumerators of this enumeration, found {describe(self.current)}")
        known = self.types.get(f"enum {tag}") if tag in self.tags else own
        if known != own:
            raise keyword.position.error(f"there are two definitions of enum {tag}")
        self.tags.setdefault(tag, own)
        self.types[f"enum {tag}"] = replace(own, own=f"enum {tag}")

    def enumerator(self, names: list[str], own: Scalar | None) -> None:
        """`A` or `A = 7`, after those in `names`. `own` is the type that the enumeration names."""
        name = self.identifier("an enumerator")
        self.attributes(Attributes())
        if self.accept("="):
            number = self.typed_integer(self.conditional())
        else:
            number = _following(self.constants[names[-1]], name, own) if names else Number(name.position, 0, INT)
        if self.declared.get(name.text) == ENUMERATOR:
            raise name.position.error(f"there are two enumerators {name.text!r} in one scope")
        self.declare(name.text, ENUMERATOR, name.position)
        self.hide(name.text)
        names.append(name.text)
        kind = _inner_type(number) if own is None else checked_type(number, own, name)
        number = converted(Number(name.position, number.value, number.type), kind)
        self.constants[name.text] = self.enumerators[name.text] = number

    def finished(self, names: list[str], packed: bool, keyword: Token) -> Scalar:
        """The enumeration's type. After the braces all enumerators have it, unless int holds every one."""
        values = [int(self.constants[name].value) for name in names]
        kind = whole_type(values, packed)
        if kind is None:
            raise keyword.position.error(f"no integer type holds both enumerators {min(values)} and {max(values)}")
        outside = INT if all(fits(value, INT) for value in values) else kind
        for name in names:
            self.constants[name] = self.enumerators[name] = converted(self.constants[name], outside)
        return kind


def _inner_type(number: Number) -> Scalar:
    """The type of an enumerator inside the braces: int, unless its value needs that of its expression."""
    return INT if fits(int(number.value), INT) else number.type


def checked_type(number: Number, own: Scalar, name: Token) -> Scalar:
    """The type that the enumeration names, if it holds the number. Clang lets unsigned types have small negative numbers."""
    value, bits = int(number.value), 1 if own.name == "bool" else 8 * own.size
    if not -(1 << (bits - 1)) <= value < 1 << (bits - own.is_signed):
        raise name.position.error(f"enumerator {name.text!r} is {value}, which {own} does not hold")
    return own


def _following(number: Number, name: Token, own: Scalar | None) -> Number:
    """One more, in a larger type if there is need: of the same sign, else ulong."""
    value = int(number.value) + 1
    if own is not None:
        return Number(name.position, value, own)
    kind = next(
        (kind for kind in (number.type, LONG if number.type.is_signed else ULONG, ULONG) if fits(value, kind)), None
    )
    if kind is None:
        raise name.position.error(f"enumerator {name.text!r} would be {value}, which no integer type holds")
    return Number(name.position, value, kind)


def fits(value: int, kind: Scalar) -> bool:
    bits = 8 * kind.size - kind.is_signed
    return (-(1 << bits) if kind.is_signed else 0) <= value < 1 << bits


def whole_type(values: list[int], packed: bool) -> Scalar | None:
    """The type of an enumeration: the first of uint and ulong, or with negative values of int and long, that holds them all.
    A packed one may have a smaller type."""
    small, large = (
        ((CHAR, SHORT), (INT, LONG)) if any(value < 0 for value in values) else ((UCHAR, USHORT), (UINT, ULONG))
    )
    candidates = (*small, *large) if packed else large
    return next((kind for kind in candidates if all(fits(value, kind) for value in values)), None)
