"""The configuration of transpose_unaligned.cl: tiles, vectors and pitches for elements of every size."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.kernel import MOST_GROUPS, NDRange
from ...core.problem import Problem
from ...core.types import element_type
from .configs import TYPES, WARP, WORD, TransposeTileConfig, index_type, piece
from .copy_unaligned import per_word, scattered
from .strided_copy import VECTOR_BYTES, StridedCopy, too_long, width

SECTOR_BYTES = 32  # the unit of memory traffic: a part of a sector must be merged with the rest


@dataclass(frozen=True)
class TransposeUnalignedConfig(TransposeTileConfig):
    """transpose_unaligned.cl: `column_bytes` of each column are read, or 128 elements, and a sector less of them are written."""

    def rows(self, copy: StridedCopy) -> int:
        """Rows that a work-group reads: TILE_ROWS."""
        return min(128, self.column_bytes // element_type(copy.dtype).itemsize)

    def columns(self, copy: StridedCopy) -> int:
        """TILE_COLUMNS: 128 bytes of each row, or more."""
        return 128 if element_type(copy.dtype).itemsize == 1 else 64

    def sector(self, copy: StridedCopy) -> int:
        return SECTOR_BYTES // element_type(copy.dtype).itemsize

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        return self.rows(copy) - self.sector(copy), self.columns(copy)

    def covered(self, copy: StridedCopy) -> tuple[int, int]:
        """Rows and columns may begin inside their first sector."""
        return copy.rows + self.sector(copy), copy.columns + self.sector(copy) - 1

    def groups(self, copy: StridedCopy) -> tuple[int, int]:
        """Tiles of a column, and columns of tiles."""
        (rows, columns), (covered_rows, covered_columns) = self.tile(copy), self.covered(copy)
        return -(-covered_rows // rows), -(-covered_columns // columns)

    def ndrange(self, problem: Problem) -> NDRange:
        copy = self.oriented(problem)
        down, across = self.groups(copy) if copy.rows and copy.columns else (0, 0)
        return NDRange((down * self.items, across, copy.batch), (self.items, 1, 1))

    def words_read(self, copy: StridedCopy) -> int:
        """Words of a row that a work-item reads."""
        return 4 if per_word(copy) > 1 else 2

    def pitch(self, copy: StridedCopy) -> int:
        """Words from line to line: odd, so that those of a column are in different banks; 5 modulo 16 spreads what is read by
        several words side by side."""
        columns = self.columns(copy)
        if per_word(copy) == 1:
            return (columns + 1) | 1
        length = columns + columns // WARP + 1
        return length + (5 - length) % 16

    def macros(self, problem: Problem) -> dict[str, str | int]:
        copy = self.oriented(problem)
        itemsize, merged = element_type(copy.dtype).itemsize, per_word(copy)
        word = itemsize * merged
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "MERGE": merged, "WORD": TYPES[word], "SECTOR": self.sector(copy),
            "TILE_ROWS": self.rows(copy), "TILE_COLUMNS": self.columns(copy), "IN": self.words_read(copy),
            "OUT": VECTOR_BYTES // word, "PIECE": piece(word, VECTOR_BYTES // word), "PITCH": self.pitch(copy),
            "INDEX": index_type(self.rows(copy), self.columns(copy), copy),
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        copy = self.oriented(problem)
        return self.rows(copy) * element_type(copy.dtype).itemsize * self.pitch(copy)

    def on_sectors(self, copy: StridedCopy) -> bool:
        """Whether all columns of the target begin on sectors."""
        begins = (copy.target.offset, copy.target.column, copy.target.batch if copy.batch > 1 else 0)
        return all(begin % self.sector(copy) == 0 for begin in begins)

    def refusals(self, problem: Problem) -> Iterator[str]:
        """Why this kernel cannot compute a copy, or another is faster."""
        copy = self.oriented(problem)
        yield from too_long(copy)
        itemsize, target = element_type(copy.dtype).itemsize, copy.target.swapped
        yield from scattered(
            copy, ("source", copy.source, copy.rows, copy.columns), ("target", target, copy.columns, copy.rows)
        )
        read = width(copy.source, copy.columns, copy.rows, copy.batch, itemsize)
        written = width(target, copy.rows, copy.columns, copy.batch, itemsize)
        if read * itemsize == written * itemsize == VECTOR_BYTES and (itemsize < WORD or self.on_sectors(copy)):
            yield f"all lines are aligned to {VECTOR_BYTES} bytes, and transpose.cl with vectors is faster"
        if self.groups(copy)[1] > MOST_GROUPS:
            yield f"{self.groups(copy)[1]:,} tiles of {self.columns(copy)} columns are more than {MOST_GROUPS:,}"

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        copy = self.oriented(problem)
        yield from self.refusals(problem)
        rows, merged = self.rows(copy), per_word(copy)
        lanes = self.columns(copy) // (merged * self.words_read(copy))
        if self.ITEMS % lanes or rows // merged * lanes % self.ITEMS:
            yield f"{rows // merged} lines of {lanes} work-items cannot be divided evenly among {self.ITEMS}"
