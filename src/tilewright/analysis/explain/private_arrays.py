"""Private arrays: which of them lie off-chip, why, and what their traffic costs."""

from collections.abc import Iterator
from dataclasses import dataclass

from .clc import Program
from .clc.lexer import Position
from .clc.tree import Declaration, Function, Variable
from .clc.types import Array, Space
from .clc.walk import called_functions, nodes_of
from .simt.off_chip import off_chip_arrays


@dataclass(frozen=True)
class PrivateArray:
    """An array of which every work-item has a copy. `off_chip` says that a compiler can hardly keep it in registers, and
    `subscript` which subscript is no constant; None if the array is too long for registers."""

    name: str
    nbytes: int
    position: Position
    off_chip: bool = False
    subscript: Position | None = None


def private_arrays(program: Program, entry: str, room: int | None = None) -> tuple[PrivateArray, ...]:
    """The private arrays of the kernel and of the functions that it calls, in the order of declaration. Without `room`, the
    most bytes that registers hold, none of them counts as off-chip."""
    outside = off_chip_arrays(program, entry, room)
    return tuple(
        PrivateArray(
            variable.name,
            variable.type.size,
            variable.position,
            id(variable) in outside,
            outside[id(variable)].position if id(variable) in outside else None,
        )
        for function in called_functions(program, entry)
        for variable in _variables(function)
        if isinstance(variable.type, Array) and variable.space in (None, Space.PRIVATE) and not variable.static
    )


def _variables(function: Function) -> Iterator[Variable]:
    for node in nodes_of(function.body):
        if isinstance(node, Declaration):
            yield from node.variables
