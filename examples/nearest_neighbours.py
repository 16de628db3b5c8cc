"""k-nearest neighbours by one matrix product: NumPy, then the same line with tilewright, timed side by side.

|q - p|^2 = |q|^2 - 2 q.p + |p|^2, so the distances of all queries to all points are a gemm with an epilogue: the product
of the queries with the points, times -2, plus a vector. |q|^2 is the same for all points and changes no order.
"""

import argparse
from time import perf_counter

import numpy as np

import tilewright


def nearest_numpy(queries: np.ndarray, points: np.ndarray, k: int) -> np.ndarray:
    """Indices of the k nearest points of each query, (queries, k), unordered."""
    distances = -2 * (queries @ points.T) + (points**2).sum(axis=1)
    return np.argpartition(distances, k, axis=1)[:, :k]


def nearest_tilewright(queries: np.ndarray, points: np.ndarray, k: int) -> np.ndarray:
    """The same with the factor and the vector in the product's epilogue."""
    distances = tilewright.gemm(queries, points, trans_b="T", alpha=-2, bias=(points**2).sum(axis=1))
    return np.argpartition(distances, k, axis=1)[:, :k]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20000)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    points = generator.standard_normal((options.points, options.dimensions), dtype=np.float32)
    queries = generator.standard_normal((options.queries, options.dimensions), dtype=np.float32)

    ways = {"NumPy": nearest_numpy, "tilewright": nearest_tilewright}
    times: dict[str, list[float]] = {name: [] for name in ways}
    found = {}
    for _ in range(options.rounds + 1):  # the first round warms up and is left out
        for name, search in ways.items():
            begin = perf_counter()
            found[name] = search(queries, points, 10)
            times[name].append(perf_counter() - begin)
    rows = zip(np.sort(found["NumPy"]), np.sort(found["tilewright"]), strict=True)
    shared = np.mean([np.isin(one, other).mean() for one, other in rows])
    for name, seconds in times.items():
        print(f"{name:12} {np.median(seconds[1:]) * 1e3:8.1f} ms")
    print(f"{shared:.2%} of the neighbours agree (ties and rounding decide the rest)")


if __name__ == "__main__":
    main()
