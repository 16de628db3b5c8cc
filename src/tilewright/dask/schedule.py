"""The schedule of a product of chunked arrays, as plain numbers: which tiles the result has, and what each task adds to one.

A tile of the result has the rows of a chunk of `a` and the columns of a chunk of `b`. It stays where it is while chunks come to
it along k: its sum is grown in place by one task after the other. Where the chunks of `a` and `b` end at different places, k is
cut at both, and tasks read the pieces from within chunks: nothing is moved to align them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

from ..core.pieces import Chunks, Piece, pieces
from ..core.shown import Shown
from ..errors import InvalidInput

Place = tuple[int, ...]  # the numbers of a chunk, one for each dimension

# Operands that one task takes at once unless the caller sets a limit: four products of chunks of 4096 x 4096 float32 take an H200
# 10 ms, and Dask needs some 2 ms of Python for a task. Of 16384 a side in such chunks two H200s computed 37 TFLOP/s by tasks of
# one product and 60 by those of four (benchmarks/h200-x2-dask-4096.json). Tasks of one tile run one after the other in any case.
TASK_BYTES = 512 * 2**20


class Block(NamedTuple):
    """A part of an operand that one product reads: its chunk, and the slices of that chunk."""

    place: Place
    part: tuple[slice, ...]


class Tile(NamedTuple):
    """A chunk of the result: its numbers, its shape, and the pieces of the stack that it has."""

    place: Place
    shape: tuple[int, ...]
    stack: tuple[Piece, ...]
    row: int | None  # the chunk of rows of `a`; None if that is one row without a dimension
    column: int | None


@dataclass(frozen=True)
class Grid:
    """The chunks of both operands and of the result. `stacks` are the dimensions before the matrices."""

    a: tuple[Chunks, ...]
    b: tuple[Chunks, ...]

    @property
    def stacks(self) -> tuple[tuple[Piece, ...], ...]:
        """The pieces of each dimension of the result's stack."""
        a, b = self.a[:-2], self.b[:-2]
        count = max(len(a), len(b))
        one: tuple[Chunks, ...] = ((1,),)
        both = zip(one * (count - len(a)) + a, one * (count - len(b)) + b, strict=True)
        return tuple(pieces(*each) or (Piece(0, 0, slice(0, 0), 0, slice(0, 0)),) for each in both)

    @property
    def depth(self) -> tuple[Piece, ...]:
        """The pieces of k."""
        return pieces(self.a[-1], self.b[-2] if len(self.b) > 1 else self.b[0])

    @property
    def rows(self) -> tuple[Chunks, ...]:
        """The chunks of the result's rows, if it has that dimension."""
        return self.a[-2:-1]

    @property
    def columns(self) -> tuple[Chunks, ...]:
        return self.b[-1:] if len(self.b) > 1 else ()

    @property
    def result(self) -> tuple[Chunks, ...]:
        """The chunks of the result."""
        stack = tuple(tuple(piece.length for piece in each) for each in self.stacks)
        return (*stack, *self.rows, *self.columns)

    def tiles(self) -> Iterator[Tile]:
        """The tiles, row by row."""
        stacks = product(*(tuple(enumerate(each)) for each in self.stacks))
        none: tuple[tuple[int | None, int | None], ...] = ((None, None),)
        rows, columns = (tuple(enumerate(each[0])) if each else none for each in (self.rows, self.columns))
        for stack, (row, height), (column, width) in product(stacks, rows, columns):
            place = (*(number for number, _ in stack), *(each for each in (row, column) if each is not None))
            shape = (*(piece.length for _, piece in stack), *(each for each in (height, width) if each is not None))
            yield Tile(place, shape, tuple(piece for _, piece in stack), row, column)

    def blocks(self, tile: Tile, piece: Piece) -> tuple[Block, Block]:
        """What a tile's product reads of both operands for a piece of k."""
        missing = [len(tile.stack) - len(each[:-2]) for each in (self.a, self.b)]
        own = [(stacked.a, stacked.in_a) for stacked in tile.stack[missing[0] :]]
        a = [*own, *(() if tile.row is None else ((tile.row, slice(None)),)), (piece.a, piece.in_a)]
        own = [(stacked.b, stacked.in_b) for stacked in tile.stack[missing[1] :]]
        b = [*own, (piece.b, piece.in_b), *(() if tile.column is None else ((tile.column, slice(None)),))]
        blocks = [Block(tuple(number for number, _ in each), tuple(part for _, part in each)) for each in (a, b)]
        return blocks[0], blocks[1]

    def largest(self, places: tuple[int, int]) -> tuple[int, int]:
        """The elements of the largest chunks of `a` and `b` with these numbers along k."""
        *outer, _ = self.a
        k_of_b = max(len(self.b) - 2, 0)
        others = [each for dimension, each in enumerate(self.b) if dimension != k_of_b]
        return (
            prod(map(max, outer)) * self.a[-1][places[0]],
            prod(map(max, others)) * self.b[k_of_b][places[1]],
        )


