"""How copy_words.cl and turn_words.cl move bytes and shorts that do not all lie on words of 4 bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...device import DeviceInfo
from ...dtypes import element_type
from ...operands import Layout
from ...problem import Problem
from .configs import TYPES, WARP, WORD, CopyConfig, TurningConfig
from .move import Move, width

TILE_COLUMNS = 64
PITCH = (TILE_COLUMNS + TILE_COLUMNS // WARP) | 1  # odd, as turn_words.cl wants it
Side = tuple[str, Layout, int, int]  # what it is called, how it lies, its lines in memory and their length


def per_word(move: Move) -> int:
    """Elements of a word; 1 where they are as large, or larger."""
    return max(1, WORD // element_type(move.dtype).itemsize)


def refusals(move: Move, *sides: Side) -> Iterator[str]:
    """Why a move between these sides is not one by words, or had better not be."""
    itemsize = element_type(move.dtype).itemsize
    if itemsize >= WORD:
        yield f"elements of {itemsize} bytes are words, or more, already"
        return
    for name, side, lines, length in sides:
        if side.column != 1 and length > 1:
            yield f"neighbours in the {name} are {side.column} elements apart: no word holds two"
        if side.row < 0 and lines > 1:
            yield f"the {name}'s first line lies behind its last one, with {side.row} elements from line to line"
    if all(width(side, length, lines, move.batch, itemsize) * itemsize >= WORD for _, side, lines, length in sides):
        yield "all lines begin on words, and wider vectors move them"


@dataclass(frozen=True)
class CopyWordsConfig(CopyConfig):
    """copy_words.cl. The fields are explained at the top of copy.cl."""

    def vector(self, move: Move) -> int:
        return per_word(move)

    def covered(self, move: Move) -> tuple[int, int]:
        """A row may begin behind the first element of its first word."""
        return move.rows, move.columns + per_word(move) - 1

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), "MERGE": per_word(self.oriented(problem))}

    def refusals(self, problem: Problem) -> Iterator[str]:
        move = self.oriented(problem)
        sides = (("source", move.source), ("target", move.target))
        return refusals(move, *((name, side, move.rows, move.columns) for name, side in sides))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        return self.refusals(problem)


@dataclass(frozen=True)
class TurnWordsConfig(TurningConfig):
    """turn_words.cl: tiles of TILE_COLUMNS."""

    def rows(self, move: Move) -> int:
        """Rows that a work-group reads, as long as its tile's other side: TILE_ROWS."""
        return self.column_bytes // element_type(move.dtype).itemsize

    def tile(self, move: Move) -> tuple[int, int]:
        return self.rows(move) - per_word(move), TILE_COLUMNS

    def covered(self, move: Move) -> tuple[int, int]:
        """A column may begin behind the first element of its first word."""
        return move.rows + per_word(move) - 1, move.columns

    def macros(self, problem: Problem) -> dict[str, str | int]:
        move = self.oriented(problem)
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[element_type(move.dtype).itemsize], "MERGE": per_word(move),
            "TILE_ROWS": self.rows(move), "TILE_COLUMNS": TILE_COLUMNS, "PITCH": PITCH,
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        """Lines of PITCH words, each of which holds a word's rows."""
        return self.column_bytes // WORD * PITCH * WORD

    def refusals(self, problem: Problem) -> Iterator[str]:
        move = self.oriented(problem)
        source, target = (
            ("source", move.source, move.rows, move.columns),
            ("target", move.target.swapped, move.columns, move.rows),
        )
        return refusals(move, source, target)

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        move = self.oriented(problem)
        yield from self.refusals(problem)
        lines = self.column_bytes // WORD
        if element_type(move.dtype).itemsize < WORD and lines * TILE_COLUMNS // per_word(move) % self.ITEMS:
            yield f"{lines} lines of {TILE_COLUMNS} columns cannot be shared out evenly among {self.ITEMS} work-items"
