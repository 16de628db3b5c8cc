"""The types of expressions, as far as they are known while parsing."""

from collections.abc import Mapping

from .tree import Binary, Cast, Conditional, Expression, Name, Number, SizeOf, Unary
from .typed_constants import COMPARISONS, LOGICAL
from .types import INT, SIZE_T, Scalar, promoted, usual


def scalar_type(expression: Expression, names: Mapping[str, Number]) -> Scalar | None:
    """The type of a number that is not computed; None where it is not known."""
    match expression:
        case Number():
            return expression.type
        case Name() if expression.name in names:
            return names[expression.name].type
        case SizeOf():
            return SIZE_T
        case Cast(type=Scalar() as kind):
            return kind
        case Unary(operator="!"):
            return INT
        case Unary(operator="-" | "+" | "~"):
            return _promoted(expression.operand, names)
        case Conditional():
            return _common(expression.chosen, expression.other, names)
        case Binary() if expression.operator in COMPARISONS or expression.operator in LOGICAL:
            return INT
        case Binary(operator="<<" | ">>"):
            return _promoted(expression.left, names)
        case Binary():
            return _common(expression.left, expression.right, names)
    return None


def _promoted(operand: Expression, names: Mapping[str, Number]) -> Scalar | None:
    kind = scalar_type(operand, names)
    return None if kind is None else promoted(kind)


def _common(left: Expression, right: Expression, names: Mapping[str, Number]) -> Scalar | None:
    first, second = scalar_type(left, names), scalar_type(right, names)
    return None if first is None or second is None else usual(first, second)
