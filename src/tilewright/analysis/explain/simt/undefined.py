"""Finds arithmetic with an undefined result: overflow, division by zero, shift counts, conversions out of range.

Sources: C99 6.5, paragraph 5 (a result that its type cannot hold is undefined) and 6.5.7 (shifts); OpenCL C 1.2 6.3.a (integer
division by zero, or with a quotient that does not fit, gives an unspecified value), 6.3.j (counts of shifts are taken
modulo the width), 6.2.3.3 (a float that is out of an integer's range becomes an implementation-defined one); C99 6.3.1.3
(so does an integer that a signed type cannot hold). Unsigned integers wrap, and nothing is said about them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.types import Scalar, element_of
from .compiled_code import Code, Frame, Run, Value
from .findings import CONVERSION, DIVISION, OVERFLOW, SHIFT
from .masks import Mask

if TYPE_CHECKING:
    from .machine import Machine

Operation = Callable[[Value, Value], Value]
Wrong = Any  # which lanes are wrong, in any shape that broadcasts to the lanes; None if no lane is
Find = Callable[[Value, Value, Value], Wrong]
_WORDS = {"+": Sentence("sum"), "-": Sentence("difference"), "*": Sentence("product")}


@dataclass(frozen=True)
class Check:
    """The check of one operator: what is wrong in its operands and result, and the message."""

    machine: "Machine"
    position: Position
    operator: str
    kind: str
    text: str
    find: Find

    def report(self, a: Value, b: Value, wrong: Wrong, mask: Mask) -> None:
        """Adds a finding if a lane of `mask` is wrong."""
        which = np.broadcast_to(wrong, np.broadcast_shapes(np.shape(wrong), mask.lanes.shape)) & mask.lanes
        if not which.any():
            return
        shape = np.broadcast_shapes(which.shape, np.shape(a), np.shape(b))  # a vector's, where one count shifts it all
        at = tuple(np.argwhere(np.broadcast_to(which, shape))[0])
        left, right = (np.broadcast_to(each, shape)[at] for each in (a, b))
        item = self.machine.item_name(int(at[-1]))
        example = Sentence(
            "{left} {operator} {right}, {item}", left=left, operator=self.operator, right=right, item=item
        )
        self.machine.findings.add(self.kind, self.position, self.text, example, count=int(which.sum()))


def watched(operation: Operation, first: Run, second: Run, checks: tuple[Check, ...]) -> Run:
    """The operation with its checks. Neither is repeated while both operands are the same objects."""
    before: Value = None
    before_too: Value = None
    result: Value = None
    found: tuple[tuple[Check, Wrong], ...] = ()

    def run(frame: Frame, mask: Mask) -> Value:
        nonlocal before, before_too, result, found
        a, b = first(frame, mask), second(frame, mask)
        if a is not before or b is not before_too:
            result, found = operation(a, b), ()
            for check in checks:
                wrong = check.find(a, b, result)
                if wrong is not None:
                    found += ((check, wrong),)
            before, before_too = a, b
        for check, wrong in found:
            check.report(a, b, wrong, mask)
        return result

    return run


def checks_of(operator: str, element: Scalar, right: Code, position: Position, machine: "Machine") -> tuple[Check, ...]:
    """The checks that `operator` needs on operands of this type, unless the right one is known to be harmless."""
    if element.is_float:
        return ()
    if operator in _WORDS and element.is_signed:
        text = Sentence(
            "a {what} that does not fit into {kind} is undefined (C99, 6.5)", what=_WORDS[operator], kind=element
        )
        find = {"+": _sum, "-": _difference, "*": _product}[operator]
        return (Check(machine, position, operator, OVERFLOW, text, find),)
    if operator not in ("/", "%") or (right.constant is not None and not np.isin(right.constant, (0, -1)).any()):
        return ()
    zero = Sentence("{operator} by zero gives an unspecified value (OpenCL C, 6.3.a)", operator=operator)
    checks = [Check(machine, position, operator, DIVISION, zero, _by_zero)]
    if element.is_signed:
        text = Sentence("a quotient that does not fit into {kind} is unspecified (OpenCL C, 6.3.a)", kind=element)
        checks.append(Check(machine, position, operator, OVERFLOW, text, _quotient))
    return tuple(checks)


def shift_checks(
    operator: str, element: Scalar, left: Code, right: Code, position: Position, machine: "Machine"
) -> tuple[Check, ...]:
    """Checks the count of a shift, and bits that << moves out of a signed type. Constants such as 1 << 31 are allowed."""
    bits = 8 * element.size
    text = Sentence(
        "a count below 0 or above {most} for {kind}: OpenCL C takes it modulo {bits} (6.3.j), C and CUDA leave the result "
        "undefined",
        most=bits - 1, kind=element, bits=bits,
    )  # fmt: skip
    checks: list[Check] = []
    if right.constant is None or ((right.constant < 0) | (right.constant >= bits)).any():
        checks.append(Check(machine, position, operator, SHIFT, text, lambda a, b, result: _any((b < 0) | (b >= bits))))
    if operator == "<<" and element.is_signed and (left.constant is None or right.constant is None):
        text = Sentence(
            "bits are moved out of a signed {kind}: OpenCL C drops them (6.3.j), C leaves the value undefined (C99, 6.5.7); "
            "unsigned types are meant for that",
            kind=element,
        )
        checks.append(Check(machine, position, operator, SHIFT, text, _lost_bits))
    return tuple(checks)


def _any(which: Any) -> Wrong:
    return which if which.any() else None


def _negative(signs: Any) -> Wrong:
    """Which numbers are negative; one reduction where none is."""
    if signs.ndim == 0:
        return None if signs >= 0 else np.True_
    return None if signs.min(initial=0) >= 0 else signs < 0


def _sum(a: Value, b: Value, result: Value) -> Wrong:
    if a.ndim > b.ndim == 0:  # one comparison of many lanes is enough
        return _any(result < a if b >= 0 else result > a)
    if b.ndim > a.ndim == 0:
        return _any(result < b if a >= 0 else result > b)
    return _negative((a ^ result) & (b ^ result))


def _difference(a: Value, b: Value, result: Value) -> Wrong:
    return _negative((a ^ b) & (a ^ result))


def _product(a: Value, b: Value, result: Value) -> Wrong:
    if result.ndim == 0:
        return None if int(a) * int(b) == int(result) else np.True_
    if result.dtype.itemsize < 8:
        return _any(np.multiply(a, b, dtype=np.int64) != result)
    near = np.abs(np.multiply(a, b, dtype=np.float64)) >= 2.0**62
    return _any(near & _not_exact(a, b, result)) if near.any() else None


def _not_exact(a: Value, b: Value, result: Value) -> npt.NDArray[np.bool_]:
    """By Python's integers, for products near the ends of 64 bits."""
    exact = np.asarray(a).astype(object) * np.asarray(b).astype(object)
    return np.asarray(exact != np.asarray(result).astype(object), bool)


