"""The types of expressions, as far as they are known while parsing: for `sizeof` and for numbers that are not computed."""

from collections.abc import Mapping
from dataclasses import replace

from .tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Comma,
    Conditional,
    Expression,
    Index,
    Member,
    Name,
    Number,
    Postfix,
    SizeOf,
    Text,
    TypeOf,
    Unary,
    VectorLiteral,
)
from .typed_constants import COMPARISONS, LOGICAL
from .types import CHAR, INT, LONG, SIZE_T, Array, Pointer, Scalar, Struct, Type, Vector, promoted, usual, vector_of


def sized_type(expression: Expression, names: Mapping[str, Type]) -> Type | None:
    """The type of `expression`, an array's too; None where it or its size is not known."""
    kind = inner = type_of(expression, names)
    while isinstance(inner, Array):
        if not inner.length:  # its initialiser, which gives the length, is not read yet
            return None
        inner = inner.element
    unknown = isinstance(inner, TypeOf) or (isinstance(inner, Struct) and not inner.is_complete)
    return None if unknown else kind


def type_of(expression: Expression, names: Mapping[str, Type]) -> Type | None:
    """The type of `expression`; `names` holds those of variables and constants."""
    match expression:
        case Number():
            return expression.type
        case Name():
            return names.get(expression.name)
        case Text():
            return Array(CHAR, len(expression.text) + 1)
        case SizeOf():
            return SIZE_T
        case Cast() | VectorLiteral():
            return expression.type
        case Index():
            return _element(type_of(expression.base, names))
        case Member():
            return _member(expression, type_of(expression.base, names))
        case Assign():
            return type_of(expression.target, names)
        case Postfix():
            return type_of(expression.operand, names)
        case Call(headings=(heading,)):
            return heading.result
        case Comma():
            return _value(type_of(expression.second, names))
        case Unary():
            return _unary(expression.operator, type_of(expression.operand, names))
        case Conditional():
            if is_float(type_of(expression.condition, names)):  # an error, which is said where the value is compiled
                return None
            return _common(type_of(expression.chosen, names), type_of(expression.other, names))
        case Binary():
            return _binary(expression.operator, type_of(expression.left, names), type_of(expression.right, names))
    return None


def is_float(kind: Type | None) -> bool:
    return isinstance(kind, Scalar) and kind.is_float


def _value(kind: Type | None) -> Type | None:
    """An array as a value is a pointer."""
    return Pointer(kind.element) if isinstance(kind, Array) else kind


def _element(kind: Type | None) -> Type | None:
    if isinstance(kind, Array | Vector):
        return kind.element
    return kind.target if isinstance(kind, Pointer) else None


def _member(expression: Member, base: Type | None) -> Type | None:
    kind = _element(base) if expression.arrow else base
    if isinstance(kind, Struct):
        found = kind.field_of(expression.name)
        return None if found is None or found.bits else found.type
    if isinstance(kind, Vector) and set(expression.name) <= set("xyzw"):
        return vector_of(kind.element, len(expression.name))
    return None


def _unary(operator: str, operand: Type | None) -> Type | None:
    if operator == "*":
        return None if isinstance(operand, Vector) else _element(operand)
    if operator == "&" and operand is not None:
        return Pointer(operand)
    if operator in ("++", "--"):
        return operand
    if isinstance(operand, Scalar):
        return INT if operator == "!" else promoted(operand)
    return operand if isinstance(operand, Vector) and operator != "!" else None


def _common(left: Type | None, right: Type | None) -> Type | None:
    left, right = _value(left), _value(right)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return replace(usual(left, right), aligned=0)
    return left if left == right else None


def _binary(operator: str, left: Type | None, right: Type | None) -> Type | None:
    left, right = _value(left), _value(right)
    numbers = isinstance(left, Scalar) and isinstance(right, Scalar)
    if left is None or right is None or not (numbers or isinstance(left, Pointer) or isinstance(right, Pointer)):
        return None
    if operator in COMPARISONS or operator in LOGICAL:
        return INT
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return promoted(left) if operator in ("<<", ">>") else usual(left, right)
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        return LONG
    return left if isinstance(left, Pointer) else right
