"""Where the loops of a kernel stand in its source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .clc import Program
from .clc.lexer import Position
from .clc.tree import Function, Loop
from .clc.walk import called_from, called_functions, nodes_of

Range = tuple[Position, Position]


@dataclass(frozen=True)
class LoopPlace:
    """A loop that was executed: its first position, its last line, the iterations of all sub-groups together, and what it
    holds: its own text and that of the functions that it calls."""

    position: Position
    last_line: int
    iterations: int
    ranges: tuple[Range, ...]

    def holds(self, position: Position) -> bool:
        return any(first.file == position.file and first <= position <= last for first, last in self.ranges)


def loop_places(program: Program, entry: str, counts: Mapping[Position, int]) -> tuple[LoopPlace, ...]:
    """The loops of the kernel `entry`, and of what it calls, with the positions in `counts`, which has their iterations."""
    found = []
    for function in called_functions(program, entry):
        for loop in _loops(function):
            if counts.get(loop.position):
                own = _range(loop)
                called = tuple(_range(each) for each in called_from(program, loop))
                place = LoopPlace(loop.position, own[1].line, counts[loop.position], (own, *called))
                found.append(place)
    return tuple(sorted(found, key=lambda each: each.position))


def _loops(function: Function) -> Iterator[Loop]:
    return (node for node in nodes_of(function.body) if isinstance(node, Loop))


def _range(node: Loop | Function) -> Range:
    own = [each.position for each in nodes_of(node) if each.position.file == node.position.file]
    return node.position, max(own)
