"""Which private arrays cannot stay in registers: registers have no addresses, so every subscript must be a constant.

A compiler makes subscripts constant by unrolling loops whose counts it knows, and by putting functions in where they are
called. It does so up to some length: MOST_UNROLLED iterations of the nested loops that a subscript depends on is a guess in
the middle of what NVIDIA's compiler was seen to do (200 in one loop unrolled, 64 times 32 nested not).
"""

from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..clc.constant import try_constant
from ..clc.lexer import Position
from ..clc.tree import (
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declaration,
    Expression,
    Function,
    Index,
    Loop,
    Member,
    Name,
    Node,
    Number,
    Program,
    SizeOf,
    Switch,
    Unary,
    Variable,
)
from ..clc.types import Array, Space, Struct, Type
from ..clc.walk import children
from .loop_counters import assigned, bounds_of, counters, initial_value, step_of

MOST_UNROLLED = 1024


@dataclass(frozen=True)
class OffChip:
    """Why a private array lies off-chip: where a subscript is no constant, or None if the array is too long."""

    position: Position | None


@dataclass(frozen=True)
class _Meaning:
    """What a name stands for: the private array `array` (the id of its declaration), or a value that is constant once the
    loops with these iterations are unrolled (None: never)."""

    array: int | None = None
    unrolled: tuple[tuple[int, int], ...] | None = None  # (id of the loop, its iterations)


_VARIES, _CONSTANT = _Meaning(), _Meaning(unrolled=())


def off_chip_arrays(program: Program, entry: str, room: int | None) -> dict[int, OffChip]:
    """The private arrays, and structs with arrays, of a kernel and of what it calls that lie off-chip: by the id of their
    Variable. `room` is the most bytes that registers hold; None means that nothing is off-chip."""
    if room is None:
        return {}
    walk = _Walk(program, room)
    function = program.functions[entry]
    try:
        walk.function(function, {parameter.name: _VARIES for parameter in function.parameters})
    except RecursionError:  # nested too deeply: what compiles the kernel says so, with the place
        return {}
    return walk.found


def holds_array(kind: Type) -> bool:
    """Whether a type is an array, or a struct with one."""
    return isinstance(kind, Array) or (isinstance(kind, Struct) and any(holds_array(each.type) for each in kind.fields))


