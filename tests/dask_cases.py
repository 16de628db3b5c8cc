"""What tests of `tilewright.dask` share, and their workers import: chunked operands, chunks made in tasks, files for tiles."""

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

# Shapes by the rules of `numpy.matmul`, and chunks of both that end at different places.
PRODUCTS: tuple[tuple[tuple[int, ...], Any, tuple[int, ...], Any], ...] = (
    ((40, 30), (16, 7), (30, 50), (11, 20)),
    ((40, 30), (40, 30), (30, 50), (30, 50)),
    ((1, 1), 1, (1, 1), 1),
    ((7, 5), ((3, 0, 4), (5,)), (5, 6), ((0, 2, 3), (6, 0))),
    ((30,), 7, (30, 50), (11, 20)),
    ((40, 30), (16, 7), (30,), 11),
    ((30,), 7, (30,), 11),
    ((6, 8, 9), (4, 3, 2), (6, 9, 5), (3, 4, 5)),
    ((6, 8, 9), (4, 3, 2), (9, 5), (4, 5)),
    ((8, 9), (3, 2), (6, 9, 5), (5, 4, 2)),
    ((3, 1, 4, 9), (2, 1, 4, 2), (6, 9, 5), (4, 3, 5)),
    ((2, 6, 4, 9), (1, 3, 4, 5), (1, 6, 9, 5), (1, 4, 3, 5)),
    ((0, 9), 4, (9, 5), 4),
    ((8, 0), 4, (0, 5), 4),
    ((8, 9), 4, (9, 0), 4),
    ((0, 8, 9), 4, (1, 9, 5), 4),
    ((0,), 4, (0,), 4),
)


def numbers(shape: tuple[int, ...], dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """Random numbers: of integers all values that the type has."""
    generator = np.random.default_rng(seed + sum(shape))
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return generator.random(shape) < 0.05
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return generator.integers(limits.min, limits.max, shape, kind, endpoint=True)
    wide = generator.standard_normal(shape)
    return (wide + 1j * generator.standard_normal(shape) if kind.kind == "c" else wide).astype(kind)


def chunked(shape: tuple[int, ...], chunks: Any, dtype: Any = np.float64, seed: int = 0) -> tuple[np.ndarray, da.Array]:
    """The same numbers as a NumPy array and in chunks."""
    whole = numbers(shape, dtype, seed)
    return whole, da.from_array(whole, chunks=chunks)


def wave(run: tuple[int, int], pace: float) -> np.ndarray:
    """A part of a vector that any task can make."""
    return np.sin(pace * np.arange(*run, dtype=np.float64)).astype(np.float32)


def outer_chunk(paces: tuple[float, float], block_info: Any = None) -> np.ndarray:
    """A chunk of the outer product of two waves, without any other array of its size."""
    rows, columns = block_info[None]["array-location"]
    result: np.ndarray = np.multiply.outer(wave(rows, paces[0]), wave(columns, paces[1]))
    return result


def outer(sides: tuple[int, int], chunk: int, paces: tuple[float, float]) -> da.Array:
    """A matrix each of whose chunks is made by a task of its own."""
    lengths = tuple((chunk,) * (side // chunk) for side in sides)
    return da.map_blocks(
        outer_chunk, paces, chunks=lengths, dtype=np.float32, meta=np.empty((0, 0), np.float32), name=f"outer-{paces}"
    )


class Files:
    """What tiles are stored in: a file for each."""

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        self.folder, self.shape, self.dtype = folder, shape, np.dtype(np.float32)

    def __setitem__(self, place: tuple[slice, slice], tile: np.ndarray) -> None:
        tile.tofile(self.folder / f"{place[0].start}-{place[1].start}")

    def rows(self, begin: int, chunk: int) -> np.ndarray:
        """A row of tiles, read back."""
        tiles = [
            np.fromfile(self.folder / f"{begin}-{left}", np.float32).reshape(chunk, chunk)
            for left in range(0, self.shape[1], chunk)
        ]
        return np.concatenate(tiles, axis=1)


class CountedReads:
    """An array that Dask reads by indexing, as of Zarr or HDF5. It counts the reads of this process."""

    def __init__(self, whole: np.ndarray) -> None:
        self.whole, self.reads = whole, 0
        self.shape, self.dtype, self.ndim = whole.shape, whole.dtype, whole.ndim

    def __getitem__(self, place: Any) -> np.ndarray:
        self.reads += 1
        part: np.ndarray = self.whole[place].copy()
        return part
