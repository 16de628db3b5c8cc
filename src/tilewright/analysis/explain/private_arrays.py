"""Private arrays. Those longer than the registers of a work-item lie in off-chip memory, and their traffic is not counted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .clc import Program
from .clc.lexer import Position
from .clc.tree import Call, Declaration, Function, Variable
from .clc.types import Array, Space
from .models.rules import Model
from .simt.address_taken import nodes_of


@dataclass(frozen=True)
class PrivateArray:
    """An array of which every work-item has a copy."""

    name: str
    nbytes: int
    position: Position


def private_arrays(program: Program, entry: str) -> tuple[PrivateArray, ...]:
    """The private arrays of the kernel and of the functions that it calls, in the order of declaration."""
    return tuple(
        PrivateArray(variable.name, variable.type.size, variable.position)
        for function in _called(program, entry)
        for variable in _variables(function)
        if isinstance(variable.type, Array) and variable.space in (None, Space.PRIVATE) and not variable.static
    )


def _called(program: Program, entry: str) -> Iterator[Function]:
    """The function `entry` and all functions that it calls, directly or not, each once."""
    found, waiting = {entry}, [entry]
    while waiting:
        function = program.functions[waiting.pop(0)]
        yield function
        calls = [node.name for node in nodes_of(function.body) if isinstance(node, Call)]
        fresh = [name for name in dict.fromkeys(calls) if name in program.functions and name not in found]
        found.update(fresh)
        waiting += fresh


def _variables(function: Function) -> Iterator[Variable]:
    for node in nodes_of(function.body):
        if isinstance(node, Declaration):
            yield from node.variables


def private_notes(arrays: Iterable[PrivateArray], model: Model) -> list[str]:
    """A sentence about each array that is longer than the registers of a work-item."""
    return [
        f"line {each.position.line}: the private array {each.name} has {each.nbytes:,} bytes for each work-item, and the "
        f"registers of a work-item hold {model.register_bytes:,}: it lies in off-chip memory, whose traffic is not counted here"
        for each in arrays
        if each.nbytes > model.register_bytes
    ]
