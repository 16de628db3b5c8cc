"""How matrices are cut for ranks: every element once, and the grid that moves the fewest bytes."""

import numpy as np
import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

from tilewright.errors import InvalidInput
from tilewright.mpi.blocks import best_grid, block, lengths


@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (3, 2), (5, 1), (1, 7)], ids=str)
@pytest.mark.parametrize("shape", [(10, 9), (1, 1), (0, 5), (4, 6)], ids=str)
def test_blocks_cover_every_element_once(shape: tuple[int, int], grid: tuple[int, int]) -> None:
    seen = np.zeros(shape, int)
    shapes = []
    for rank in range(grid[0] * grid[1]):
        place = block(shape, grid, rank)
        seen[place] += 1
        shapes.append(seen[place].shape)
    assert np.all(seen == 1)
    rows, columns = lengths(shapes, grid, "a")
    assert (sum(rows), sum(columns), len(rows), len(columns)) == (*shape, *grid)


def test_grids_follow_the_shape_of_the_result() -> None:
    assert best_grid(16, 1000, 1000) == (4, 4)
    assert best_grid(12, 1000, 1000) == (3, 4)
    assert best_grid(6, 10, 100000) == (1, 6)
    assert best_grid(7, 100, 100) == (1, 7)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="rank=4"):
        block((4, 4), (2, 2), 4)
    with pytest.raises(InvalidInput, match="ranks=0"):
        best_grid(0, 1, 1)
    with pytest.raises(InvalidInput, match="block of b on rank 3"):
        lengths([(2, 2), (2, 3), (4, 2), (4, 4)], (2, 2), "b")
