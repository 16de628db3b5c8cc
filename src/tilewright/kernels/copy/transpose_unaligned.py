"""How transpose_unaligned.cl turns matrices whose lines begin anywhere: tiles, pieces and pitches for every element's size."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.kernel import MOST_GROUPS, NDRange
from ...core.problem import Problem
from ...core.types import element_type
from .configs import TYPES, WARP, WORD, TransposeTileConfig, index_type, piece
from .copy_unaligned import per_word, scattered
from .move import VECTOR_BYTES, Move, too_long, width

SECTOR_BYTES = 32  # what memory moves: a part of it must be merged with the rest


@dataclass(frozen=True)
class TransposeUnalignedConfig(TransposeTileConfig):
    """transpose_unaligned.cl: `column_bytes` of each column are read, or 128 elements, and a sector less of them are written."""

    def rows(self, move: Move) -> int:
        """Rows that a work-group reads: TILE_ROWS."""
        return min(128, self.column_bytes // element_type(move.dtype).itemsize)

    def columns(self, move: Move) -> int:
        """TILE_COLUMNS: 128 bytes of each row, or more."""
        return 128 if element_type(move.dtype).itemsize == 1 else 64

    def sector(self, move: Move) -> int:
        return SECTOR_BYTES // element_type(move.dtype).itemsize

    def tile(self, move: Move) -> tuple[int, int]:
        return self.rows(move) - self.sector(move), self.columns(move)

    def covered(self, move: Move) -> tuple[int, int]:
        """Rows and columns may begin behind the first element of their first sector."""
        return move.rows + self.sector(move), move.columns + self.sector(move) - 1

    def groups(self, move: Move) -> tuple[int, int]:
        """Tiles of a column, and columns of tiles."""
        (rows, columns), (covered_rows, covered_columns) = self.tile(move), self.covered(move)
        return -(-covered_rows // rows), -(-covered_columns // columns)

    def ndrange(self, problem: Problem) -> NDRange:
        move = self.oriented(problem)
        down, across = self.groups(move) if move.rows and move.columns else (0, 0)
        return NDRange((down * self.items, across, move.batch), (self.items, 1, 1))

    def words_read(self, move: Move) -> int:
        """Words of a row that a work-item reads."""
        return 4 if per_word(move) > 1 else 2

    def pitch(self, move: Move) -> int:
        """Words from line to line: odd, so that those of a column are in different banks; 5 modulo 16 spreads what is read by
        several words side by side."""
        columns = self.columns(move)
        if per_word(move) == 1:
            return (columns + 1) | 1
        length = columns + columns // WARP + 1
        return length + (5 - length) % 16

    def macros(self, problem: Problem) -> dict[str, str | int]:
        move = self.oriented(problem)
        itemsize, merged = element_type(move.dtype).itemsize, per_word(move)
        word = itemsize * merged
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "MERGE": merged, "WORD": TYPES[word], "SECTOR": self.sector(move),
            "TILE_ROWS": self.rows(move), "TILE_COLUMNS": self.columns(move), "IN": self.words_read(move),
            "OUT": VECTOR_BYTES // word, "PIECE": piece(word, VECTOR_BYTES // word), "PITCH": self.pitch(move),
            "INDEX": index_type(self.rows(move), self.columns(move), move),
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        move = self.oriented(problem)
        return self.rows(move) * element_type(move.dtype).itemsize * self.pitch(move)

    def on_sectors(self, move: Move) -> bool:
        """Whether all columns of the target begin on sectors."""
        begins = (move.target.offset, move.target.column, move.target.batch if move.batch > 1 else 0)
        return all(begin % self.sector(move) == 0 for begin in begins)

    def refusals(self, problem: Problem) -> Iterator[str]:
        """Why a move is none of lines that begin anywhere."""
        move = self.oriented(problem)
        yield from too_long(move)
        itemsize, target = element_type(move.dtype).itemsize, move.target.swapped
        yield from scattered(
            move, ("source", move.source, move.rows, move.columns), ("target", target, move.columns, move.rows)
        )
        read = width(move.source, move.columns, move.rows, move.batch, itemsize)
        written = width(target, move.rows, move.columns, move.batch, itemsize)
        if read * itemsize == written * itemsize == VECTOR_BYTES and (itemsize < WORD or self.on_sectors(move)):
            yield f"all lines begin on vectors of {VECTOR_BYTES} bytes, which move them faster"
        if self.groups(move)[1] > MOST_GROUPS:
            yield f"{self.groups(move)[1]:,} tiles of {self.columns(move)} columns are more than {MOST_GROUPS:,}"

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        move = self.oriented(problem)
        yield from self.refusals(problem)
        rows, merged = self.rows(move), per_word(move)
        lanes = self.columns(move) // (merged * self.words_read(move))
        if self.ITEMS % lanes or rows // merged * lanes % self.ITEMS:
            yield f"{rows // merged} lines of {lanes} work-items cannot be shared out evenly among {self.ITEMS}"
