"""What the tables of builtins share: compiling arguments, meeting types, wrapping NumPy functions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import Pointer, Scalar, Type, Vector, element_of
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change, widen
from ..masks import Mask
from ..places import memory_access
from ..pointer_types import fits
from ..segments import Access

Builtin = Callable[[Context, Call], Code]


def arguments(context: Context, call: Call, *counts: int) -> list[Code]:
    """The compiled arguments of a call that takes one of `counts` of them."""
    if len(call.arguments) not in counts:
        wanted = " or ".join(map(str, counts))
        raise call.position.error(f"{call.name} takes {wanted} arguments, {len(call.arguments)} given")
    return [context.value(each) for each in call.arguments]


def numeric(codes: Sequence[Code], call: Call) -> None:
    for code in codes:
        if element_of(code.type) is None:
            raise call.position.error(f"{call.name} takes numbers, not {code.type}")


def apply(kind: Type, function: Callable[..., Value], codes: Sequence[Code]) -> Code:
    """`function` of the arguments' values."""
    runs = [code.run for code in codes]
    if len(runs) == 1:
        only = runs[0]
        return Code(kind, lambda frame, mask: function(only(frame, mask)))
    if len(runs) == 2:
        first, second = runs
        return Code(kind, lambda frame, mask: function(first(frame, mask), second(frame, mask)))

    def run(frame: Frame, mask: Mask) -> Value:
        return function(*[each(frame, mask) for each in runs])

    return Code(kind, run)


def broadcast(codes: Sequence[Code], kind: Scalar | Vector) -> list[Code]:
    """The arguments with the element type of `kind`; scalars stay scalars, since NumPy broadcasts them."""
    element = element_of(kind)
    assert element is not None
    return [change(code, element) if isinstance(code.type, Scalar) else code for code in codes]


def full(value: Value, kind: Scalar | Vector) -> Value:
    """A result in the shape of its type, even where all arguments were scalars."""
    return widen(value, kind.width) if isinstance(kind, Vector) and np.ndim(value) < 2 else value


def pointer_argument(code: Code, call: Call) -> Pointer:
    if not isinstance(code.type, Pointer):
        raise call.position.error(f"{call.name} takes a pointer here, not {code.type}")
    return code.type


def second_result(context: Context, call: Call, code: Code, kind: Type) -> Access:
    """How a function stores a result of type `kind` through the pointer that is its last argument. It is counted like any
    other store."""
    pointer = pointer_argument(code, call)
    if not fits(pointer.target, kind):
        raise call.position.error(f"{call.name} stores {kind} there, and was given {code.type}")
    return memory_access(context.machine, kind, call.position, "store")


def constant_argument(code: Code, call: Call) -> int:
    return constant_argument_of(code, call.position, call.name)


def constant_argument_of(code: Code, position: Position, name: str) -> int:
    """The value of a constant; an error if it is none."""
    if code.constant is None:
        raise position.error(f"{name} takes a constant here")
    return int(code.constant)


def uniform_integer(value: Any, mask: Mask, position: Position, what: str) -> int:
    """The value that all lanes of `mask` agree on."""
    if np.ndim(value) == 0:
        return int(value)
    chosen = np.unique(np.asarray(value)[mask.indices])
    if len(chosen) > 1:
        raise position.error(f"{what} differs between work-items: {chosen[0]} and {chosen[1]}")
    return int(chosen[0])
