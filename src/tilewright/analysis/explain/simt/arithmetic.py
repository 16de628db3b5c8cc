"""The operators of OpenCL C on values of all lanes at once (6.3 of the specification)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..clc.layout import check_has_size
from ..clc.lexer import Position
from ..clc.types import (
    INT,
    LARGEST,
    LONG,
    Pointer,
    Scalar,
    Type,
    Vector,
    Void,
    element_of,
    promoted,
    signed_integer,
    usual,
)
from .compiled_code import Code, Frame, Run, Value
from .convert import change, elementwise, truth
from .fused import fused_multiply_add
from .masks import Mask
from .pointer_types import is_same
from .undefined import Check, Operation, checks_of, shift_checks, watched

if TYPE_CHECKING:
    from .machine import Machine

COMPARISONS: dict[str, Operation] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
}
_PLAIN: dict[str, Operation] = {"+": np.add, "-": np.subtract, "*": np.multiply}
_BITS: dict[str, Operation] = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}


def common_type(left: Type, right: Type, position: Position) -> Scalar | Vector:
    """The common type of `left` and `right`."""
    if isinstance(left, Vector) and isinstance(right, Vector):
        if left != right:
            raise position.error(f"{left} and {right} are different vector types; convert one of them")
        return left
    if isinstance(left, Vector) and isinstance(right, Scalar):
        check_rank(right, left, position)
        return Vector(left.element, left.width)
    if isinstance(right, Vector) and isinstance(left, Scalar):
        check_rank(left, right, position)
        return Vector(right.element, right.width)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return usual(left, right)
    raise position.error(f"{left} and {right} cannot be combined by an operator")


def check_rank(scalar: Scalar, vector: Vector, position: Position) -> None:
    """A scalar that meets a vector may not be of higher rank than the vector's elements (6.2.6)."""
    element = vector.element
    if scalar.is_float == element.is_float:
        higher = (scalar.size, not scalar.is_signed) > (element.size, not element.is_signed)
    else:
        higher = scalar.is_float
    if higher:
        raise position.error(f"{scalar} is of higher rank than the elements of {vector}; cast it to {element}")


def to_common(code: Code, common: Scalar | Vector) -> Code:
    """`code` with the element type of `common`. A scalar stays a scalar, since broadcasting does the rest."""
    element = element_of(common)
    assert element is not None
    return elementwise(code, element)


def binary(operator: str, left: Code, right: Code, position: Position, machine: "Machine") -> Code:
    """`left operator right` for all operators but && and ||. `machine` records undefined results."""
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return _pointer(operator, left, right, position)
    if operator in ("<<", ">>"):
        return _shift(operator, left, right, position, machine)
    common = common_type(left.type, right.type, position)
    first, second = to_common(left, common), to_common(right, common)
    if operator in COMPARISONS:
        return _compare(operator, first, second, common)
    element = element_of(common)
    assert element is not None
    checks = checks_of(operator, element, second, position, machine)
    return _fold(common, _operation(operator, element, position), first, second, checks)


def _operation(operator: str, element: Scalar, position: Position) -> Operation:
    if operator in _PLAIN:
        return _PLAIN[operator]
    if operator == "/":
        return np.divide if element.is_float else _divide if element.is_signed else _divide_unsigned
    if element.is_float:
        raise position.error(f"operator {operator} does not take {element}")
    if operator == "%":
        return _remainder if element.is_signed else _remainder_unsigned
    return _BITS[operator]


def _divide(a: Value, b: Value) -> Value:
    """Integer division towards zero. A division by zero gives 0, since any value is allowed."""
    if np.ndim(b) == 0 and b > 0 and np.min(a, initial=0) >= 0:
        return a // b
    quotient = a // np.where(b == 0, b.dtype.type(1), b)
    rest = a - quotient * b
    return np.where(b == 0, b.dtype.type(0), quotient + ((rest != 0) & ((a < 0) != (b < 0)))).astype(b.dtype)[()]


