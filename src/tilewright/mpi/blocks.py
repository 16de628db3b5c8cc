"""How matrices are cut into blocks for the ranks of a grid. No MPI here."""

from collections.abc import Sequence
from math import prod
from numbers import Integral
from typing import Any

from ..errors import InvalidInput, quoted

Grid = tuple[int, int]  # rows and columns of ranks


def best_grid(ranks: int, m: int, n: int) -> Grid:
    """The grid of all ranks in which a product with an m x n result moves the fewest bytes.

    Each rank receives the rows of its block of `a` and the columns of its block of `b`: k (m / rows + n / columns) elements.

    >>> from tilewright.mpi.blocks import best_grid
    >>> best_grid(8, 4000, 4000), best_grid(8, 100000, 500)
    ((2, 4), (8, 1))
    """
    ranks = whole_number("ranks", ranks)
    grids = [(rows, ranks // rows) for rows in range(1, ranks + 1) if ranks % rows == 0]
    return min(grids, key=lambda grid: m / grid[0] + n / grid[1])


def block(shape: tuple[int, int], grid: Grid, rank: int) -> tuple[slice, slice]:
    """The rows and columns of a matrix that belong to a rank. Ranks are numbered row by row; sizes differ by at most 1.

    >>> from tilewright.mpi.blocks import block
    >>> block((10, 9), (2, 2), rank=3)
    (slice(5, 10, None), slice(4, 9, None))
    """
    grid = checked_grid(grid)
    if len(shape) != 2:
        raise InvalidInput(f"shape={shape}: a matrix has two sides")
    if not 0 <= rank < prod(grid):
        raise InvalidInput(f"rank={rank}: a grid of {grid[0]} x {grid[1]} has ranks from 0 to {prod(grid) - 1}")
    row, column = divmod(rank, grid[1])
    bounds = [
        slice(side * place // parts, side * (place + 1) // parts)
        for side, place, parts in zip(shape, (row, column), grid, strict=True)
    ]
    return bounds[0], bounds[1]


def whole_number(name: str, value: Any) -> int:
    """A number from 1 on. InvalidInput for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidInput(f"{name}={quoted(value)}: pass a whole number from 1 on")
    return int(value)


def checked_grid(grid: Any) -> Grid:
    """Rows and columns of ranks. InvalidInput for anything else."""
    if not isinstance(grid, tuple | list) or len(grid) != 2:
        raise InvalidInput(f"grid={quoted(grid)}: pass the rows and columns of ranks, such as (2, 2)")
    return whole_number("rows of the grid", grid[0]), whole_number("columns of the grid", grid[1])


def lengths(shapes: Sequence[tuple[int, int]], grid: Grid, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows and columns of a matrix in each row and column of the grid. InvalidInput if blocks do not fit each other."""
    rows = [height for height, _ in shapes[:: grid[1]]]
    columns = [width for _, width in shapes[: grid[1]]]
    for rank, shape in enumerate(shapes):
        row, column = divmod(rank, grid[1])
        if shape != (rows[row], columns[column]):
            raise InvalidInput(
                f"the block of {name} on rank {rank} has the shape {shape}; beside the others of a {grid[0]} x {grid[1]} grid "
                f"it is {(rows[row], columns[column])}: tilewright.mpi.block cuts matrices so"
            )
    return tuple(rows), tuple(columns)
