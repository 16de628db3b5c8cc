"""Arithmetic of typed constants for `#if` and constant expressions (C99 6.3, 6.5); integers wrap as two's complement."""

import operator as python
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .lexer import Position
from .rounding import rounded
from .tree import Number
from .types import INT, Scalar, promoted, usual

LOGICAL = ("&&", "||")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    ">": python.gt,
    "<=": python.le,
    ">=": python.ge,
}
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {"+": python.add, "-": python.sub, "*": python.mul}
_BITS: dict[str, Callable[[int, int], int]] = {"|": python.or_, "^": python.xor, "&": python.and_}


class NotConstant(Exception):
    """Internal: the expression depends on something that is not known while parsing."""


def wrapped(value: int, kind: Scalar) -> int:
    """The integer of `kind` with the lowest bits of `value`."""
    bits = 8 * kind.size
    lowest = value & ((1 << bits) - 1)
    return lowest - (1 << bits) if kind.is_signed and lowest >> (bits - 1) else lowest


def converted(number: Number, kind: Scalar) -> Number:
    """`number` as `kind`, as a cast converts it."""
    value = number.value
    if kind.name == "bool":
        return Number(number.position, int(value != 0), kind)
    if kind.is_float:
        if isinstance(value, int):
            return Number(number.position, rounded(Fraction(value), kind), kind)
        with np.errstate(over="ignore"):
            return Number(number.position, float(kind.dtype.type(value)), kind)
    if isinstance(value, float) and value - value:  # an infinity or NaN
        raise NotConstant
    return Number(number.position, wrapped(int(value), kind), kind)


def unary_constant(operator: str, operand: Number, position: Position) -> Number:
    """`operator operand` for + - ~ and !."""
    if operator == "!":
        return Number(position, int(not operand.value), INT)
    kind = promoted(operand.type)
    value = operand.value
    if operator == "~":
        if isinstance(value, float):
            raise NotConstant
        return Number(position, wrapped(~value, kind), kind)
    value = -value if operator == "-" else value
    return Number(position, wrapped(value, kind) if isinstance(value, int) else value, kind)


def binary_constant(operator: str, left: Number, right: Number, position: Position) -> Number:
    """`left operator right` in the type that C computes it in."""
    if operator in LOGICAL:
        both = (bool(left.value), bool(right.value))
        return Number(position, int(all(both) if operator == "&&" else any(both)), INT)
    if operator in ("<<", ">>"):
        return _shifted(operator, left, right, position)
    kind = usual(left.type, right.type)
    first, second = converted(left, kind).value, converted(right, kind).value
    if operator in COMPARISONS:
        return Number(position, int(COMPARISONS[operator](first, second)), INT)
    if isinstance(first, float) or isinstance(second, float):
        return Number(position, _of_floats(operator, first, second, kind), kind)
    return Number(position, wrapped(_of_integers(operator, first, second, position), kind), kind)


def _shifted(operator: str, left: Number, right: Number, position: Position) -> Number:
    """The result has the promoted left type; OpenCL takes counts modulo its width."""
    kind, value, count = promoted(left.type), left.value, right.value
    if isinstance(value, float) or isinstance(count, float):
        raise NotConstant
    if not 0 <= count < 64:
        raise position.error(f"a shift by {count} in a constant expression: counts go from 0 to 63")
    count %= 8 * kind.size
    return Number(position, wrapped(value << count if operator == "<<" else value >> count, kind), kind)


def _of_floats(operator: str, left: float, right: float, kind: Scalar) -> float:
    number = kind.dtype.type
    with np.errstate(all="ignore"):
        if operator == "/" and right:
            return float(number(left) / number(right))
        if operator in _PLAIN:
            return float(_PLAIN[operator](number(left), number(right)))
    raise NotConstant


def _of_integers(operator: str, left: int, right: int, position: Position) -> int:
    if operator not in ("/", "%"):
        exact: int = (_PLAIN.get(operator) or _BITS[operator])(left, right)
        return exact
    if right == 0:
        raise position.error("division by zero in a constant expression")
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if operator == "/" else left - quotient * right