def _divide_unsigned(a: Value, b: Value) -> Value:
    if np.ndim(b) == 0 and b > 0:
        return a // b
    return np.where(b == 0, b.dtype.type(0), a // np.where(b == 0, b.dtype.type(1), b))[()]


def _remainder(a: Value, b: Value) -> Value:
    if np.ndim(b) == 0 and b > 0 and np.min(a, initial=0) >= 0:
        return a % b
    return np.fmod(a, np.where((b == 0) | (b == -1), b.dtype.type(1), b))


def _remainder_unsigned(a: Value, b: Value) -> Value:
    if np.ndim(b) == 0 and b > 0:
        return a % b
    return a % np.where(b == 0, b.dtype.type(1), b)


def _fold(kind: Type, operation: Operation, left: Code, right: Code, checks: tuple[Check, ...] = ()) -> Code:
    """The operation as code. It is done at once if both operands are constant and there is nothing to report."""
    first, second = left.run, right.run
    if left.constant is not None and right.constant is not None:
        with np.errstate(all="ignore"):
            constant = operation(left.constant, right.constant)
            if all(check.find(left.constant, right.constant, constant) is None for check in checks):
                return Code(kind, lambda frame, mask: constant, False, constant)
    if checks:
        return Code(kind, watched(operation, first, second, checks))
    if right.constant is not None:
        value = right.constant
        return Code(kind, lambda frame, mask: operation(first(frame, mask), value))
    if left.constant is not None:
        value = left.constant
        return Code(kind, lambda frame, mask: operation(value, second(frame, mask)))
    return Code(kind, _remembering(operation, first, second))


def _remembering(operation: Operation, first: Run, second: Run) -> Run:
    """The operation. It is not repeated while both operands are the same objects: values that a loop does not change.

    Values are never changed in place, so the same objects are the same values.
    """
    before: Value = None
    before_too: Value = None
    result: Value = None

    def run(frame: Frame, mask: Mask) -> Value:
        nonlocal before, before_too, result
        a, b = first(frame, mask), second(frame, mask)
        if a is not before or b is not before_too:
            result = operation(a, b)
            before, before_too = a, b
        return result

    return run


def _compare(operator: str, left: Code, right: Code, common: Scalar | Vector) -> Code:
    compare = COMPARISONS[operator]
    if isinstance(common, Vector):
        element = signed_integer(common.element.size)
        kind = Vector(element, common.width)

        def lanes(a: Value, b: Value) -> Value:
            return -(compare(a, b).astype(element.dtype))

        return _fold(kind, lanes, left, right)
    folded = _fold(INT, compare, left, right)
    if folded.constant is not None:
        return Code(INT, folded.run, True, None)
    return Code(INT, folded.run, True)


def _shift(operator: str, left: Code, right: Code, position: Position, machine: "Machine") -> Code:
    """The result has the promoted left type. Counts are taken modulo the width (6.3.j)."""
    element, other = element_of(left.type), element_of(right.type)
    if element is None or other is None or element.is_float or other.is_float:
        raise position.error(f"{left.type} cannot be shifted by {right.type}")
    if isinstance(left.type, Scalar):
        if isinstance(right.type, Vector):
            raise position.error(f"a scalar cannot be shifted by {right.type}")
        element = promoted(element)
    kind: Type = Vector(element, left.type.width) if isinstance(left.type, Vector) else element
    bits, dtype = 8 * element.size - 1, element.dtype
    shift = np.left_shift if operator == "<<" else np.right_shift

    def run(a: Value, b: Value) -> Value:
        return shift(a, (b & b.dtype.type(bits)).astype(dtype))

    first, second = elementwise(left, element), elementwise(right, promoted(other))
    return _fold(kind, run, first, second, shift_checks(operator, element, first, second, position, machine))


def _pointer(operator: str, left: Code, right: Code, position: Position) -> Code:
    if operator in COMPARISONS:
        compare = COMPARISONS[operator]
        kind = left.type if isinstance(left.type, Pointer) else right.type
        return Code(INT, _fold(INT, compare, change(left, kind), change(right, kind)).run, True)
    if operator == "-" and isinstance(left.type, Pointer) and isinstance(right.type, Pointer):
        if not is_same(left.type.target, right.type.target):
            raise position.error(f"{left.type} and {right.type} are not subtracted: they point to different types")
        size = np.int64(_step(left.type, position))
        return _fold(LONG, lambda a, b: (a - b) // size, left, right)
    if operator == "+" and isinstance(right.type, Pointer):
        left, right = right, left
    if operator not in ("+", "-") or not isinstance(left.type, Pointer) or not isinstance(right.type, Scalar):
        raise position.error(f"operator {operator} does not combine {left.type} and {right.type}")
    if right.type.is_float:
        raise position.error("a pointer cannot be moved by a floating-point number")
    step = offset_of(right, _step(left.type, position))
    return _fold(left.type, np.add if operator == "+" else np.subtract, left, step)


def _step(pointer: Pointer, position: Position) -> int:
    """The bytes from one element to the next; 1 behind a pointer to void, as Clang has it."""
    if not isinstance(pointer.target, Void):
        check_has_size(pointer.target, position)
    return pointer.target.size


def offset_of(index: Code, size: int) -> Code:
    """An index as bytes: int64, scaled by the element's size. LARGEST bytes stand for all that is farther, which lies outside
    of whatever the pointer points into, and must not wrap to an address that exists."""
    scale, farthest = np.int64(size), np.int64(LARGEST // max(size, 1))
    wide = change(index, LONG)
    if index.type.size == 8 or farthest >> 32 == 0:
        limit = Code(LONG, lambda frame, mask: farthest, False, farthest)
        wide = _fold(LONG, lambda number, most: np.minimum(np.maximum(number, -most), most), wide, limit)
    if size == 1:
        return wide
    return _fold(LONG, np.multiply, wide, Code(LONG, lambda frame, mask: scale, False, scale))


def fused(
    multiplication: tuple[Code, Code], addend: Code, negate_product: bool, negate_addend: bool, kind: Type
) -> Code:
    """a*b + c (or with other signs) rounded once, as a compiler does with a product in a sum."""
    first, second, third = multiplication[0].run, multiplication[1].run, addend.run

    def run(frame: Any, mask: Any) -> Value:
        a, b, c = first(frame, mask), second(frame, mask), third(frame, mask)
        return fused_multiply_add(-a if negate_product else a, b, -c if negate_addend else c)

    return Code(kind, run)


def unary(operator: str, operand: Code, position: Position, machine: "Machine") -> Code:
    """+ - ~ and ! (the others are places)."""
    if operator == "!":
        return _not(operand, position)
    element = element_of(operand.type)
    if element is None:
        raise position.error(f"operator {operator} does not take {operand.type}")
    if operator == "~" and element.is_float:
        raise position.error(f"operator ~ does not take {operand.type}")
    if isinstance(operand.type, Scalar):
        element = promoted(element)
    value = elementwise(operand, element)
    if operator == "+":
        return value
    if operator == "-" and element.is_signed:
        zero = element.dtype.type(0)
        return binary("-", Code(element, lambda frame, mask: zero, False, zero), value, position, machine)
    operation: Any = np.negative if operator == "-" else np.invert
    if value.constant is not None:
        with np.errstate(all="ignore"):
            constant = operation(value.constant)
        return Code(value.type, lambda frame, mask: constant, False, constant)
    run = value.run
    return Code(value.type, lambda frame, mask: operation(run(frame, mask)))


def _not(operand: Code, position: Position) -> Code:
    if isinstance(operand.type, Vector):
        element = signed_integer(operand.type.element.size)
        run = operand.run
        kind = Vector(element, operand.type.width)
        return Code(kind, lambda frame, mask: -((run(frame, mask) == 0).astype(element.dtype)))
    if not isinstance(operand.type, Scalar | Pointer):
        raise position.error(f"operator ! does not take {operand.type}")
    run = truth(operand).run
    return Code(INT, lambda frame, mask: ~run(frame, mask), True)
