"""Compiles expressions to closures over lanes."""

from dataclasses import replace

import numpy as np

from ..clc.layout import fact_of
from ..clc.lexer import Position
from ..clc.tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Comma,
    Conditional,
    Expression,
    ExpressionStatement,
    Index,
    InitList,
    Member,
    Name,
    Number,
    Postfix,
    SizeOf,
    StatementExpression,
    Text,
    Unary,
    VectorLiteral,
)
from ..clc.types import (
    CHAR,
    INT,
    ULONG,
    Array,
    Event,
    Pointer,
    Scalar,
    Space,
    Struct,
    Type,
    Vector,
    Void,
    promoted,
)  # fmt: skip
from ..clc.walk import may_change_variables
from .arithmetic import binary, offset_of, unary
from .compiled_code import Code, Frame, Register, Value
from .convert import change
from .jumps import check_stays
from .masks import Mask
from .operators import OperatorCompiler, remembered
from .part_places import BitFieldPlace
from .places import MemoryPlace
from .wide_constants import WIDE, check_fits, with_sign, with_width


class ExpressionCompiler(OperatorCompiler):
    """Adds expressions to places, calls and operators."""

    def value(self, expression: Expression) -> Code:
        match expression:
            case Number():
                return self.number(expression)
            case Name():
                return self.name(expression)
            case Index() | Member():
                return self.read(expression)
            case Unary():
                return self.unary_value(expression)
            case Postfix():
                return self.step(expression.operand, expression.operator, expression.position, after=True)
            case Binary():
                return self.binary_value(expression)
            case Assign():
                return self.assign(expression)
            case Conditional():
                return self.conditional(expression)
            case Comma():
                return self.comma(expression)
            case Cast():
                return self.cast(expression)
            case VectorLiteral():
                return self.vector(expression)
            case SizeOf():
                return self.size_of(expression)
            case Call():
                return self.call(expression)
            case StatementExpression():
                return self.statement_expression(expression)
            case Text():
                return self.text(expression)
        raise expression.position.error("this cannot stand in an expression")

    def text(self, expression: Text) -> Code:
        """A string literal: constant memory, once for each text."""
        if expression.text not in self.texts:
            raw = np.frombuffer(expression.text.encode("latin-1") + b"\0", np.uint8)
            self.texts[expression.text] = self.machine.memory.buffer("a text", raw, Space.CONSTANT, writable=False)
        address = self.texts[expression.text].address
        return Code(Pointer(CHAR, Space.CONSTANT, True), lambda frame, mask: address)

    def number(self, expression: Number) -> Code:
        value = expression.type.dtype.type(expression.value)
        return Code(expression.type, lambda frame, mask: value, False, value, expression.wide)

    def name(self, expression: Name) -> Code:
        symbol = self.find(expression.name, expression.position)
        if isinstance(symbol, Register) and not symbol.tracked:
            slot = symbol.slot
            return Code(symbol.type, lambda frame, mask: frame.slots[slot])
        return self.read(expression)

    def unary_value(self, expression: Unary) -> Code:
        if expression.operator == "*":
            return self.read(expression)
        if expression.operator == "&":
            place = self.place(expression.operand)
            if not isinstance(place, MemoryPlace) or not self.has_address(expression.operand):
                raise expression.position.error("this has no address")
            return Code(Pointer(place.type, place.space, place.constant, volatile=place.volatile), place.locate)
        if expression.operator in ("++", "--"):
            return self.step(expression.operand, expression.operator, expression.position, after=False)
        operand = self.value(expression.operand)
        result = unary(expression.operator, operand, expression.position, self.machine)
        if expression.operator == "!":
            check_fits(operand, expression.position)
            return result
        return with_sign(result, expression.operator, operand)

    def step(self, operand: Expression, operator: str, position: Position, after: bool) -> Code:
        """++ and --; `after` gives the value from before."""
        place = self.writable(operand)
        one = np.int32(1)
        amount = Code(INT, lambda frame, mask: one, False, one)
        held: list[Value] = [None]
        old = Code(place.type, lambda frame, mask: held[0])
        new = change(binary(operator[0], old, amount, position, self.machine), place.type).run
        locate, load, store = place.locate, place.load, place.store

        def run(frame: Frame, mask: Mask) -> Value:
            where = locate(frame, mask)
            before = held[0] = load(frame, mask, where)
            value = new(frame, mask)
            store(frame, mask, where, value)
            return before if after else value

        return Code(place.type, run)

    def assign(self, expression: Assign) -> Code:
        place = self.writable(expression.target)
        locate, load, store = place.locate, place.load, place.store
        kept = place.kept if isinstance(place, BitFieldPlace) else None
        if isinstance(place.type, Array):
            raise expression.position.error("an array cannot be assigned as a whole")
        if not expression.operator:
            if isinstance(expression.value, InitList):
                raise expression.position.error("braces can only initialise, not assign")
            code = self.value(expression.value)
            self.check_assignable(code, place.type, expression.position)
            source = self.converted(code, place.type, expression.position).run

            def plain(frame: Frame, mask: Mask) -> Value:
                value = source(frame, mask)
                store(frame, mask, locate(frame, mask), value)
                return value if kept is None else kept(value)

            return Code(place.type, plain)
        held: list[Value] = [None]
        old = Code(place.type, lambda frame, mask: held[0])
        first, added = self.computed_first(expression)
        combined = self.combined(expression, old, added)
        new = self.converted(combined, place.type, expression.position).run

        def compound(frame: Frame, mask: Mask) -> Value:
            if first is not None:
                first.run(frame, mask)
            where = locate(frame, mask)
            outer, held[0] = held[0], load(frame, mask, where)
            value = new(frame, mask)
            held[0] = outer
            store(frame, mask, where, value)
            return value

        return Code(place.type, compound)

    def computed_first(self, expression: Assign) -> tuple[Code | None, Code | None]:
        """The right side of a compound assignment, and its value again, if it may change the left side. C leaves the order open;
        compilers compute it first."""
        if self.may_fuse(expression) or not may_change_variables(expression.value):
            return None, None
        return remembered(self.value(expression.value))

    def may_fuse(self, expression: Assign) -> bool:
        value = expression.value
        return (
            self.contract and expression.operator in ("+", "-") and isinstance(value, Binary) and value.operator == "*"
        )

    def combined(self, expression: Assign, old: Code, known: Code | None) -> Code:
        """`known` is the value of the right side, if it was computed before."""
        value = expression.value
        if self.may_fuse(expression) and isinstance(value, Binary):
            code = self.fuse(value, old, expression.operator == "-", False, expression.position)
            if code is not None:
                return code
        code = self.value(value) if known is None else known
        if expression.operator == "+" and not self.contract and known is None:
            self.added[id(expression)] = code
        result = binary(expression.operator, old, code, expression.position, self.machine)
        operation = Binary(expression.position, expression.operator, expression.target, value)
        return with_width(result, old, code, operation)

    def comma(self, expression: Comma) -> Code:
        first, second = self.value(expression.first).run, self.value(expression.second)
        run = second.run

        def both(frame: Frame, mask: Mask) -> Value:
            first(frame, mask)
            return run(frame, mask)

        return Code(second.type, both, second.boolean, None, second.wide, second.beyond)

    def statement_expression(self, expression: StatementExpression) -> Code:
        check_stays(expression.block)
        statements = expression.block.statements
        last = statements[-1] if statements else None
        has_value = isinstance(last, ExpressionStatement)
        self.state.scopes.append({})
        steps = [self.statement(each) for each in (statements[:-1] if has_value else statements)]
        value = self.value(last.expression) if isinstance(last, ExpressionStatement) else None
        self.state.scopes.pop()

        def run(frame: Frame, mask: Mask) -> Value:
            for step in steps:
                step(frame, mask)
            return None if value is None else value.run(frame, mask)

        if value is None:
            return Code(Void(), run)
        return Code(value.type, run, value.boolean, None, value.wide, value.beyond)

    def cast(self, expression: Cast) -> Code:
        target = self.resolved(expression.type)
        if isinstance(expression.operand, InitList):
            if isinstance(target, Array | Struct):
                return self.read(expression)
            return self.initial_value(expression.operand, target)
        operand = expression.operand
        if isinstance(target, Void):
            code = self.call(operand, used=False) if isinstance(operand, Call) else self.value(operand)
            return Code(target, code.run)
        if isinstance(target, Struct) and self.type_of(operand) != target:
            return self.cast_to_struct(expression, target)
        code = self.value(operand)
        if isinstance(target, Vector) and isinstance(code.type, Vector) and target != code.type:
            raise expression.position.error(
                f"{code.type} cannot be cast to {target}; use convert_{target} or as_{target}"
            )
        if isinstance(code.type, Vector) and not isinstance(target, Vector):
            raise expression.position.error(f"{code.type} cannot be cast to {target}; name the component that is meant")
        if not may_be_cast(code.type, target):
            raise expression.position.error(f"{code.type} cannot be cast to {target}")
        if isinstance(target, Pointer) and isinstance(code.type, Pointer):
            space = target.space if target.space is not Space.PRIVATE else code.type.space
            return Code(replace(target, space=space), code.run)
        return self.converted(code, target, expression.position)

    def cast_to_struct(self, expression: Cast, target: Struct) -> Code:
        """GNU's `(union u)x`, which Clang takes, too: the first member of just that type gets the value."""
        operand, position = expression.operand, expression.position
        code = self.value(operand)
        if not target.is_complete:
            raise position.error(f"{target} is not defined")
        names = [each for each in target.fields if each.name]
        same = [each for each in names if each.type == code.type and str(each.type) == str(code.type) and not code.wide]
        if target.union and same:  # an enumeration equals its integer type, and has another name
            return self.read(
                replace(expression, type=target, operand=InitList(position, (((same[0].name,), operand),)))
            )
        why = ", which has no member of that type" if target.union else ""
        example = f"{{.{names[0].name} = ...}}" if names else "{...}"
        raise position.error(
            f"{code.type} cannot be cast to {target}{why}: name the members in braces, as in {example}"
        )

    def vector(self, expression: VectorLiteral) -> Code:
        kind = self.resolved(expression.type)
        if not isinstance(kind, Vector):
            raise expression.position.error(f"{kind} takes no list of elements")
        items = [self.value(each) for each in expression.items]
        if len(items) == 1 and isinstance(items[0].type, Scalar):
            return change(self.as_element(items[0], kind.element, expression.position), kind)
        return self.vector_of_codes(kind, items, expression.position)

    def vector_of_codes(self, kind: Vector, items: list[Code], position: Position) -> Code:
        """Scalars and vectors that fill a vector, one after the other."""
        if len(items) == 1 and items[0].type == kind:
            return items[0]
        if len(items) == 1 and isinstance(items[0].type, Vector):
            raise position.error(f"{items[0].type} cannot be cast to {kind}; use convert_{kind} or as_{kind}")
        widths = [item.type.width if isinstance(item.type, Vector) else 1 for item in items]
        if sum(widths) != kind.width:
            raise position.error(f"{kind} takes {kind.width} elements, not {sum(widths)}")
        runs = [self.as_element(item, kind.element, position).run for item in items]

        def run(frame: Frame, mask: Mask) -> Value:
            return stack([code(frame, mask) for code in runs], widths)

        return Code(kind, run)

    def as_element(self, code: Code, element: Scalar, position: Position) -> Code:
        if isinstance(code.type, Vector):
            if code.type.element != element:
                raise position.error(f"{code.type} does not fit into a vector of {element}")
            return code
        if not isinstance(code.type, Scalar):
            raise position.error(f"{code.type} does not fit into a vector")
        if element.is_float:
            check_fits(code, position)
        return change(code, element)

    def size_of(self, expression: SizeOf) -> Code:
        kind = expression.type
        if kind is None:
            assert expression.operand is not None
            kind = WIDE if self.is_wide(expression.operand) else self.type_of(expression.operand)
        kind = self.resolved(kind)
        value = np.uint64(fact_of(kind, expression.asks, expression.position))
        return Code(ULONG, lambda frame, mask: value, False, value)


def may_be_cast(source: Type, target: Type) -> bool:
    """Whether a cast exists, vectors left aside: between numbers, and between pointers and integers."""
    if isinstance(source, Pointer) or isinstance(target, Pointer):
        return all(
            isinstance(each, Pointer) or (isinstance(each, Scalar) and not each.is_float) for each in (source, target)
        )
    return source == target or (isinstance(source, Scalar) and isinstance(target, Scalar | Vector | Event))


def stack(values: list[Value], widths: list[int]) -> Value:
    """Scalars and vectors one after the other in one vector."""
    lanes = max(np.shape(value)[-1] if np.ndim(value) else 1 for value in values)
    out = np.empty((sum(widths), lanes), values[0].dtype)
    at = 0
    for value, width in zip(values, widths, strict=True):
        out[at : at + width] = value
        at += width
    return out


__all__ = ["ExpressionCompiler", "offset_of", "promoted", "stack"]
