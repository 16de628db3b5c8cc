"""Constant expressions: array lengths, case labels, enumerators, attribute arguments. Each part has its own type (C99 6.6)."""

from collections.abc import Mapping

from .expression_types import type_of
from .layout import fact_of
from .tree import Binary, Cast, Conditional, Expression, Name, Number, SizeOf, Unary
from .typed_constants import LOGICAL, NotConstant, binary_constant, converted, unary_constant
from .types import INT, LONG, SIZE_T, Pointer, Scalar, usual

FLOAT_BEFORE_QUESTION_MARK = "what stands before ? is an integer or a pointer, not {kind}: compare it with 0"


def constant_integer(expression: Expression, names: Mapping[str, Number]) -> Number:
    """The integer that `expression` is; raises a SourceError where it is another constant."""
    number = constant(expression, names)
    if isinstance(number.value, float):
        raise expression.position.error(f"an integer constant is needed here, not {number.value}")
    return number


def try_constant(expression: Expression, names: Mapping[str, Number]) -> int | float | None:
    """The value of `expression`, None where it is not constant."""
    try:
        return constant(expression, names).value
    except NotConstant:
        return None


def constant(expression: Expression, names: Mapping[str, Number]) -> Number:
    """The value and type of `expression`; raises NotConstant where it has none."""
    position = expression.position
    match expression:
        case Number():
            return expression
        case Name() if expression.name in names:
            return names[expression.name]
        case SizeOf() if expression.type is not None:
            return Number(position, fact_of(expression.type, expression.asks, position), SIZE_T)
        case Unary(operator="-" | "+" | "!" | "~"):
            return unary_constant(expression.operator, constant(expression.operand, names), position)
        case Conditional():
            return _conditional(expression, names)
        case Cast(type=Scalar() as kind):
            return converted(constant(expression.operand, names), kind)
        case Cast(type=Pointer()):
            return converted(constant(expression.operand, names), LONG)  # as an address
        case Binary():
            return _binary(expression, names)
    raise NotConstant


def _conditional(expression: Conditional, names: Mapping[str, Number]) -> Number:
    """The part that counts, in the type that both have in common."""
    asked = constant(expression.condition, names)
    if asked.type.is_float:
        raise expression.condition.position.error(FLOAT_BEFORE_QUESTION_MARK.format(kind=asked.type))
    truth = bool(asked.value)
    chosen, unused = (expression.chosen, expression.other) if truth else (expression.other, expression.chosen)
    number = constant(chosen, names)
    other = type_of(unused, {name: each.type for name, each in names.items()})
    return converted(number, usual(number.type, other) if isinstance(other, Scalar) else number.type)


def _binary(expression: Binary, names: Mapping[str, Number]) -> Number:
    left = constant(expression.left, names)
    if expression.operator in LOGICAL and bool(left.value) == (expression.operator == "||"):
        return Number(expression.position, int(bool(left.value)), INT)
    return binary_constant(expression.operator, left, constant(expression.right, names), expression.position)
