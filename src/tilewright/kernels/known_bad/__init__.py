"""Kernels that are faulty, or slow, on purpose: what the checkers must catch. None of them is part of a ladder.

The first line of each file says what is wrong with it. They compute right results often enough to be believed.
"""

from pathlib import Path

from ...core.kernel import Kernel
from ..ladders.rows import PrivateRow
from ..ladders.tiles.configs import SquareTile, Tile
from ..ladders.tiles.launches import transpose_first
from ..ladders.transpose import LocalBlock

HERE = Path(__file__).parent
BY_COLUMNS = ("column", "column", "column")
BY_ROWS = ("row", "row", "row")

KNOWN_BAD = (
    Kernel(HERE / "01_row_race.cl", PrivateRow(32, CHUNK=1024), orders=("row", "column", "row")),
    Kernel(HERE / "02_tile_race.cl", SquareTile(16, 16, 16), orders=BY_COLUMNS),
    Kernel(HERE / "03_eight_way_conflict.cl", LocalBlock(16), "transpose"),
    Kernel(HERE / "04_two_way_conflict.cl", LocalBlock(16, PAD=1), "transpose"),
    Kernel(HERE / "05_out_of_bounds.cl", Tile(64, 64, 16, 8, 8, PAD=2), orders=BY_COLUMNS, steps=transpose_first),
    Kernel(HERE / "06_divergent_barrier.cl", SquareTile(16, 16, 16), orders=BY_COLUMNS),
    Kernel(HERE / "07_uninitialised_local.cl", SquareTile(16, 16, 16), orders=BY_COLUMNS),
    Kernel(HERE / "08_rest_of_k_dropped.cl", SquareTile(16, 16, 16), orders=BY_COLUMNS),
    Kernel(HERE / "09_hidden_layout.cl", SquareTile(16, 16, 16), orders=BY_ROWS),
    Kernel(HERE / "10_swapped_guard.cl", LocalBlock(16), "copy"),
)
