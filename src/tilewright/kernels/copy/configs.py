"""Tiles, vectors and words of local memory of copy.cl, transpose.cl and transpose_in_place.cl, for elements of every size."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.kernel import Config, NDRange
from ...core.problem import Problem
from ...core.types import element_type
from .move import VECTOR_BYTES, Move, move_of, too_long, width

WARP = 32
WORD = 4  # bytes
TYPES = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}


@dataclass(frozen=True)
class MoveConfig(Config):
    """Base of the configurations of all kernels that move."""

    def oriented(self, problem: Problem) -> Move:
        """The move with its rows as this kernel wants them."""
        raise NotImplementedError

    def tile(self, move: Move) -> tuple[int, int]:
        """Rows and columns that one work-group moves."""
        raise NotImplementedError

    def covered(self, move: Move) -> tuple[int, int]:
        """Rows and columns that all tiles together cover at least."""
        return move.rows, move.columns

    @property
    def items(self) -> int:
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        move = self.oriented(problem)
        (rows, columns), (covered_rows, covered_columns) = self.tile(move), self.covered(move)
        tiles = -(-covered_rows // rows) * -(-covered_columns // columns) if move.rows and move.columns else 0
        return NDRange((tiles * self.items, 1, move.batch), (self.items, 1, 1))


@dataclass(frozen=True)
class CopyGroupConfig(MoveConfig):
    """Base of the configurations that copy: work-items of a group side by side and one above the other."""

    GROUP_X: int = 64
    GROUP_Y: int = 4

    def oriented(self, problem: Problem) -> Move:
        return move_of(problem).output_by_rows.flat

    @property
    def items(self) -> int:
        return self.GROUP_X * self.GROUP_Y

    def group(self, move: Move) -> tuple[int, int]:
        """GROUP_X and GROUP_Y for this move: a single row gets all work-items side by side."""
        return (self.items, 1) if move.rows == 1 else (self.GROUP_X, self.GROUP_Y)


@dataclass(frozen=True)
class CopyConfig(CopyGroupConfig):
    """copy.cl: the fields in capitals are explained at its top. `item_bytes` is what a work-item moves, unless by one
    vector of 16 bytes: on an H200 more of those cost 3 to 5% of a copy's speed, as what all work-items move at a time is then
    spread over more of memory; of narrower ones it takes more to keep memory busy.
    """

    item_bytes: int = 32

    def vector(self, move: Move) -> int:
        itemsize = element_type(move.dtype).itemsize
        return min(width(each, move.columns, move.rows, move.batch, itemsize) for each in (move.source, move.target))

    def runs(self, move: Move) -> int:
        vector_bytes = self.vector(move) * element_type(move.dtype).itemsize
        return 1 if vector_bytes == VECTOR_BYTES else self.item_bytes // vector_bytes

    def tile(self, move: Move) -> tuple[int, int]:
        if move.rows == 1:
            return 1, self.items * self.runs(move) * self.vector(move)
        return self.GROUP_Y * self.runs(move), self.GROUP_X * self.vector(move)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        """A single row gets all work-items, and their runs, side by side."""
        move = self.oriented(problem)
        (across, down), single = self.group(move), move.rows == 1
        vector, itemsize = self.vector(move), element_type(move.dtype).itemsize
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "VEC": vector, "PIECE": piece(itemsize, vector), "RUNS": self.runs(move),
            "GROUP_X": across, "GROUP_Y": down,
            "RUN_X": self.items * vector if single else 0, "RUN_Y": 0 if single else self.GROUP_Y,
        }  # fmt: skip


@dataclass(frozen=True)
class TransposeTileConfig(MoveConfig):
    """Base of the configurations that transpose: the side of a tile in bytes down the target's columns, and the work-items of
    a group."""

    column_bytes: int
    ITEMS: int

    def oriented(self, problem: Problem) -> Move:
        """Input by rows, output by columns, as far as their strides go."""
        return move_of(problem).output_by_rows.transposed

    @property
    def items(self) -> int:
        return self.ITEMS


@dataclass(frozen=True)
class TransposeConfig(TransposeTileConfig):
    """transpose.cl: the tile's sides in bytes, so that a row or column of it fills as many sectors for every element."""

    row_bytes: int = 256

    def tile(self, move: Move) -> tuple[int, int]:
        """No side is longer than 64 elements, or 128 of those smaller than a word: a tile of bytes is a square of 16 KiB."""
        itemsize = element_type(move.dtype).itemsize
        most = 128 if itemsize < WORD else 64
        return min(most, self.column_bytes // itemsize), min(most, self.row_bytes // itemsize)

    def vectors(self, move: Move) -> tuple[int, int]:
        """Elements of one load and of one store: as many as alignment and the tile's size allow."""
        itemsize, (rows, columns) = element_type(move.dtype).itemsize, self.tile(move)
        target = width(move.target.swapped, move.rows, move.columns, move.batch, itemsize)
        target = min(target, rows * columns // self.ITEMS)
        source = width(move.source, move.columns, move.rows, move.batch, itemsize)
        return min(source, rows * columns // merge(itemsize, target) // self.ITEMS), target

    def macros(self, problem: Problem) -> dict[str, str | int]:
        move = self.oriented(problem)
        (rows, columns), (read, written) = self.tile(move), self.vectors(move)
        itemsize = element_type(move.dtype).itemsize
        merged = merge(itemsize, written)
        word, packed = itemsize * merged, merged > 1 and read >= merged
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "TILE_ROWS": rows, "TILE_COLUMNS": columns,
            "IN_VEC": read, "IN_LANES": lanes(read * itemsize, columns // read),
            "IN_WORDS": words(itemsize, read, packed), "IN_PACKED": int(packed),
            "HELD_COUNT": read // merged if packed else read,
            "OUT_VEC": written, "OUT_LANES": lanes(written * itemsize, rows // written),
            "OUT_PIECE": piece(word, written // merged), "OUT_WORDS": written // merged,
            "WORD": TYPES[word], "MERGE": merged, "SKEW": skew(merged), "PITCH": pitch(columns, merged),
            "INDEX": index_type(rows, columns, move),
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        move = self.oriented(problem)
        itemsize, (rows, columns) = element_type(move.dtype).itemsize, self.tile(move)
        return rows * pitch(columns, merge(itemsize, self.vectors(move)[1])) * itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        move = self.oriented(problem)
        yield from too_long(move)
        (rows, columns), itemsize = self.tile(move), element_type(move.dtype).itemsize
        merged = merge(itemsize, self.vectors(move)[1])
        if rows * columns // merged % self.ITEMS:
            yield f"a tile of {rows}x{columns} cannot be shared out evenly among {self.ITEMS} work-items"
            return
        for vector, side, lines in zip(self.vectors(move), (columns, rows), (rows // merged, columns), strict=True):
            lane = lanes(vector * itemsize, side // vector)
            if WARP % lane or side % (vector * lane) or lines % (WARP // lane):
                yield f"a tile of {rows}x{columns} is no multiple of {lane} vectors of {vector} by {WARP // lane}"


def index_type(rows: int, columns: int, move: Move) -> str:
    """The OpenCL C type that counts elements from the corner of a tile of that size: with 64 bits, a transpose in place of odd
    lines takes a third longer on an H200."""
    reach = max(rows * abs(side.row) + columns * abs(side.column) for side in (move.source, move.target))
    return "int" if reach < 2**31 else "long"


def merge(itemsize: int, written: int) -> int:
    """Elements of a column that share a word of local memory, if stores of `written` elements allow it."""
    return WORD // itemsize if itemsize < WORD and written * itemsize >= WORD else 1


def skew(merged: int) -> int:
    """Unused words after every 32 of a tile's line. Only loads that make more than 4 words need them."""
    return 4 if merged > 1 else 0


def pitch(columns: int, merged: int) -> int:
    """Words from line to line of a tile: 1 modulo 32, so that lines begin one bank further each."""
    length = columns + columns // 32 * skew(merged)
    return length + (1 - length) % 32 if columns >= 32 else length + 1


def piece(itemsize: int, count: int) -> str:
    """The OpenCL C type of a vector of `count` elements of that size."""
    element = TYPES[itemsize]
    return element if count == 1 else f"{element}{count}"


def words(itemsize: int, count: int, packed: bool) -> str:
    """The type by which `count` elements are loaded: words of 4 bytes if they are `packed` in such."""
    return piece(4, itemsize * count // 4) if packed else piece(itemsize, count)


def lanes(vector_bytes: int, vectors: int) -> int:
    """Work-items of 32 that lie in the direction of their vectors: a line of 128 bytes, but no more than there are."""
    return max(1, min(128 // vector_bytes, vectors, WARP))
