"""Tiles, vectors and words of local memory of copy.cl, transpose.cl and transpose_in_place.cl, for elements of every size."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.kernel import Config, NDRange
from ...core.problem import Problem
from ...core.types import element_type
from .strided_copy import VECTOR_BYTES, StridedCopy, strided_copy_of, too_long, width

WARP = 32
WORD = 4  # bytes
TYPES = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}


@dataclass(frozen=True)
class StridedCopyConfig(Config):
    """Base of the configurations of all copies and transposes."""

    def oriented(self, problem: Problem) -> StridedCopy:
        """The copy with rows in the direction that this kernel needs."""
        raise NotImplementedError

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        """Rows and columns that one work-group copies."""
        raise NotImplementedError

    def covered(self, copy: StridedCopy) -> tuple[int, int]:
        """Rows and columns that all tiles together cover at least."""
        return copy.rows, copy.columns

    @property
    def items(self) -> int:
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        copy = self.oriented(problem)
        (rows, columns), (covered_rows, covered_columns) = self.tile(copy), self.covered(copy)
        tiles = -(-covered_rows // rows) * -(-covered_columns // columns) if copy.rows and copy.columns else 0
        return NDRange((tiles * self.items, 1, copy.batch), (self.items, 1, 1))


@dataclass(frozen=True)
class CopyGroupConfig(StridedCopyConfig):
    """Base of the configurations of copies: GROUP_X work-items of a group along a row, GROUP_Y down the rows."""

    GROUP_X: int = 64
    GROUP_Y: int = 4

    def oriented(self, problem: Problem) -> StridedCopy:
        return strided_copy_of(problem).output_by_rows.flat

    @property
    def items(self) -> int:
        return self.GROUP_X * self.GROUP_Y

    def group(self, copy: StridedCopy) -> tuple[int, int]:
        """GROUP_X and GROUP_Y for this copy: all work-items lie along a single row."""
        return (self.items, 1) if copy.rows == 1 else (self.GROUP_X, self.GROUP_Y)


@dataclass(frozen=True)
class CopyConfig(CopyGroupConfig):
    """copy.cl: the fields in capitals are explained at its top. A work-item copies one vector of 16 bytes, or `item_bytes` by
    narrower vectors.

    On an H200 a second vector of 16 bytes costs 3 to 5% of the speed: it widens the memory footprint in flight. Narrow
    accesses need several to saturate bandwidth.
    """

    item_bytes: int = 32

    def vector(self, copy: StridedCopy) -> int:
        itemsize = element_type(copy.dtype).itemsize
        return min(width(each, copy.columns, copy.rows, copy.batch, itemsize) for each in (copy.source, copy.target))

    def runs(self, copy: StridedCopy) -> int:
        vector_bytes = self.vector(copy) * element_type(copy.dtype).itemsize
        return 1 if vector_bytes == VECTOR_BYTES else self.item_bytes // vector_bytes

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        if copy.rows == 1:
            return 1, self.items * self.runs(copy) * self.vector(copy)
        return self.GROUP_Y * self.runs(copy), self.GROUP_X * self.vector(copy)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        """A single row gets all work-items, and their runs, side by side."""
        copy = self.oriented(problem)
        (across, down), single = self.group(copy), copy.rows == 1
        vector, itemsize = self.vector(copy), element_type(copy.dtype).itemsize
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "VEC": vector, "PIECE": piece(itemsize, vector), "RUNS": self.runs(copy),
            "GROUP_X": across, "GROUP_Y": down,
            "RUN_X": self.items * vector if single else 0, "RUN_Y": 0 if single else self.GROUP_Y,
        }  # fmt: skip


@dataclass(frozen=True)
class TransposeTileConfig(StridedCopyConfig):
    """Base of the configurations of transposes: bytes of a tile along the target's columns, and work-items of a group."""

    column_bytes: int
    ITEMS: int

    def oriented(self, problem: Problem) -> StridedCopy:
        """Elements are neighbours along the input's rows and the output's columns, where the strides allow it."""
        return strided_copy_of(problem).output_by_rows.transposed

    @property
    def items(self) -> int:
        return self.ITEMS


@dataclass(frozen=True)
class TransposeConfig(TransposeTileConfig):
    """transpose.cl: the tile's sides in bytes, so that its rows and columns fill whole sectors for every element size."""

    row_bytes: int = 256

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        """A side has at most 64 elements, or 128 smaller than a word: a tile of int8 is a square of 16 KiB."""
        itemsize = element_type(copy.dtype).itemsize
        most = 128 if itemsize < WORD else 64
        return min(most, self.column_bytes // itemsize), min(most, self.row_bytes // itemsize)

    def vectors(self, copy: StridedCopy) -> tuple[int, int]:
        """Elements of one load and of one store: the most that alignment and the tile's size allow."""
        itemsize, (rows, columns) = element_type(copy.dtype).itemsize, self.tile(copy)
        target = width(copy.target.swapped, copy.rows, copy.columns, copy.batch, itemsize)
        target = min(target, rows * columns // self.ITEMS)
        source = width(copy.source, copy.columns, copy.rows, copy.batch, itemsize)
        return min(source, rows * columns // merge(itemsize, target) // self.ITEMS), target

    def macros(self, problem: Problem) -> dict[str, str | int]:
        copy = self.oriented(problem)
        (rows, columns), (read, written) = self.tile(copy), self.vectors(copy)
        itemsize = element_type(copy.dtype).itemsize
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
            "INDEX": index_type(rows, columns, copy),
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        copy = self.oriented(problem)
        itemsize, (rows, columns) = element_type(copy.dtype).itemsize, self.tile(copy)
        return rows * pitch(columns, merge(itemsize, self.vectors(copy)[1])) * itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        copy = self.oriented(problem)
        yield from too_long(copy)
        (rows, columns), itemsize = self.tile(copy), element_type(copy.dtype).itemsize
        merged = merge(itemsize, self.vectors(copy)[1])
        if rows * columns // merged % self.ITEMS:
            yield f"a tile of {rows}x{columns} cannot be divided evenly among {self.ITEMS} work-items"
            return
        for vector, side, lines in zip(self.vectors(copy), (columns, rows), (rows // merged, columns), strict=True):
            lane = lanes(vector * itemsize, side // vector)
            if WARP % lane or side % (vector * lane) or lines % (WARP // lane):
                yield f"a tile of {rows}x{columns} is not a multiple of {lane} vectors of {vector} by {WARP // lane}"


def index_type(rows: int, columns: int, copy: StridedCopy) -> str:
    """The OpenCL C type of offsets from a tile's corner: int where it is enough. With long, an in-place transpose with an
    odd leading dimension takes a third longer on an H200."""
    reach = max(rows * abs(side.row) + columns * abs(side.column) for side in (copy.source, copy.target))
    return "int" if reach < 2**31 else "long"


def merge(itemsize: int, written: int) -> int:
    """Elements of a column that share a word of local memory, if stores of `written` elements allow it."""
    return WORD // itemsize if itemsize < WORD and written * itemsize >= WORD else 1


def skew(merged: int) -> int:
    """Unused words after every 32 of a tile's line: 4 where a load may make more than 4 words, else 0."""
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
    """The type of a load of `count` elements: words of 4 bytes if `packed`."""
    return piece(4, itemsize * count // 4) if packed else piece(itemsize, count)


def lanes(vector_bytes: int, vectors: int) -> int:
    """Work-items of 32 along the direction of their vectors: a line of 128 bytes, at most `vectors`."""
    return max(1, min(128 // vector_bytes, vectors, WARP))
