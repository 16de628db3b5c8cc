"""Constant expressions: array lengths, case labels, enumerators, attribute arguments."""

from collections.abc import Mapping

from .condition import integer_binary
from .tree import Binary, Cast, Conditional, Expression, Name, Number, SizeOf, Unary
from .types import Pointer, Scalar


def constant_integer(expression: Expression, names: Mapping[str, int]) -> int:
    """The value of `expression`; raises a SourceError where it is not a constant integer."""
    value = _constant(expression, names)
    if isinstance(value, float):
        raise expression.position.error(f"an integer constant is needed here, not {value}")
    return value


def try_constant(expression: Expression, names: Mapping[str, int]) -> int | float | None:
    """As `constant_integer`, but any number, and None where it is not constant."""
    try:
        return _constant(expression, names)
    except NotConstant:
        return None


class NotConstant(Exception):
    """Internal: the expression depends on something that is not known while parsing."""


def _constant(expression: Expression, names: Mapping[str, int]) -> int | float:
    match expression:
        case Number():
            return expression.value
        case Name() if expression.name in names:
            return names[expression.name]
        case SizeOf() if expression.type is not None:
            return expression.type.alignment if expression.alignment else expression.type.size
        case Unary(operator="-"):
            return -_constant(expression.operand, names)
        case Unary(operator="+"):
            return _constant(expression.operand, names)
        case Unary(operator="!"):
            return int(not _constant(expression.operand, names))
        case Unary(operator="~"):
            return ~_integer(expression.operand, names)
        case Conditional():
            branch = expression.chosen if _constant(expression.condition, names) else expression.other
            return _constant(branch, names)
        case Cast(type=Scalar()):
            return _cast(expression, names)
        case Cast(type=Pointer()):
            return _constant(expression.operand, names)
        case Binary():
            return _binary(expression, names)
    raise NotConstant


def _integer(expression: Expression, names: Mapping[str, int]) -> int:
    value = _constant(expression, names)
    if isinstance(value, float):
        raise NotConstant
    return value


def _cast(expression: Cast, names: Mapping[str, int]) -> int | float:
    value = _constant(expression.operand, names)
    kind = expression.type
    assert isinstance(kind, Scalar)
    if kind.is_float:
        return float(value)
    if value - value:  # an infinity or NaN
        raise NotConstant
    bits = 8 * kind.size
    wrapped = int(value) & ((1 << bits) - 1)
    return wrapped - (1 << bits) if kind.is_signed and wrapped >> (bits - 1) else wrapped


def _binary(expression: Binary, names: Mapping[str, int]) -> int | float:
    left, right = _constant(expression.left, names), _constant(expression.right, names)
    if isinstance(left, int) and isinstance(right, int):
        return integer_binary(expression.operator, left, right, expression.position)
    if expression.operator == "/" and right:
        return left / right
    plain = {"+": left + right, "-": left - right, "*": left * right, "<": left < right, ">": left > right}
    if expression.operator not in plain:
        raise NotConstant
    return plain[expression.operator]
