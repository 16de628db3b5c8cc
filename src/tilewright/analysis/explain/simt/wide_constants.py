"""Constants with the suffix ll, and decimal ones too large for long: OpenCL C has 128 bits for them, `explain` 64.

Sums, products and bits are the same once they are stored in 64 bits. Where more than 64 bits could show, the source is refused.
`Code.wide` says that a value has 128 bits in OpenCL C, `Code.beyond` that it may differ there from its 64 bits here.
"""

from dataclasses import replace

import numpy as np

from ..clc.lexer import Position
from ..clc.refused import WIDE_CONSTANT
from ..clc.tree import Binary, Expression, Number
from ..clc.types import LONG, Scalar, Type, Vector, usual
from .arithmetic import COMPARISONS
from .compiled_code import Code

WIDE = Scalar("long long", np.dtype("V16"))  # only its size and its alignment are asked for
_GROWS = ("+", "-", "*", "<<")


def check_fits(code: Code, position: Position) -> None:
    """Refuses a value whose use tells 128 bits from 64."""
    if code.beyond:
        raise position.error(WIDE_CONSTANT)


def with_width(result: Code, left: Code, right: Code, expression: Expression) -> Code:
    """The result of `left operator right` with what is known of its 128 bits. The operation is refused if it shows them."""
    if not (left.wide or right.wide) or not isinstance(expression, Binary):
        return result
    operator, position = expression.operator, expression.position
    if operator in ("<<", ">>"):
        return _shifted(result, left, expression)
    for code, other in ((left, right), (right, left)):
        if isinstance(other.type, Vector):
            raise position.error(
                f"a constant with ll is of higher rank than the elements of {other.type}: write ul or l"
            )
        if isinstance(other.type, Scalar) and other.type.is_float:
            check_fits(code, position)
            return result
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        return result  # a pointer's address has 64 bits
    common = usual(left.type, right.type)
    first, second = differs(left, common), differs(right, common)
    if (operator in COMPARISONS or operator in ("/", "%")) and (first or second):
        raise position.error(WIDE_CONSTANT)
    if operator in COMPARISONS:
        return result
    if operator == "&":
        beyond = (first and (second or may_be_negative(right))) or (second and may_be_negative(left))
    else:
        beyond = first or second
    if operator in _GROWS:
        beyond = grows(expression, result.type)
    return replace(result, wide=True, beyond=beyond)


def _shifted(result: Code, left: Code, expression: Binary) -> Code:
    """A constant that is shifted left is taken for one that fits."""
    if not left.wide:
        return result
    if expression.operator == ">>":
        check_fits(left, expression.position)
        return replace(result, wide=True)
    alone = isinstance(expression.left, Number) and exact(expression) is None
    return replace(result, wide=True, beyond=not alone and grows(expression, result.type))


def with_sign(result: Code, operator: str, operand: Code) -> Code:
    """The result of + - or ~ of a wide value."""
    if not operand.wide:
        return result
    changed = operator != "+" and not (isinstance(result.type, Scalar) and result.type.is_signed)
    return replace(result, wide=True, beyond=operand.beyond or changed)


def of_both(result: Code, chosen: Code, other: Code, position: Position) -> Code:
    """The result of `?:`."""
    kind = result.type
    if not (chosen.wide or other.wide) or not isinstance(kind, Scalar):
        return result
    if kind.is_float:
        check_fits(chosen, position)
        check_fits(other, position)
        return result
    return replace(result, wide=True, beyond=differs(chosen, kind) or differs(other, kind))


def differs(code: Code, kind: Scalar) -> bool:
    """Whether the value in 128 bits may be another one than in the 64 bits of `kind`."""
    return code.beyond or (not kind.is_signed and not kind.is_float and may_be_negative(code))


def may_be_negative(code: Code) -> bool:
    signed = isinstance(code.type, Scalar) and code.type.is_signed and not code.boolean
    return signed and (code.constant is None or bool(code.constant < 0))


def grows(expression: Binary, kind: Type) -> bool:
    """Whether a sum, product or shift may need more bits than `kind` has."""
    value = exact(expression)
    if value is None:
        return True
    signed = isinstance(kind, Scalar) and kind == LONG
    return not (-(1 << 63) <= value < 1 << 63 if signed else 0 <= value < 1 << 64)


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
