"""Compiles calls of the program's own functions and of builtins."""

from dataclasses import replace
from typing import Any

import numpy as np

from ....core.language import Sentence
from ..clc.lexer import Position
from ..clc.refused import REFUSED_WORDS
from ..clc.tree import Call, Function
from ..clc.types import UINT, Event, Pointer, Scalar, Struct, Type, Vector, Void, element_of
from ..clc.walk import has_assembly
from .builtins import NVIDIA_WRAPPERS, PTX_ADDRESSES, find_builtin
from .compiled_code import Code, Frame, Register, Value
from .convert import change
from .findings import UNINITIALISED
from .lvalues import PlaceCompiler
from .masks import Mask
from .overloads import Given, chosen_overload, signature
from .places import MemoryPlace, RegisterPlace
from .pointer_types import check_pointers
from .registers import value_of_bytes, zero_of
from .undefined import checked_change
from .wide_constants import check_fits


def is_null(code: Code) -> bool:
    """A constant 0, the only integer that is a pointer without a cast; or NULL."""
    kind = code.type
    may = not kind.is_float if isinstance(kind, Scalar) else isinstance(kind, Pointer) and isinstance(kind.target, Void)
    return may and code.constant is not None and not code.boolean and bool(code.constant == 0)


def no_value(kind: Type) -> Value:
    """Zeros in the shape of a result."""
    return value_of_bytes(np.zeros(kind.size, np.uint8)) if isinstance(kind, Struct) else zero_of(kind)


def is_wrapper(function: Function) -> bool:
    """Whether a function of the source stands for one of NVIDIA's instructions, which a builtin runs instead of its body."""
    if function.name in PTX_ADDRESSES:
        return len(function.parameters) == 1 and function.result == UINT
    return function.name in NVIDIA_WRAPPERS and has_assembly(function)


class CallCompiler(PlaceCompiler):
    """Adds calls to the places."""

    def converted(self, code: Code, target: Type, position: Position) -> Code:
        """`code` as an assignment to `target` converts it."""
        element = element_of(target)
        if element is not None and (element.is_float or element.name == "bool"):
            check_fits(code, position)
        return checked_change(code, lambda each: change(each, target), position, self.machine)

    def check_assignable(self, code: Code, target: Type, position: Position) -> None:
        source = code.type
        if isinstance(source, Pointer) and isinstance(target, Pointer):
            if not is_null(code):
                check_pointers(source, target, position)
            return
        fits = (
            source == target
            or (isinstance(source, Scalar) and isinstance(target, Scalar | Vector | Event))
            or (isinstance(source, Scalar) and isinstance(target, Pointer) and is_null(code))
            or (isinstance(source, Pointer) and isinstance(target, Scalar) and target.name == "bool")
            or (isinstance(source, Event) and isinstance(target, Event))
        )
        if not fits:
            raise position.error(f"{source} cannot become {target}")

    def call(self, expression: Call, used: bool = True) -> Code:
        """`used` says whether somebody wants the result."""
        overloaded = any(each.overloadable for each in expression.headings)
        function = self.overload(expression) if overloaded else self.function_named(expression)
        if function is not None and not is_wrapper(function):
            return self.user_call(function, expression, used)
        builtin = find_builtin(expression.name)
        if builtin is None:
            why = REFUSED_WORDS.get(
                expression.name, "it is neither in the source nor a function of OpenCL C known here"
            )
            raise expression.position.error(f"function {expression.name!r} is not known: {why}")
        return builtin(self, expression)

    def function_named(self, call: Call) -> Function | None:
        """The one function of that name, if the source has one."""
        function = self.program.functions.get(call.name)
        if function is not None and not call.headings:
            raise call.position.error(
                f"{call.name} is called before it is declared: write its declaration above the call"
            )
        return function

    def overload(self, call: Call) -> Function | None:
        """The function that fits the arguments best; None for a builtin of that name."""
        given = [Given(code.type, is_null(code), code.wide) for code in map(self.value, call.arguments)]
        headings = [
            replace(each, parameters=tuple(self.resolved(kind) for kind in each.parameters)) for each in call.headings
        ]
        builtin = find_builtin(call.name) is not None
        heading = chosen_overload(headings, given, call, builtin)
        if heading is None:
            return None
        if heading.key not in self.program.functions:
            raise call.position.error(f"{signature(call.name, heading.parameters)} is declared and has no body")
        return self.program.functions[heading.key]

    def no_result(self, function: Function, lanes: Mask) -> None:
        """The lanes reached the end of a function whose result is used (C99, 6.9.1: undefined)."""
        self.machine.findings.add(
            UNINITIALISED,
            function.position,
            Sentence(
                "{function} ends without a return, and its {kind} is used", function=function.name, kind=function.result
            ),
            self.machine.item_name(int(lanes.indices[0])),
            count=lanes.count,
        )

    def user_call(self, function: Function, expression: Call, used: bool) -> Code:
        if len(expression.arguments) != len(function.parameters):
            raise expression.position.error(
                f"{expression.name} takes {len(function.parameters)} arguments, {len(expression.arguments)} given"
            )
        compiled = self.function(function, expression.position)
        machine = self.machine
        arguments: list[tuple[Any, Any]] = []
        for parameter, (_, symbol), argument in zip(
            function.parameters, compiled.parameters, expression.arguments, strict=True
        ):
            code = self.value(argument)
            self.check_assignable(code, parameter.type, argument.position)
            arguments.append((symbol, self.converted(code, parameter.type, argument.position).run))
        places = [
            RegisterPlace(machine, symbol, "", expression.position)
            if isinstance(symbol, Register)
            else MemoryPlace(machine, symbol.type, symbol.address, symbol.space, False, expression.position, False)
            for symbol, _ in arguments
        ]
        runs = [run for _, run in arguments]
        promised = not isinstance(function.result, Void)

        def run(frame: Frame, mask: Mask) -> Value:
            machine.tick(expression.position)
            own = Frame(compiled.slots)
            for place, argument in zip(places, runs, strict=True):
                place.store(own, mask, place.locate(own, mask), argument(frame, mask))
            assert compiled.body is not None
            fell = compiled.body(own, mask)
            if promised and used and fell.any:
                self.no_result(function, fell)
            return nothing if own.result is None and promised else own.result

        nothing = no_value(function.result)
        return Code(function.result, run)
