"""Compiles binary operators and `?:`: products in sums, short-circuit logic, logic of vectors."""

from dataclasses import replace

import numpy as np

from ..clc.constant import FLOAT_BEFORE_QUESTION_MARK
from ..clc.lexer import Position
from ..clc.tree import Binary, Conditional
from ..clc.types import INT, Pointer, Scalar, Type, Vector, element_of, signed_integer
from .arithmetic import binary, common_type, fused, to_common
from .calls import CallCompiler, is_null
from .compiled_code import Code, Frame, Value
from .conditions import check_selects, condition
from .convert import change
from .masks import Mask
from .pointer_types import common_pointer
from .wide_constants import check_fits, of_both, with_width


def remembered(code: Code) -> tuple[Code, Code]:
    """A value that is computed, and that value again without a second computation."""
    held: list[Value] = [None]
    run = code.run

    def computed(frame: Frame, mask: Mask) -> Value:
        held[0] = run(frame, mask)
        return held[0]

    return replace(code, run=computed), replace(code, run=lambda frame, mask: held[0])


class OperatorCompiler(CallCompiler):
    """Adds operators of two and three operands to places and calls."""

    def binary_value(self, expression: Binary) -> Code:
        if expression.operator in ("&&", "||"):
            return self.logical(expression)
        if self.contract and expression.operator in ("+", "-"):
            code = self.contracted(expression)
            if code is not None:
                return code
        left, right = self.value(expression.left), self.value(expression.right)
        result = binary(expression.operator, left, right, expression.position, self.machine)
        return with_width(result, left, right, expression)

    def contracted(self, expression: Binary) -> Code | None:
        """A product in a sum rounded once, chosen as Clang's fp-contract=on does: the left product first."""
        minus = expression.operator == "-"
        for product, addend, on_left in (
            (expression.left, expression.right, True),
            (expression.right, expression.left, False),
        ):
            if isinstance(product, Binary) and product.operator == "*":
                code = self.fuse(product, self.value(addend), minus, on_left, expression.position)
                if code is not None:
                    return code
        return None

    def fuse(self, product: Binary, addend: Code, minus: bool, on_left: bool, position: Position) -> Code | None:
        left, right = self.value(product.left), self.value(product.right)
        if isinstance(left.type, Pointer) or isinstance(right.type, Pointer) or isinstance(addend.type, Pointer):
            return None
        inner = common_type(left.type, right.type, position)
        outer = common_type(inner, addend.type, position)
        element = element_of(outer)
        if inner != outer or element is None or not element.is_float:
            return None
        for each in (left, right, addend):
            check_fits(each, position)
        pair = to_common(left, outer), to_common(right, outer)
        return fused(pair, to_common(addend, outer), minus and not on_left, minus and on_left, outer)

    def logical(self, expression: Binary) -> Code:
        left, right = self.value(expression.left), self.value(expression.right)
        both = expression.operator == "&&"
        if isinstance(left.type, Vector) or isinstance(right.type, Vector):
            return self.vector_logical(left, right, both, expression.position)
        first = condition(left, expression.left.position).run
        second = condition(right, expression.right.position).run

        def run(frame: Frame, mask: Mask) -> Value:
            known = first(frame, mask)
            undecided = mask.where(known) if both else mask.except_where(known)
            if not undecided.any:
                return known
            return known & second(frame, undecided) if both else known | second(frame, undecided)

        return Code(INT, run, True)

    def vector_logical(self, left: Code, right: Code, both: bool, position: Position) -> Code:
        common = common_type(left.type, right.type, position)
        assert isinstance(common, Vector)
        element = signed_integer(common.element.size)
        first, second = left.run, right.run

        def run(frame: Frame, mask: Mask) -> Value:
            a, b = first(frame, mask) != 0, second(frame, mask) != 0
            return -((a & b if both else a | b).astype(element.dtype))

        return Code(Vector(element, common.width), run)

    def conditional(self, expression: Conditional) -> Code:
        asked = self.value(expression.condition)
        if expression.chosen is expression.condition:  # `a ?: b` computes a once
            asked, chosen = remembered(asked)
        else:
            chosen = self.value(expression.chosen)
        other = self.value(expression.other)
        if isinstance(asked.type, Vector):
            return self.vector_conditional(asked, chosen, other, expression.position)
        if isinstance(asked.type, Scalar) and asked.type.is_float:
            raise expression.condition.position.error(FLOAT_BEFORE_QUESTION_MARK.format(kind=asked.type))
        kind = self.meeting(chosen, other, expression.position)
        test = condition(asked, expression.condition.position).run
        first, second = change(chosen, kind).run, change(other, kind).run

        def run(frame: Frame, mask: Mask) -> Value:
            known = test(frame, mask)
            if known.ndim == 0:
                return first(frame, mask) if known else second(frame, mask)
            yes, no = mask.where(known), mask.except_where(known)
            if not no.any:
                return first(frame, yes)
            if not yes.any:
                return second(frame, no)
            return np.where(known, first(frame, yes), second(frame, no))

        return of_both(Code(kind, run), chosen, other, expression.position)

    def meeting(self, chosen: Code, other: Code, position: Position) -> Type:
        if isinstance(chosen.type, Pointer) and isinstance(other.type, Pointer):
            if is_null(chosen) or is_null(other):
                return other.type if is_null(chosen) else chosen.type
            return common_pointer(chosen.type, other.type, position)
        if isinstance(chosen.type, Pointer):
            return chosen.type
        if isinstance(other.type, Pointer):
            return other.type
        if chosen.type == other.type and not isinstance(chosen.type, Scalar):
            return chosen.type
        return common_type(chosen.type, other.type, position)

    def vector_conditional(self, asked: Code, chosen: Code, other: Code, position: Position) -> Code:
        """Element by element, by the sign bit of the condition (6.3.i)."""
        assert isinstance(asked.type, Vector)
        kind = common_type(chosen.type, other.type, position)
        if isinstance(kind, Scalar):
            kind = Vector(kind, asked.type.width)
        check_selects(asked.type, kind, position)
        test, first, second = asked.run, change(chosen, kind).run, change(other, kind).run
        return Code(kind, lambda frame, mask: np.where(test(frame, mask) < 0, first(frame, mask), second(frame, mask)))
