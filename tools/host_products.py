"""Measures products of NumPy arrays on 1, 2, 4 ... GPUs of one host, beside cuBLASXt on as many: `device=` names several.

`python -m tools.host_products --record benchmarks/h100-x4-host.json` multiplies square matrices of the host's memory. All
numbers of GPUs take turns in each round, cuBLASXt before them. Efficiency is the rate of a GPU divided by that of one GPU alone
from the host's memory, in tiles, too. Beside it stand the product in one piece, whose copies run before and after it; the same of
operands that are on the GPU already; the plain call, which chooses tiles by itself; and `device="all"`, which takes as few GPUs
as are predicted to be the fastest. The same tiles with pinned arrays are measured after that, one GPU in turns with several.
Some elements are compared with float64.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

import tilewright
from tilewright.library.engine import default_device
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.planning import StreamedPlan
from tilewright.library.streamed.tiles import Tile
from tilewright.library.streamed.worker import Worker
from tilewright.runtime.opencl.device import list_devices
from tilewright.runtime.processors import usable_processors

from .cublas_xt import cublas_xt
from .out_of_core import COLUMNS, DTYPES, in_turns, on_device, operand, timed


def nvidia_gpus() -> list[int]:
    """Their numbers, as `device=` takes them."""
    return [number for number, info in enumerate(list_devices()) if "nvidia" in info.features]


def tiles_of(call: Callable[[], Any]) -> list[int]:
    """How many tiles each device stores in a second call: in the first, who has no kernels yet waits for its compiler."""
    call()
    found: dict[int, int] = {}
    stored = Run.stored

    def count(run: Run, worker: Worker, tile: Tile, check: int) -> None:
        found[id(worker)] = found.get(id(worker), 0) + 1
        stored(run, worker, tile, check)

    with patch.object(Run, "stored", count):
        call()
    return list(found.values())


def largest_error(a: np.ndarray, b: np.ndarray, result: np.ndarray) -> float:
    """The largest difference of some elements from float64's, relative to the largest of them."""
    rows = [0, len(a) // 3, len(a) - 1]
    exact = a[rows].astype(np.float64) @ b[:, :COLUMNS].astype(np.float64)
    return float(np.abs(result[rows, :COLUMNS] - exact).max() / np.abs(exact).max())


def baselines_of(a: np.ndarray, b: np.ndarray, counts: Sequence[int], rounds: int) -> dict[int, list[float]]:
    """Seconds of cuBLASXt on so many GPUs: one after the other, since two handles at a time end in a segmentation fault."""
    found: dict[int, list[float]] = {}
    for count in counts:
        baseline = cublas_xt(a, b, count)
        if baseline is not None:
            found[count] = [timed(baseline.call) for _ in range(rounds)]
            baseline.close()
    return found


def in_one_piece(a: np.ndarray, b: np.ndarray, out: np.ndarray, gpu: int) -> None:
    """The product without tiles, which the library takes for large arrays where no queue is named."""
    tilewright.matmul(a, b, out, queue=default_device(str(gpu)).plain_queue)


def measured(side: int, dtype: str, counts: Sequence[int], rounds: int, baselines: bool) -> list[dict[str, Any]]:
    """The rows of one type."""
    gpus = nvidia_gpus()
    a, b = operand(side, dtype, 1), operand(side, dtype, 2)
    out = np.zeros((side, side), dtype)
    theirs = baselines_of(a, b, counts, rounds) if baselines else {}
    calls: dict[tuple[str, int], Callable[[], Any]] = {
        ("one piece", 1): partial(in_one_piece, a, b, out, gpus[0]),
        ("plain", 1): lambda: tilewright.matmul(a, b, out, device=gpus[0]),
    }
    told: dict[int, dict[str, Any]] = {}
    for count in counts:
        call = calls["tiles", count] = partial(tilewright.matmul, a, b, out, device=gpus[:count])
        out.fill(np.nan)
        told[count] = {"tiles": tiles_of(call), "largest_error": largest_error(a, b, out)}
        print(f"{dtype} {side} on {count}: {told[count]}", flush=True)
    planned = tilewright.plan(side, dtype=dtype, device="all")
    calls["all", len(planned.shares) if isinstance(planned, StreamedPlan) else 1] = lambda: tilewright.matmul(
        a, b, out, device="all"
    )
    whole, _ = on_device(a, b, str(gpus[0]))
    pinned = pinned_times(a, b, out, whole, counts, rounds)
    named = {f"{name} {count}": call for (name, count), call in calls.items()}
    seconds = in_turns({"whole": whole, **named}, rounds)
    taken = {key: seconds[f"{key[0]} {key[1]}"] for key in calls} | {
        ("cublas_xt", count): times for count, times in theirs.items()
    }
    taken |= {("pinned", count): times for count, times in pinned.items()}
    alone = {name: median(taken[name, counts[0]]) * counts[0] for name in ("tiles", "pinned")}
    return [
        {
            "way": name, "dtype": dtype, "side": side, "gpus": count, "seconds": times,
            "tflops_a_gpu": 2 * side**3 / median(times) / count / 1e12,
            "efficiency": alone["pinned" if name == "pinned" else "tiles"] / median(times) / count,
            "of_one_piece": median(seconds["whole"]) / median(times) / count,
        }
        | (told[count] if name == "tiles" else {})
        for (name, count), times in taken.items()
    ]  # fmt: skip


def pinned_times(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, whole: Callable[[], Any], counts: Sequence[int], rounds: int
) -> dict[int, list[float]]:
    """Seconds of products of pinned arrays by each number of GPUs, interleaved with the product of operands on a device. Their
    results are checked."""
    gpus = nvidia_gpus()
    with tilewright.pinned(a, b, out, device=gpus[: max(counts)]):
        calls = {str(count): partial(tilewright.matmul, a, b, out, device=gpus[:count]) for count in counts}
        for count, call in calls.items():
            out.fill(np.nan)
            call()
            print(f"pinned, on {count}: largest error {largest_error(a, b, out):.2e}", flush=True)
        found = in_turns({"whole": whole, **calls}, rounds)
    return {count: found[str(count)] for count in counts}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.host_products", description=__doc__)
    parser.add_argument("--side", type=int, default=32768)
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--gpus", help="numbers of GPUs, such as 1,2,4 (default: powers of two, and all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without cuBLASXt")
    parser.add_argument("--record", type=Path, help="write the figures there as JSON")
    options = parser.parse_args(words)
    here = len(nvidia_gpus())
    doubled = [2**each for each in range(here.bit_length()) if 2**each <= here]
    counts = [int(each) for each in options.gpus.split(",")] if options.gpus else sorted({*doubled, here})
    rows = []
    for dtype in options.dtypes.split(","):
        for row in measured(options.side, dtype, counts, options.rounds, not options.alone):
            rows.append(row)
            print(
                f"{row['way']:10} {row['dtype']:8} {row['side']} on {row['gpus']}: {row['tflops_a_gpu']:.1f} TFLOP/s a GPU, "
                f"{row['efficiency']:.2f} of one's, {row['of_one_piece']:.2f} of one piece on the device",
                flush=True,
            )
    if options.record:
        info = default_device(str(nvidia_gpus()[0])).info
        machine = {"device": info.label, "gpus": here, "driver": info.driver, "processors": usable_processors()}
        machine |= {"numpy": np.__version__, "date": time.strftime("%Y-%m-%d")}
        record = {"machine": machine, "rounds": options.rounds, "rows": rows}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