class Sizes(NamedTuple):
    """Bytes of an element of both operands, of a sum and of the result."""

    a: int
    b: int
    sum: int
    result: int


@dataclass(frozen=True)
class Schedule:
    """The grid, and the runs of pieces of k that tasks add: for each part of k that is summed on its own, its runs in turn.

    `made` says for each operand whether tasks make its chunks themselves, one at a time. They get the others all at once.
    """

    grid: Grid
    sizes: Sizes
    made: tuple[bool, bool]
    parts: tuple[tuple[tuple[int, int], ...], ...]

    def held(self, run: tuple[int, int]) -> int:
        """The most bytes that a task holds for a run: operands, the sum, and the result if it has another type."""
        return operand_bytes(self.grid, self.sizes, self.made, run) + tile_bytes(self.grid, self.sizes)

    @property
    def task_bytes(self) -> int:
        """The most bytes that any task holds."""
        most = max((self.held(run) for runs in self.parts for run in runs), default=0)
        tile = tile_bytes(self.grid, self.sizes)
        return max(most, tile, tile + 2 * prod(map(max, self.grid.result)) * self.sizes.sum * (len(self.parts) > 1))


def tile_bytes(grid: Grid, sizes: Sizes) -> int:
    """The bytes of the largest tile's sum, and of its result if that is another array."""
    return prod(map(max, grid.result)) * (sizes.sum + (sizes.result if sizes.result != sizes.sum else 0))


def operand_bytes(grid: Grid, sizes: Sizes, made: tuple[bool, bool], run: tuple[int, int]) -> int:
    """The most bytes of operands that a task holds: all chunks that it is given, and one of those that it makes."""
    chosen = grid.depth[run[0] : run[1]]
    total = 0
    for side, places in enumerate(({piece.a for piece in chosen}, {piece.b for piece in chosen})):
        own = [grid.largest((place, 0) if side == 0 else (0, place))[side] for place in places]
        total += (max(own, default=0) if made[side] else sum(own)) * sizes[side]
    return total