@dataclass
class _Walk:
    program: Program
    room: int
    found: dict[int, OffChip] = field(default_factory=dict)
    walked: set[tuple[str, tuple[_Meaning, ...]]] = field(default_factory=set)
    scopes: list[dict[str, _Meaning]] = field(default_factory=list)
    changed: list[set[str]] = field(default_factory=list)  # names that are assigned, of each function that is walked

    def function(self, function: Function, meanings: dict[str, _Meaning]) -> None:
        call = (function.key, tuple(meanings.values()))
        if call in self.walked:
            return
        self.walked.add(call)
        outer, self.scopes = self.scopes, [meanings]
        self.changed.append(assigned(function.body))
        self.visit(function.body)
        self.changed.pop()
        self.scopes = outer

    def visit(self, node: Any) -> None:
        match node:
            case tuple():
                for each in node:
                    self.visit(each)
            case Declaration():
                for variable in node.variables:
                    self.declare(variable)
            case Loop():
                self.loop(node)
            case Index():
                self.subscripts(node)
            case Call():
                self.call(node)
            case SizeOf():
                pass
            case Node():
                scoped = isinstance(node, Block | Switch)
                self.scopes += [{}] * scoped
                for child in children(node):
                    self.visit(child)
                if scoped:
                    self.scopes.pop()

    def declare(self, variable: Variable) -> None:
        self.visit(variable.initial)
        meaning = _VARIES
        if variable.space in (None, Space.PRIVATE):
            if holds_array(variable.type):
                meaning = _Meaning(array=id(variable))
                if variable.type.size > self.room:
                    self.found[id(variable)] = OffChip(None)
            elif variable.initial is not None and variable.name not in self.changed[-1]:
                meaning = self.meaning(variable.initial)
        self.scopes[-1] = {**self.scopes[-1], variable.name: meaning}

    def loop(self, loop: Loop) -> None:
        self.scopes.append({})
        self.visit(loop.initial)
        for name in counters(loop):
            if (count := self.iterations(loop, name)) is not None:
                start = self.start(loop, name)
                unrolled = None if start is None else (*start, (id(loop), count))
                self.scopes[-1] = {**self.scopes[-1], name: _Meaning(unrolled=unrolled)}
        for part in (loop.condition, loop.step, loop.body):
            self.visit(part)
        self.scopes.pop()

    def start(self, loop: Loop, name: str) -> tuple[tuple[int, int], ...] | None:
        first = initial_value(loop.initial, name)
        return None if first is None else self.meaning(first).unrolled

    def iterations(self, loop: Loop, name: str) -> int | None:
        """An upper bound of a loop's iterations that a compiler can know, from the values that it can compute; None if the
        bound or the step depends on more. A start that varies with an outer loop counts from 0."""
        step = step_of(loop.step, name)
        known = (each for each in bounds_of(loop.condition, name) if self.meaning(each).unrolled is not None)
        bound = next(known, None)
        if bound is None or step is None or name in assigned(loop.body):
            return None
        last = try_constant(bound, {})
        first = try_constant(initial_value(loop.initial, name) or Number(loop.position, 0, None), {})  # type: ignore[arg-type]
        operator, amount = step
        if not isinstance(last, int) or not isinstance(first, int) or operator not in "+-" or not amount:
            return 32  # a known count of steps such as halving, or one known only after unrolling another loop
        return max(1, -(-abs(last - first) // abs(amount)))

    def subscripts(self, node: Index) -> None:
        """A chain of subscripts and members: if it begins at a private array, all subscripts must be constants."""
        indices: list[Expression] = []
        base: Expression = node
        while isinstance(base, Index) or (isinstance(base, Member) and not base.arrow):
            if isinstance(base, Index):
                indices.append(base.index)
                self.visit(base.index)
            base = base.base
        if not isinstance(base, Name):
            self.visit(base)
            return
        array = self.look_up(base.name).array
        if array is None:
            return
        for index in indices:
            self.need(array, index)

    def need(self, array: int, index: Expression) -> None:
        """A subscript of a private array, or what is added to its address, must be constant."""
        unrolled = self.meaning(index).unrolled
        if unrolled is None or prod(dict(unrolled).values()) > MOST_UNROLLED:
            self.found.setdefault(array, OffChip(index.position))

    def call(self, call: Call) -> None:
        """The arguments' meanings in the called function. An array given to a built-in function needs constants beside it."""
        self.visit(call.arguments)
        meanings = [self.meaning(each) for each in call.arguments]
        functions = [each for each in self.program.called(call) if len(each.parameters) == len(meanings)]
        for function in functions:
            fixed = assigned(function.body)
            names = [parameter.name for parameter in function.parameters]
            given = {name: _VARIES if name in fixed else meaning for name, meaning in zip(names, meanings, strict=True)}
            self.function(function, given)
        if functions:
            return
        for array in (each.array for each in meanings if each.array is not None):
            for other, meaning in zip(call.arguments, meanings, strict=True):
                if meaning.array is None and call.name.startswith(("vload", "vstore")) and other is call.arguments[-2]:
                    self.need(array, other)

    def meaning(self, expression: Expression) -> _Meaning:
        """What an expression is once loops are unrolled."""
        match expression:
            case Number() | SizeOf():
                return _CONSTANT
            case Name():
                return self.look_up(expression.name)
            case Cast():
                return self.meaning(expression.operand)
            case Unary(operator="&", operand=Index() as place):
                return self.address(place)
            case Unary(operator="&"):
                return self.meaning(expression.operand)
            case Unary(operator="+" | "-" | "~" | "!"):
                return self.meaning(expression.operand)
            case Binary():
                return self.together(expression.left, expression.right)
            case Conditional():
                return self.together(expression.condition, expression.chosen, expression.other)
            case Index(base=Name() as base) if base.name in {each.name for each in self.program.variables}:
                return self.meaning(expression.index)
        return _VARIES

    def address(self, place: Index) -> _Meaning:
        """`&array[i]`: still the array if i is constant."""
        base = self.meaning(place.base)
        if base.array is not None:
            self.need(base.array, place.index)
        return base if base.array is not None else _VARIES

    def together(self, *parts: Expression) -> _Meaning:
        meanings = [self.meaning(each) for each in parts]
        arrays = [each.array for each in meanings if each.array is not None]
        if arrays:
            for part, meaning in zip(parts, meanings, strict=True):
                if meaning.array is None:
                    self.need(arrays[0], part)
            return _Meaning(array=arrays[0])
        loops = [each.unrolled for each in meanings]
        if any(each is None for each in loops):
            return _VARIES
        return _Meaning(unrolled=tuple({key: value for each in loops for key, value in each or ()}.items()))

    def look_up(self, name: str) -> _Meaning:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), _VARIES)
