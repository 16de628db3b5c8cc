"""Copies and transposes of strided, batched matrices for any GPU: the production end of the ladder `transpose`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...device import DeviceInfo
from ...dtypes import ELEMENT_TYPES, element_type
from ...errors import InvalidInput
from ...kernel import Config, Kernel, NDRange, Step, Steps
from ...problem import Arrays, Copy, Layout, Operand, Problem, Scalars, Transpose
from ...stacks import StackedCopy, StackedTranspose

HERE = Path(__file__).parent
VECTOR_BYTES = 16  # the widest load of one work-item
MAX_BATCH = 65535  # work-groups in dimension 2 that every driver takes: the limit of NVIDIA's
WARP = 32
TYPES = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong", 16: "uint4"}
MAX_SIDE = 2**31 - 2**16  # so that a size rounded up to a tile is an int, too


@dataclass(frozen=True)
class Move:
    """output (b, i, j) = input (b, i, j) for rows x columns matrices, `batch` times, each side with its own layout.

    A transpose is a move between a layout and one whose strides are swapped.
    """

    operation: ClassVar[str] = "move"
    rows: int
    columns: int
    dtype: str
    source: Layout
    target: Layout
    batch: int = 1
    reserve: int = 0  # elements that the output's buffer has at least

    @property
    def title(self) -> str:
        return f"move {self.rows}x{self.columns} {self.dtype}" + (f" batch {self.batch}" if self.batch != 1 else "")

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        shape = (self.batch, self.rows, self.columns)
        written = (self.reserve,) if self.reserve else shape
        return Operand("input", shape, self.dtype), Operand("output", written, self.dtype, written=True)

    @property
    def scalars(self) -> Scalars:
        return {
            "rows": self.rows,
            "columns": self.columns,
            **self.source.scalars("input"),
            **self.target.scalars("output"),
        }

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"]

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0

    @property
    def turned(self) -> "Move":
        """The same move with rows and columns named the other way round."""
        return replace(
            self, rows=self.columns, columns=self.rows, source=self.source.swapped, target=self.target.swapped
        )

    @property
    def flat(self) -> "Move":
        """The same move as one long row, if neither side has gaps between its rows."""
        whole = self.rows * self.columns
        joined = all(side.row == self.columns * side.column for side in (self.source, self.target))
        if not joined or self.rows == 1 or whole > MAX_SIDE:
            return self
        return replace(self, rows=1, columns=whole)

    def batches(self, first: int, count: int) -> "Move":
        """The move of `count` matrices of the batch from `first` on."""
        source, target = (replace(side, offset=side.offset + first * side.batch) for side in (self.source, self.target))
        return replace(self, source=source, target=target, batch=count)

    @property
    def output_by_rows(self) -> "Move":
        """This move or its turn: the one whose output has the smaller stride along a row."""
        return self.turned if nearer_rows(self.target, self.rows, self.columns) else self


def nearer_rows(side: Layout, rows: int, columns: int) -> bool:
    """Whether neighbours in memory are rather above each other than side by side."""
    if min(rows, columns) <= 1:  # a single line has a direction, whatever the strides across it are
        return columns <= 1 < rows
    return abs(side.row) < abs(side.column)


def move_of(problem: Problem) -> Move:
    """A problem as a Move; InvalidInput if it moves nothing."""
    if isinstance(problem, Move):
        return problem
    if not isinstance(problem, Transpose):
        raise InvalidInput(f"{problem.title} is neither a copy nor a transpose")
    copied = isinstance(problem, (Copy, StackedCopy))
    batch = problem.batch if isinstance(problem, StackedTranspose) else 1
    source = Layout(problem.offset, problem.columns, 1, problem.rows * problem.columns)
    row, column = (problem.kept, 1) if copied else (1, problem.rows)
    target = Layout(0, row, column, problem.rows * problem.kept)
    return Move(problem.rows, problem.kept, problem.dtype, source, target, batch)


def width(side: Layout, size: int, across: int, batch: int, itemsize: int) -> int:
    """Elements along a row that one load may take: all loads are then aligned, as buffers start on 16 bytes."""
    count = VECTOR_BYTES // itemsize
    while count > 1 and not (
        side.column == 1
        and size % count == 0
        and side.offset % count == 0
        and (across == 1 or side.row % count == 0)
        and (batch == 1 or side.batch % count == 0)
    ):
        count //= 2
    return count


@dataclass(frozen=True)
class MoveConfig(Config):
    """Base of both kernels' configurations."""

    def oriented(self, problem: Problem) -> Move:
        """The move with its rows as this kernel wants them."""
        raise NotImplementedError

    def tile(self, move: Move) -> tuple[int, int]:
        """Rows and columns that one work-group moves."""
        raise NotImplementedError

    @property
    def items(self) -> int:
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        move = self.oriented(problem)
        rows, columns = self.tile(move)
        tiles = -(-move.rows // rows) * -(-move.columns // columns)
        return NDRange((tiles * self.items, 1, move.batch), (self.items, 1, 1))


@dataclass(frozen=True)
class CopyConfig(MoveConfig):
    """copy.cl. The fields are explained at its top."""

    GROUP_X: int = 64
    GROUP_Y: int = 4
    RUNS: int = 4

    def oriented(self, problem: Problem) -> Move:
        return move_of(problem).output_by_rows.flat

    @property
    def items(self) -> int:
        return self.GROUP_X * self.GROUP_Y

    def vector(self, move: Move) -> int:
        itemsize = element_type(move.dtype).itemsize
        return min(width(each, move.columns, move.rows, move.batch, itemsize) for each in (move.source, move.target))

    def tile(self, move: Move) -> tuple[int, int]:
        if move.rows == 1:
            return 1, self.items * self.RUNS * self.vector(move)
        return self.GROUP_Y * self.RUNS, self.GROUP_X * self.vector(move)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        """A single row gets all work-items, and their runs, side by side."""
        move = self.oriented(problem)
        single, vector, itemsize = move.rows == 1, self.vector(move), element_type(move.dtype).itemsize
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[itemsize], "VEC": vector, "PIECE": piece(itemsize, vector),
            "GROUP_X": self.items if single else self.GROUP_X, "GROUP_Y": 1 if single else self.GROUP_Y,
            "RUN_X": self.items * vector if single else 0, "RUN_Y": 0 if single else self.GROUP_Y,
        }  # fmt: skip


