"""Measures products in tiles beside the same in one piece: operands of several times the limit of memory, bits compared.

`python -m tools.out_of_core --device gpu --limit 4GB --record benchmarks/h200-outofcore.json` takes NumPy arrays whose three
matrices have `--times` the limit together. On a GPU the product in one piece is timed on the device alone, with its operands
there: that is what tiles can reach if copies hide behind products. `bound_seconds` adds what a device must wait for its first
operands in any order of tiles (orders.py), by a bus of 55 GB/s, or is what the bus takes for all. Beside it is cuBLASXt, which
may take all of the device's memory. Then the same with pinned arrays. On a CPU the product in one piece is a call on NumPy
arrays, and the tiles are those of memmaps. Rounds take turns. `--folder` holds the files of a CPU's memmaps.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

import tilewright
from tilewright.library.engine import default_device
from tilewright.library.streamed.budget import as_bytes
from tilewright.library.streamed.device_rates import GPU_LINK, PINNED_LINK
from tilewright.library.streamed.planning import StreamedPlan
from tilewright.runtime.processors import usable_processors

from .cublas_xt import Baseline, cublas_xt

BLOCK = (
    4096  # the side of the random numbers, which are made once and repeated: making all takes longer than the product
)
COLUMNS = 256  # whose elements of three rows are compared with float64
DTYPES = ("float32", "float16")
BUS = 55e9  # bytes per second to a GPU from pinned memory, as PyTorch copies them, and the same back


def operand(side: int, dtype: str, seed: int) -> np.ndarray:
    """A matrix of blocks of random numbers, no two rows of blocks alike."""
    random = np.random.default_rng(seed)
    block = (random.standard_normal((BLOCK, BLOCK), np.float32) / 8).astype(dtype)
    made = np.empty((side, side), dtype)
    for row in range(0, side, BLOCK):
        for column in range(0, side, BLOCK):
            seen = made[row : row + BLOCK, column : column + BLOCK]
            seen[...] = np.roll(block, (row // BLOCK, column // BLOCK), (0, 1))[: seen.shape[0], : seen.shape[1]]
    return made


def side_for(nbytes: float, itemsize: int) -> int:
    """The side of square matrices of which three have so many bytes: a multiple of 256."""
    return int((nbytes / 3 / itemsize) ** 0.5) // 256 * 256


def timed(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def on_device(a: np.ndarray, b: np.ndarray, wanted: str) -> tuple[Callable[[], Any], Callable[[], np.ndarray]]:
    """The product in one piece of operands that are on the device, and its result."""
    device = default_device(wanted)
    left, right = (cl.array.to_device(device.queue, each) for each in (a, b))
    out = cl.array.empty(device.queue, (a.shape[0], b.shape[1]), a.dtype)

    def call() -> None:
        tilewright.matmul(left, right, out)
        device.queue.finish()

    return call, out.get


def measured(
    dtype: str, pinned: bool, limit: int, times: float, device: str, rounds: int, folder: Path
) -> dict[str, Any]:
    """One type, of pinned arrays or others: rates of both ways in turns, whether the bits are equal, and what the plan said."""
    side = side_for(limit * times, np.dtype(dtype).itemsize)
    a, b = operand(side, dtype, 1), operand(side, dtype, 2)
    gpu = default_device(device).info.kind != "cpu"
    limits: dict[str, Any] = {"max_device_bytes": limit} if gpu else {"max_host_bytes": limit}
    plan = tilewright.plan(side, dtype=dtype, device=device, pinned=pinned, **limits)
    assert isinstance(plan, StreamedPlan)
    print(plan, flush=True)
    tiles = np.zeros((side, side), dtype)
    if gpu:
        whole, result = on_device(a, b, device)
    else:
        one = np.empty_like(tiles)
        whole, result = (lambda: tilewright.matmul(a, b, one, device=device)), (lambda: one)
        a, b, tiles = (in_file(folder / name, values) for name, values in (("a", a), ("b", b), ("out", tiles)))

    def in_tiles() -> None:
        tilewright.matmul(a, b, tiles, device=device, **limits)

    calls = {"whole": whole, "tiles": in_tiles}
    baseline = cublas_xt(a, b) if gpu and not pinned else None
    if baseline is not None:
        calls["cublas_xt"] = baseline.call
    with tilewright.pinned(a, b, tiles, device=device) if pinned else nullcontext():
        seconds = in_turns(calls, rounds)
    if baseline is not None:
        baseline.close()
    flops = 2.0 * side**3
    ratio = median(one / other for one, other in zip(seconds["whole"], seconds["tiles"], strict=True))
    link_s = (plan.tiles.bytes_in if gpu else 0) / (PINNED_LINK if pinned else GPU_LINK)
    alone = median(seconds["whole"])
    waiting = np.dtype(dtype).itemsize ** 2 * side * flops / alone / (2 * BUS**2)
    bound_s = max(alone + waiting, plan.tiles.bytes_in / BUS) if gpu else alone
    return {
        "dtype": dtype, "side": side, "limit": limit, "pinned": pinned,
        "tile": [plan.tiles.m, plan.tiles.n, plan.tiles.k], "tiles": plan.tiles.tiles,
        "whole_gflops": flops / median(seconds["whole"]) / 1e9, "tiles_gflops": flops / median(seconds["tiles"]) / 1e9,
        "ratio": ratio, "seconds": seconds, "link_seconds": link_s, "bound_seconds": bound_s, "predicted_seconds": plan.seconds,
        "same_bits": plan.same_bits,
    } | differences(a, b, tiles, result()) | baseline_figures(baseline, seconds, tiles)  # fmt: skip


def some_rows(side: int) -> list[int]:
    """Those that are compared with float64 and with a baseline."""
    return [0, side // 3, side - 1]


def differences(a: np.ndarray, b: np.ndarray, tiles: np.ndarray, whole: np.ndarray) -> dict[str, Any]:
    """Whether tiles have the bits of the product in one piece, and how far some elements are from it and from float64."""
    rows = some_rows(len(tiles))
    exact = np.asarray(a[rows], np.float64) @ np.asarray(b[:, :COLUMNS], np.float64)
    return {
        "equal": bool(np.array_equal(whole, tiles)),
        "difference": float(np.abs(whole[:64].astype(np.float64) - tiles[:64]).max()),
        "largest_error": float(np.abs(np.asarray(tiles[rows, :COLUMNS], np.float64) - exact).max()),
    }


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each call in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            taken = timed(call)
            if number:  # the first round compiles
                seconds[name].append(taken)
    return seconds


def baseline_figures(baseline: Baseline | None, seconds: dict[str, list[float]], tiles: np.ndarray) -> dict[str, Any]:
    """How cuBLASXt ran, and how far some of its elements are from ours."""
    if baseline is None:
        return {}
    times = zip(seconds["cublas_xt"], seconds["tiles"], strict=True)
    rows = some_rows(len(tiles))
    return {
        "cublas_xt": baseline.way,
        "times_as_fast_as_cublas_xt": median(one / other for one, other in times),
        "from_cublas_xt": float(np.abs(baseline.result[rows, :COLUMNS] - tiles[rows, :COLUMNS]).max()),
    }


def in_file(path: Path, values: np.ndarray) -> np.ndarray:
    made = np.memmap(path, values.dtype, "w+", shape=values.shape)
    made[...] = values
    made.flush()
    return made


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.out_of_core", description=__doc__)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--limit", default="4GB")
    parser.add_argument("--times", type=float, default=3.0)
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args(words)
    limit = as_bytes(options.limit, "--limit")
    assert limit is not None
    rows = []
    ways = (False, True) if default_device(options.device).info.kind != "cpu" else (False,)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for dtype, pinned in product(options.dtypes.split(","), ways):
            row = measured(dtype, pinned, limit, options.times, options.device, options.rounds, Path(folder))
            rows.append(row)
            print(
                f"{dtype:8} {'pinned' if pinned else 'ordinary'} n={row['side']}: whole {row['whole_gflops']:9,.0f} GFLOP/s, "
                f"tiles {row['tiles_gflops']:9,.0f}, "
                f"ratio {row['ratio']:.3f}, "
                f"{row['bound_seconds'] / median(row['seconds']['tiles']):.3f} of the bound; "
                f"link alone {row['link_seconds']:.2f} s of {median(row['seconds']['tiles']):.2f}; "
                f"predicted {row['predicted_seconds']:.2f} s; bits equal: {row['equal']} (planned {row['same_bits']}), "
                f"difference {row['difference']:.2e}, error {row['largest_error']:.2e}"
                + (
                    f"; {row['times_as_fast_as_cublas_xt']:.2f} times as fast as cuBLASXt" if "cublas_xt" in row else ""
                ),
                flush=True,
            )
    if options.record:
        info = default_device(options.device).info
        machine = {"device": info.label, "driver": info.driver, "processors": usable_processors()}
        machine |= {"numpy": np.__version__}
        record = {"machine": machine | {"date": time.strftime("%Y-%m-%d")}, "times": options.times, "rows": rows}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
