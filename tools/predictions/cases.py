"""Kernels in the styles of well-known samples, with sizes and data: what `predict` never saw when its constants were chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = Path(__file__).parent / "kernels"
SEED = 7
MILLION = 1 << 20
Arguments = dict[str, Any]


@dataclass(frozen=True)
class ForeignCase:
    """One launch of a kernel in `kernels/FILE`. `arguments` are arrays and NumPy scalars in the order of the parameters."""

    name: str
    file: str
    entry: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    make: Callable[[np.random.Generator], Arguments]

    @property
    def source(self) -> str:
        return (KERNELS / self.file).read_text(encoding="utf-8")

    def arguments(self) -> Arguments:
        return self.make(np.random.default_rng(SEED))


def floats(chance: np.random.Generator, count: int, dtype: type = np.float32) -> Any:
    return chance.random(count, dtype=dtype) + dtype(0.5)


def empty(count: int, dtype: type = np.float32) -> Any:
    return np.zeros(count, dtype)


def integer(value: int) -> Any:
    return np.int32(value)


def triad(chance: np.random.Generator, n: int) -> Arguments:
    return {"a": floats(chance, n), "b": floats(chance, n), "c": empty(n), "factor": np.float32(3), "n": integer(n)}


def strided(chance: np.random.Generator, n: int, stride: int) -> Arguments:
    return {"in": floats(chance, n * stride), "out": empty(n), "n": integer(n), "stride": integer(stride)}


def gathered(chance: np.random.Generator, n: int) -> Arguments:
    where = chance.permutation(n).astype(np.int32)
    return {"in": floats(chance, n), "where": where, "out": empty(n), "n": integer(n)}


def daxpy(chance: np.random.Generator, n: int) -> Arguments:
    return {"x": floats(chance, n, np.float64), "y": floats(chance, n, np.float64), "a": np.float64(2), "n": integer(n)}


def records(chance: np.random.Generator, n: int) -> Arguments:
    return {"records": floats(chance, 3 * n), "x": empty(n), "y": empty(n), "z": empty(n), "n": integer(n)}


def walks(chance: np.random.Generator, n: int, steps: int) -> Arguments:
    states = chance.integers(1, 1 << 32, n, dtype=np.uint32)
    return {"states": states, "sums": empty(n), "steps": integer(steps)}


def summed(chance: np.random.Generator, n: int, groups: int) -> Arguments:
    return {"in": floats(chance, n), "out": empty(groups), "n": integer(n)}


def interleaved(chance: np.random.Generator, n: int) -> Arguments:
    return {"in": floats(chance, n), "out": empty(n // 256)}


def scanned(chance: np.random.Generator, n: int) -> Arguments:
    return {"in": floats(chance, n), "out": empty(n), "totals": empty(n // 512)}


def bins_local(chance: np.random.Generator, n: int, groups: int) -> Arguments:
    words = chance.integers(0, 1 << 32, n, dtype=np.uint32)
    return {"in": words, "bins": empty(groups * 256, np.int32), "n": integer(n)}


def bins_global(chance: np.random.Generator, n: int, bins: int) -> Arguments:
    values = chance.integers(0, bins, n, dtype=np.int32)
    return {"in": values, "bins": empty(bins, np.int32), "n": integer(n)}


def image(chance: np.random.Generator, width: int, height: int, weights: int = 0) -> Arguments:
    own: Arguments = {"in": floats(chance, width * height)}
    if weights:
        own["weights"] = floats(chance, weights)
    return {**own, "out": empty(width * height), "width": integer(width), "height": integer(height)}


def volume(chance: np.random.Generator, side: int, depth: int) -> Arguments:
    cells = side * side * depth
    return {"in": floats(chance, cells), "out": empty(cells), "width": integer(side), "height": integer(side),
            "depth": integer(depth)}  # fmt: skip


def times_vector(chance: np.random.Generator, rows: int, columns: int, by_column: bool = False) -> Arguments:
    sizes: Arguments = {"rows": integer(rows)} if by_column else {}
    return {"A": floats(chance, rows * columns), "x": floats(chance, rows if by_column else columns),
            "y": empty(columns if by_column else rows), **sizes, "columns": integer(columns)}  # fmt: skip


def product(chance: np.random.Generator, n: int, depth: int) -> Arguments:
    return {"A": floats(chance, n * depth), "B": floats(chance, n * depth), "C": empty(n * n), "n": integer(n),
            "depth": integer(depth)}  # fmt: skip


def update(chance: np.random.Generator, n: int, depth: int) -> Arguments:
    return {"A": floats(chance, n * depth), "C": floats(chance, n * n), "n": integer(n), "depth": integer(depth)}


def sparse(chance: np.random.Generator, rows: int, most: int) -> Arguments:
    lengths = chance.integers(1, most, rows)
    begins = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    columns = chance.integers(0, rows, int(begins[-1]), dtype=np.int32)
    return {"begins": begins, "columns": columns, "values": floats(chance, len(columns)), "x": floats(chance, rows),
            "y": empty(rows), "rows": integer(rows)}  # fmt: skip


def ell(chance: np.random.Generator, rows: int, width: int) -> Arguments:
    near = np.arange(rows, dtype=np.int64)[None, :] + chance.integers(-64, 64, (width, rows))
    columns = np.clip(near, 0, rows - 1).astype(np.int32).reshape(-1)
    return {"columns": columns, "values": floats(chance, rows * width), "x": floats(chance, rows), "y": empty(rows),
            "rows": integer(rows), "width": integer(width)}  # fmt: skip


def bodies(chance: np.random.Generator, n: int) -> Arguments:
    return {
        "x": floats(chance, n),
        "y": floats(chance, n),
        "z": floats(chance, n),
        "force": empty(3 * n),
        "n": integer(n),
    }


def plain_bodies(chance: np.random.Generator, n: int) -> Arguments:
    return {"x": floats(chance, n), "y": floats(chance, n), "potential": empty(n), "n": integer(n)}


def unsorted(chance: np.random.Generator, n: int) -> Arguments:
    return {"data": chance.integers(0, 1 << 30, n, dtype=np.int32)}


def bitonic(chance: np.random.Generator, n: int, distance: int) -> Arguments:
    return {**unsorted(chance, n), "distance": integer(distance), "length": integer(2 * distance)}


def paths(chance: np.random.Generator, n: int) -> Arguments:
    distance = chance.integers(1, 1000, n * n, dtype=np.int32)
    return {"distance": distance, "n": integer(n), "through": integer(n // 3)}


def fractal(chance: np.random.Generator, side: int, most: int) -> Arguments:
    return {
        "counts": empty(side * side, np.int32),
        "width": integer(side),
        "height": integer(side),
        "most": integer(most),
    }


def options(chance: np.random.Generator, n: int) -> Arguments:
    return {"price": 5 + 25 * floats(chance, n), "strike": 1 + 99 * floats(chance, n), "years": 10 * floats(chance, n),
            "call": empty(n), "put": empty(n), "n": integer(n)}  # fmt: skip


def rows_of(chance: np.random.Generator, rows: int, columns: int) -> Arguments:
    return {"in": floats(chance, rows * columns), "out": empty(rows * columns), "columns": integer(columns)}


def attention(chance: np.random.Generator, queries: int, length: int) -> Arguments:
    return {"q": floats(chance, queries * 64), "keys": floats(chance, length * 64), "values": floats(chance, length * 64),
            "out": empty(queries * 64), "length": integer(length)}  # fmt: skip


def graph(chance: np.random.Generator, nodes: int, most: int) -> Arguments:
    lengths = chance.integers(0, most, nodes)
    begins = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    edges = chance.integers(0, nodes, int(begins[-1]), dtype=np.int32)
    levels = np.where(chance.random(nodes) < 0.5, 1, -1).astype(np.int32)
    frontier = (chance.random(nodes) < 0.25).astype(np.int32)
    return {"begins": begins, "edges": edges, "in_frontier": frontier, "levels": levels, "level": integer(2),
            "nodes": integer(nodes)}  # fmt: skip


def signal(chance: np.random.Generator, n: int, span: int) -> Arguments:
    return {"re": floats(chance, n), "im": floats(chance, n), "span": integer(span)}


def case(
    file: str, entry: str, global_size: Any, local_size: Any, make: Callable[..., Arguments], *sizes: Any
) -> ForeignCase:
    whole, own = ((each,) if isinstance(each, int) else tuple(each) for each in (global_size, local_size))
    return ForeignCase(entry, f"{file}.cl", entry, whole, own, lambda chance: make(chance, *sizes))


CASES: tuple[ForeignCase, ...] = (
    case("streaming", "triad", 32 * MILLION, 256, triad, 32 * MILLION),
    case("streaming", "strided_copy", 4 * MILLION, 256, strided, 4 * MILLION, 8),
    case("streaming", "gather", 16 * MILLION, 256, gathered, 16 * MILLION),
    case("streaming", "daxpy", 1 << 18, 256, daxpy, 16 * MILLION),
    case("streaming", "planes_of_records", 8 * MILLION, 128, records, 8 * MILLION),
    case("streaming", "random_walks", MILLION, 256, walks, MILLION, 256),
    case("reductions", "sum_tree", 1024 * 256, 256, summed, 64 * MILLION, 1024),
    case("reductions", "sum_interleaved", 16 * MILLION, 256, interleaved, 16 * MILLION),
    case("reductions", "scan_blocks", 8 * MILLION, 256, scanned, 16 * MILLION),
    case("reductions", "histogram_local", 512 * 256, 256, bins_local, 16 * MILLION, 512),
    case("reductions", "histogram_global", 16 * MILLION, 256, bins_global, 16 * MILLION, 1 << 16),
    case("stencils", "five_points", (8192, 4096), (32, 8), image, 8192, 4096),
    case("stencils", "seven_points", (512, 512), (32, 8), volume, 512, 128),
    case("stencils", "convolution", (4096, 4096), (16, 16), image, 4096, 4096, 49),
    case("stencils", "convolution_local", (4096, 4096), (32, 16), image, 4096, 4096, 49),
    case("stencils", "convolution_columns", (4096, 4096), (64, 4), image, 4096, 4096, 17),
    case("matrices", "rows_times_vector", 8192, 128, times_vector, 8192, 4096),
    case("matrices", "columns_times_vector", 8192, 128, times_vector, 4096, 8192, True),
    case("matrices", "group_times_vector", 8192 * 128, 128, times_vector, 8192, 4096),
    case("matrices", "product", (1536, 1536), (16, 16), product, 1536, 1024),
    case("matrices", "rank_k_update", (1024, 1024), (16, 16), update, 1024, 1024),
    case("matrices", "sparse_rows", MILLION, 128, sparse, MILLION, 32),
    case("matrices", "sparse_rows_by_warps", 32 * (1 << 18), 128, sparse, 1 << 18, 160),
    case("matrices", "sparse_ell", MILLION, 256, ell, MILLION, 24),
    case("others", "bodies", 16384, 256, bodies, 16384),
    case("others", "bodies_plain", 32768, 128, plain_bodies, 32768),
    case("others", "bitonic_step", 8 * MILLION, 256, bitonic, 16 * MILLION, 1 << 12),
    case("others", "bitonic_local", 4 * MILLION, 256, unsorted, 8 * MILLION),
    case("others", "shortest_paths", (4096, 4096), (16, 16), paths, 4096),
    case("others", "fractal", (2048, 2048), (16, 16), fractal, 2048, 256),
    case("others", "options", 8 * MILLION, 128, options, 8 * MILLION),
    case("others", "softmax", 16384 * 256, 256, rows_of, 16384, 2048),
    case("others", "attention", 2048 * 128, 128, attention, 2048, 1024),
    case("others", "normalise_rows", 65536, 256, rows_of, 65536, 512),
    case("others", "frontier", 2 * MILLION, 256, graph, 2 * MILLION, 16),
    case("others", "butterflies", 8 * MILLION, 256, signal, 16 * MILLION, 1 << 10),
)

# The micro-benchmarks of `micro.py`, which are not predicted.
CACHES = ForeignCase("caches", "caches.cl", "chase", (1,), (1,), lambda chance: {})


def cuda_text(each: ForeignCase, prelude: str) -> str:
    """The kernel as CUDA C++ by the project's prelude."""
    macros = "#define REAL float\n#define REAL_IS_INTEGER 0\n#define REAL_IS_DOUBLE 0\n"
    return f'{macros}{prelude}\n#line 1 "predictions/{each.file}"\n{each.source}\n}}\n'


def opencl_text(each: ForeignCase) -> str:
    return f'#line 1 "predictions/{each.file}"\n{each.source}'
