"""What every rank of a test runs: `mpirun -n RANKS python -m mpi4py tests/mpi_program.py`. Rank 0 says that all went right."""

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mpi4py import MPI

import tilewright.mpi
from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.library.engine import default_device
from tilewright.library.products import matmul as library_matmul
from tilewright.mpi import best_grid, block

COMM = MPI.COMM_WORLD
SHAPES = ((37, 29, 53), (1, 1, 1), (64, 64, 64), (5, 70, 1), (0, 4, 3), (4, 5, 0), (3, 2, 200))


def numbers(shape: tuple[int, int], dtype: Any, seed: int) -> np.ndarray:
    """The same on every rank."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(0, 100, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def check_product(shape: tuple[int, int, int], grid: tuple[int, int], dtype: Any, loss: float, **named: Any) -> None:
    """The blocks of a product against those of NumPy's product in float64."""
    m, n, k = shape
    a, b = numbers((m, k), dtype, 1), numbers((k, n), dtype, 2)
    mine = [each[block(each.shape, grid, COMM.rank)] for each in (a, b)]
    found = tilewright.mpi.matmul(*mine, grid=grid, **named)
    place = block((m, n), grid, COMM.rank)
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64), b.astype(np.complex128)
    expected = (wide[0] @ wide[1])[place]
    bound = (np.abs(wide[0]) @ np.abs(wide[1]))[place]
    assert found.shape == expected.shape
    assert found.dtype == library_matmul(a[:1, :1], b[:1, :1]).dtype
    assert np.all(np.abs(found.astype(np.complex128) - expected) <= loss * bound), (shape, grid, dtype)


def check_reproducible(shape: tuple[int, int, int], grid: tuple[int, int], dtype: Any, **named: Any) -> None:
    """The bits are those of the whole product, whatever panels there are."""
    m, n, k = shape
    a, b = numbers((m, k), dtype, 1), numbers((k, n), dtype, 2)
    mine = [each[block(each.shape, grid, COMM.rank)] for each in (a, b)]
    found = tilewright.mpi.matmul(*mine, grid=grid, precision="reproducible", **named)
    assert np.array_equal(found, library_matmul(a, b, precision="reproducible")[block((m, n), grid, COMM.rank)])


def check_refusal(error: type[Exception], words: str, *blocks: Any, **named: Any) -> None:
    """Every rank raises it: none waits for another."""
    with pytest.raises(error, match=words):
        tilewright.mpi.matmul(*blocks, **named)


def check_device_of_one_rank(grid: tuple[int, int]) -> None:
    """The environment of the first rank names a device, that of the others none: all of them deal devices all the same."""
    with pytest.MonkeyPatch.context() as patch:
        if COMM.rank:
            patch.delenv("TILEWRIGHT_DEVICE", raising=False)
        else:
            patch.setenv("TILEWRIGHT_DEVICE", default_device().info.label)
        check_product((37, 29, 53), grid, np.float32, 2.0**-17)


def main() -> None:
    size = COMM.size
    grids = [(rows, size // rows) for rows in range(1, size + 1) if size % rows == 0]
    for grid in grids:
        for shape in SHAPES:
            check_product(shape, grid, np.float64, 2.0**-44)
        check_product((37, 29, 53), grid, np.float32, 2.0**-17, panel=7)
        check_product((37, 29, 53), grid, np.float16, 2.0**-10)
        check_product((37, 29, 53), grid, ml_dtypes.bfloat16, 2.0**-7)
        check_product((37, 29, 53), grid, np.complex64, 2.0**-16)
        check_product((37, 29, 53), grid, np.int8, 0.0)
        check_product((37, 29, 53), grid, np.int64, 0.0)
        check_product((37, 29, 53), grid, ">f4", 2.0**-17)
        check_product((37, 29, 53), grid, np.int32, 0.0, precision="reproducible")
    grid = best_grid(size, 1, 1)
    own = np.ones((4, 4 * grid[0])), np.ones((4 * grid[1], 4))
    ragged = np.ones((4 + COMM.rank, 4 + COMM.rank)), own[1]
    check_refusal(InvalidInput, "does not fit", *own, grid=(size, 2))
    for wrong, words in (((0, size), "whole number from 1"), ((1,), "rows and columns"), (3, "rows and columns")):
        check_refusal(InvalidInput, words, *own, grid=wrong)
    for comm in (np.ones(3), 3):
        check_refusal(InvalidInput, "comm=.*pass a communicator", *own, grid=grid, comm=comm)
    for panel in (0, 1.5, None):
        check_refusal(InvalidInput, "panel=", *own, grid=grid, panel=panel)
    masked = np.ma.masked_array(own[0], own[0] == own[0].max()) if COMM.rank == size - 1 else own[0]
    check_refusal(UnsupportedType, f"on rank {size - 1}: a is a masked array", masked, own[1], grid=grid)
    check_refusal(UnsupportedType, "on rank 0: b is None", own[0], own[1] if COMM.rank else None, grid=grid)
    check_refusal(InvalidInput, "blocks are matrices", np.ones(4), own[1], grid=grid)
    check_refusal(InvalidInput, "those on rank 0", own[0].astype(np.float32 if COMM.rank else float), own[1], grid=grid)
    check_refusal(InvalidInput, "tilewright.mpi.block cuts", *ragged, grid=grid)
    check_refusal(InvalidInput, "the k of a is", np.ones((4, 5)), np.ones((4, 4)), grid=(size, 1))
    check_refusal(UnsupportedType, "no numbers", own[0].astype("U1"), own[1], grid=grid)
    check_refusal(InvalidInput, "does not support precision", *own, grid=grid, precision="tf32")
    for grid in grids:
        for dtype in (np.float32, np.float16):
            check_reproducible((6 * size, 8, 700), grid, dtype)
            check_reproducible((6 * size, 8, 700), grid, dtype, panel=33)
    check_device_of_one_rank(grid)
    devices = COMM.gather(tilewright.mpi.products._device(COMM))
    if COMM.rank == 0:
        print(f"{size} ranks, {len(grids)} grids, devices {devices}: all right", file=sys.stdout)


main()