def _by_zero(a: Value, b: Value, result: Value) -> Wrong:
    return _any(b == 0)


def _quotient(a: Value, b: Value, result: Value) -> Wrong:
    return _any((b == -1) & (a == np.iinfo(b.dtype).min))


def _lost_bits(a: Value, b: Value, result: Value) -> Wrong:
    count = (b & b.dtype.type(8 * a.dtype.itemsize - 1)).astype(a.dtype)
    return _any(np.right_shift(result, count) != a)


def checked_change(code: Code, convert: Callable[[Code], Code], position: Position, machine: "Machine") -> Code:
    """`code` converted to another type, with a check that the value is in that type's range. The value is computed once: it
    may read memory, or have side effects."""
    changed = convert(code)
    source, element = element_of(code.type), element_of(changed.type)
    if source is None or element is None or code.boolean or element.is_float or element.name == "bool":
        return changed
    if source.is_float:
        text = Sentence(
            "a {source} outside the range of {kind}: the result is implementation-defined (OpenCL C, 6.2.3.3)",
            source=source, kind=element,
        )  # fmt: skip
        find = _outside(element)
    elif source.size == 8 and element.size == 4 and element.is_signed:
        text = Sentence(
            "a {source} that {kind} cannot hold: the result is implementation-defined (C99, 6.3.1.3)",
            source=source, kind=element,
        )  # fmt: skip
        find = _cut_off
    else:
        return changed
    check = Check(machine, position, "becomes", CONVERSION, text, find)
    if code.constant is not None and find(code.constant, code.constant, changed.constant) is None:
        return changed
    run, held = code.run, [None]
    after = convert(replace(code, run=lambda frame, mask: held[0])).run

    def checked(frame: Frame, mask: Mask) -> Value:
        value = held[0] = run(frame, mask)
        result = after(frame, mask)
        wrong = find(value, value, result)
        if wrong is not None:
            check.report(value, result, wrong, mask)
        return result

    return Code(changed.type, checked, changed.boolean, None)


def _outside(element: Scalar) -> Find:
    """NaN, and what does not lie between the ends of an integer type once its fraction is gone."""
    limits = np.iinfo(element.dtype)
    low, high = float(limits.min), float(int(limits.max) + 1)

    def find(value: Value, again: Value, result: Value) -> Wrong:
        whole = np.trunc(value)
        return _any(~((whole >= low) & (whole < high)))

    return find


def _cut_off(value: Value, again: Value, result: Value) -> Wrong:
    """A size_t that holds a negative difference becomes that difference, as its author meant."""
    return _any(value.view(np.int64) != result)
