"""How copy_unaligned.cl moves bytes and shorts that do not all lie on words of 4 bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.operands import Layout
from ...core.problem import Problem
from ...core.types import element_type
from .configs import TYPES, WORD, CopyGroupConfig
from .move import VECTOR_BYTES, Move, too_long, width

Side = tuple[str, Layout, int, int]  # what it is called, how it lies, its lines in memory and their length


def per_word(move: Move) -> int:
    """Elements of a word; 1 where they are as large, or larger."""
    return max(1, WORD // element_type(move.dtype).itemsize)


def vector(move: Move) -> int:
    """Elements of VECTOR_BYTES."""
    return VECTOR_BYTES // element_type(move.dtype).itemsize


def scattered(move: Move, *sides: Side) -> Iterator[str]:
    """Why the elements of a line do not lie side by side, or the lines not one behind the other."""
    for name, side, lines, length in sides:
        if side.column != 1 and length > 1:
            yield f"neighbours in the {name} are {side.column} elements apart: no word holds two"
        if side.row < 0 and lines > 1:
            yield f"the {name}'s first line lies behind its last one, with {side.row} elements from line to line"


@dataclass(frozen=True)
class CopyUnalignedConfig(CopyGroupConfig):
    """copy_unaligned.cl, whose top explains the fields."""

    GROUP_Y: int = 2

    def tile(self, move: Move) -> tuple[int, int]:
        across, down = self.group(move)
        return down, across * vector(move)

    def covered(self, move: Move) -> tuple[int, int]:
        """A row may begin behind the first element of its first vector."""
        return move.rows, move.columns + vector(move) - 1

    def macros(self, problem: Problem) -> dict[str, str | int]:
        move = self.oriented(problem)
        across, down = self.group(move)
        element, merged = TYPES[element_type(move.dtype).itemsize], per_word(move)
        return {"ELEMENT": element, "MERGE": merged, "WORD": TYPES[WORD], "GROUP_X": across, "GROUP_Y": down}

    def refusals(self, problem: Problem) -> Iterator[str]:
        """Why a move is none by words, or had better not be."""
        move = self.oriented(problem)
        itemsize, sides = element_type(move.dtype).itemsize, (move.source, move.target)
        if itemsize >= WORD:
            yield f"elements of {itemsize} bytes are words, or more, already"
            return
        yield from too_long(move)
        named = zip(("source", "target"), sides, strict=True)
        yield from scattered(move, *((name, side, move.rows, move.columns) for name, side in named))
        if all(width(side, move.columns, move.rows, move.batch, itemsize) * itemsize >= WORD for side in sides):
            yield "all lines begin on words, and wider vectors move them"

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        return self.refusals(problem)