@dataclass(frozen=True)
class TurnConfig(MoveConfig):
    """turn.cl: the tile's sides in bytes, so that a row or column of it fills as many sectors for every element."""

    row_bytes: int = 256
    column_bytes: int = 256
    ITEMS: int = 256

    def oriented(self, problem: Problem) -> Move:
        """Input by rows, output by columns, as far as their strides go."""
        return move_of(problem).output_by_rows.turned

    @property
    def items(self) -> int:
        return self.ITEMS

    def tile(self, move: Move) -> tuple[int, int]:
        """No side is longer than 128 elements: a tile of bytes is a square of 16 KiB."""
        itemsize = element_type(move.dtype).itemsize
        return min(128, self.column_bytes // itemsize), min(128, self.row_bytes // itemsize)

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
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        move = self.oriented(problem)
        itemsize, (rows, columns) = element_type(move.dtype).itemsize, self.tile(move)
        return rows * pitch(columns, merge(itemsize, self.vectors(move)[1])) * itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        move = self.oriented(problem)
        (rows, columns), itemsize = self.tile(move), element_type(move.dtype).itemsize
        merged = merge(itemsize, self.vectors(move)[1])
        if rows * columns // merged % self.ITEMS:
            yield f"a tile of {rows}x{columns} cannot be shared out evenly among {self.ITEMS} work-items"
            return
        for vector, side, lines in zip(self.vectors(move), (columns, rows), (rows // merged, columns), strict=True):
            lane = lanes(vector * itemsize, side // vector)
            if WARP % lane or side % (vector * lane) or lines % (WARP // lane):
                yield f"a tile of {rows}x{columns} is no multiple of {lane} vectors of {vector} by {WARP // lane}"


def merge(itemsize: int, written: int) -> int:
    """Elements of a column that share a word of local memory, if stores of `written` elements allow it."""
    return 4 // itemsize if itemsize < 4 and written * itemsize >= 4 else 1


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


def move_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MAX_BATCH matrices."""
    assert isinstance(config, MoveConfig)
    move = config.oriented(problem)
    parts = range(0, max(move.batch, 1), MAX_BATCH)
    return tuple(Step(kernel, config, move.batches(first, min(MAX_BATCH, move.batch - first))) for first in parts)


def _kernel(file: str, config: Config, *smaller: Config) -> Kernel:
    return Kernel(HERE / file, config, "move", smaller, dtypes=tuple(ELEMENT_TYPES), steps=move_steps)


COPY = _kernel("copy.cl", CopyConfig(), CopyConfig(32, 2, 4))
TURN = _kernel("turn.cl", TurnConfig(), TurnConfig(128, 128, 64))


def nearest(problem: Problem) -> Kernel:
    """The kernel that moves as memory lies: a copy where both sides have their elements in the same direction."""
    move = move_of(problem).output_by_rows
    return TURN if nearer_rows(move.source, move.rows, move.columns) else COPY


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a Move, or a core Copy or Transpose, ranked: the first that `plan` has nothing against runs it.

    Both compute any move.
    """
    first = nearest(problem)
    return tuple(replace(kernel, operation=problem.operation) for kernel in (first, COPY if first is TURN else TURN))
