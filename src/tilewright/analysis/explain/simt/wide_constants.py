"""Constants with the suffix ll. OpenCL C computes with them in 128 bits, `explain` in 64.

Sums, products and bits are the same once they are stored in 64 bits. Where more than 64 bits could show, the source is refused.
"""

from ..clc.lexer import Position
from ..clc.refused import WIDE_CONSTANT
from ..clc.tree import Binary, Conditional, Expression, Number, Unary
from ..clc.typed_constants import COMPARISONS, LOGICAL

_GROWS = ("+", "-", "*", "<<")
_SHIFTS = ("<<", ">>")


def check_wide(operator: str, left: Expression, right: Expression, position: Position) -> None:
    """Refuses an operation whose result tells 128 bits from 64."""
    if operator == ">>":
        shown = exceeds(left)
    else:
        shown = (operator in ("/", "%") or operator in COMPARISONS) and (exceeds(left) or exceeds(right))
    if shown:
        raise position.error(WIDE_CONSTANT)


def exceeds(node: Expression) -> bool:
    """Whether it may need more than 64 bits. A constant that is shifted left is taken for one that fits."""
    value = exact(node)
    if value is not None:
        return not -(1 << 63) <= value < 1 << 64
    match node:
        case Binary(operator="<<", left=Number()):
            return False
        case Binary(operator="&"):
            return exceeds(node.left) and exceeds(node.right)
        case Binary(operator="|" | "^"):
            return exceeds(node.left) or exceeds(node.right)
        case Binary():
            return node.operator in _GROWS and is_wide(node)
        case Unary(operator="-" | "~"):
            return is_wide(node.operand)
        case Conditional():
            return exceeds(node.chosen) or exceeds(node.other)
    return False


def exact(node: Expression) -> int | None:
    """The value of a sum, product or shift of integer constants."""
    match node:
        case Number(value=int() as value):
            return value
        case Binary(operator="+" | "-" | "*" | "<<"):
            left, right = exact(node.left), exact(node.right)
            if left is None or right is None or (node.operator == "<<" and not 0 <= right < 128):
                return None
            return {"+": left + right, "-": left - right, "*": left * right}.get(node.operator, left << (right & 127))
    return None


def is_wide(node: Expression) -> bool:
    """Whether its type has 128 bits."""
    match node:
        case Number():
            return node.wide
        case Binary():
            if node.operator in COMPARISONS or node.operator in LOGICAL:
                return False
            return is_wide(node.left) or (node.operator not in _SHIFTS and is_wide(node.right))
        case Unary(operator="-" | "~" | "+"):
            return is_wide(node.operand)
        case Conditional():
            return is_wide(node.chosen) or is_wide(node.other)
    return False