def scheduled(grid: Grid, sizes: Sizes, made: tuple[bool, bool], split_k: int, memory: int | None) -> Schedule:
    """The schedule with k in `split_k` parts. With `memory`, no task holds more bytes; InvalidInput if one must."""
    count = len(grid.depth)
    split = max(1, min(split_k, count))
    bounds = [count * part // split for part in range(split + 1)]

    def fits(run: tuple[int, int]) -> bool:
        if memory is None:
            return operand_bytes(grid, sizes, made, run) <= TASK_BYTES
        return operand_bytes(grid, sizes, made, run) + tile_bytes(grid, sizes) <= memory

    parts = tuple(_runs(begin, end, fits) for begin, end in pairwise(bounds))
    found = Schedule(grid, sizes, made, parts)
    if memory is not None and found.task_bytes > memory:
        raise InvalidInput(
            f"memory={memory:,} bytes: a task of this product holds {found.task_bytes:,} bytes, a tile of "
            f"{' x '.join(str(max(each)) for each in grid.result) or '1'} elements and a chunk of each operand; "
            f"give the operands smaller chunks, or allow more memory"
        )
    return found


def _runs(begin: int, end: int, fits: Callable[[tuple[int, int]], bool]) -> tuple[tuple[int, int], ...]:
    """Runs of pieces in turn, each as long as it fits, and at least one: without pieces the sum is 0."""
    runs = []
    while begin < end:
        stop = begin + 1
        while stop < end and fits((begin, stop + 1)):
            stop += 1
        runs.append((begin, stop))
        begin = stop
    return tuple(runs) or ((begin, begin),)


@dataclass(frozen=True, repr=False)
class ProductPlan(Shown):
    """What a product will take: its tasks, the chunks that are made, and bytes. `print` says it in sentences.

    `task_bytes` are the most that one task holds, `worker_bytes` those of a worker's threads together, beside the programs
    themselves and chunks that Dask holds: finished tiles until they are stored (`result_bytes` in all), and operands whose
    chunks are not made by the tasks themselves (`given_bytes` in all). At most `moved_bytes` go between workers.
    """

    shape: tuple[int, ...]
    dtype: str
    tile: tuple[int, ...]
    tiles: int
    split_k: int
    pieces: int
    tasks: int
    chunks: int
    made_chunks: int
    workers: int
    threads: int
    task_bytes: int
    worker_bytes: int
    made_bytes: int
    given_bytes: int
    moved_bytes: int
    result_bytes: int

    def one_line(self) -> str:
        return f"{_sides(self.shape)} {self.dtype}, {self.tasks:,} tasks, {_bytes(self.worker_bytes)} a worker"

    def to_rows(self) -> list[dict[str, Any]]:
        return [{name: getattr(self, name) for name in self.__dataclass_fields__}]

    def __str__(self) -> str:
        parts = "" if self.split_k == 1 else f", each in {self.split_k} parts of k that are summed on their own"
        made = (
            f"Tasks make {self.made_chunks:,} chunks of the operands themselves ({_bytes(self.made_bytes)}); there are "
            f"{self.chunks:,} different ones."
        )
        given = f"Each of the {self.chunks:,} chunks of the operands is made once"
        return "\n".join(
            (
                f"{_sides(self.shape)} {self.dtype}: {self.tiles:,} tiles of up to {_sides(self.tile)}, {self.pieces:,} "
                f"pieces of k{parts}: {self.tasks:,} tasks.",
                made if self.made_chunks else f"{given}, and kept by Dask until its last use.",
                f"A task holds at most {_bytes(self.task_bytes)}, a worker with {self.threads} "
                f"thread{'s' if self.threads > 1 else ''} {_bytes(self.worker_bytes)}.",
                f"Dask holds besides: {_bytes(self.given_bytes)} of operands, and finished tiles until they are stored, "
                f"{_bytes(self.result_bytes)} in all.",
                f"Between {self.workers} worker{'s' if self.workers > 1 else ''} move at most {_bytes(self.moved_bytes)}.",
            )
        )


def summary(
    schedule: Schedule, dtype: str, given: tuple[int, int], chunks: tuple[int, int], workers: int, threads: int
) -> ProductPlan:
    """What a schedule takes. `given` are the bytes of operands that Dask holds, `chunks` how many each operand has."""
    grid, sizes = schedule.grid, schedule.sizes
    shape = tuple(map(sum, grid.result))
    tiles, runs = prod(map(len, grid.result)), sum(map(len, schedule.parts))
    merges = len(schedule.parts) - 1
    made_chunks = made_bytes = 0
    for side in (0, 1):
        if schedule.made[side]:
            count, nbytes = _makings(schedule, side)
            made_chunks += count
            made_bytes += nbytes
    sums = tiles * merges * prod(map(max, grid.result)) * sizes.sum
    return ProductPlan(
        shape, dtype, tuple(map(max, grid.result)), tiles, len(schedule.parts), len(grid.depth), tiles * (runs + merges),
        sum(chunks), made_chunks, workers, threads, schedule.task_bytes, threads * schedule.task_bytes, made_bytes,
        sum(given), (workers - 1) * sum(given) + (sums if workers > 1 else 0), prod(shape) * sizes.result,
    )  # fmt: skip


def _makings(schedule: Schedule, side: int) -> tuple[int, int]:
    """How many chunks of an operand the tasks make, and their bytes: a task keeps one until the next."""
    grid = schedule.grid
    chunks = grid.a if side == 0 else grid.b
    count = elements = 0
    for tile in grid.tiles():
        for begin, end in (run for runs in schedule.parts for run in runs):
            places: Sequence[Place] = [grid.blocks(tile, piece)[side].place for piece in grid.depth[begin:end]]
            for place, before in zip(places, (None, *places), strict=False):
                if place != before:
                    count += 1
                    elements += prod(each[number] for each, number in zip(chunks, place, strict=True))
    return count, elements * schedule.sizes[side]


def _sides(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "1"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
