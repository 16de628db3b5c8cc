"""What statements and `?:` ask of their conditions: a scalar, an integer, or for vectors a mask of the same shape."""

from ..clc.lexer import Position
from ..clc.types import LONG, Pointer, Scalar, Type, Vector, element_of
from .compiled_code import Code
from .convert import change, truth
from .wide_constants import check_fits


def condition(code: Code, position: Position) -> Code:
    """`code` as a truth value."""
    if isinstance(code.type, Vector):
        raise position.error(
            f"a condition is a scalar, not {code.type}: write any(v != 0) or all(v != 0) for a vector v"
        )
    if not isinstance(code.type, Scalar | Pointer):
        raise position.error(f"a condition is a scalar, not {code.type}")
    check_fits(code, position)
    return truth(code)


def switch_subject(code: Code, position: Position) -> Code:
    """`code` as the integer that a switch compares with its cases."""
    if not isinstance(code.type, Scalar) or code.type.is_float:
        raise position.error(f"a switch takes an integer, not {code.type}")
    check_fits(code, position)
    return change(code, LONG)


def check_selects(condition: Vector, result: Type, position: Position) -> None:
    """`?:` of vectors chooses component by component: both have as many, of the same size (6.3.i)."""
    if condition.element.is_float:
        raise position.error(f"a condition of components is made of integers, not {condition}")
    element = element_of(result)
    if (
        isinstance(result, Vector)
        and element
        and (result.width, element.size) == (condition.width, condition.element.size)
    ):
        return
    raise position.error(
        f"{condition} cannot choose between values of {result}: their components differ in number or in size"
    )
