"""Measures `matmul(a, a.T)` beside the vendor's: NumPy's syrk on a CPU, cuBLAS's whole product by PyTorch on an NVIDIA GPU.

`python -m tools.symmetric_times --record benchmarks/cpu-intel-symmetric.json`, and with `--gpu` on PyTorch's tensors. Both take
turns in each round, on random data; each result is compared with float64 and with its own transpose, bit by bit.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

import tilewright
from tilewright.library.engine import default_device
from tilewright.measurement.baselines.child import blas_settings_words
from tilewright.runtime.environment import read_environment
from tilewright.runtime.load import OtherLoad
from tilewright.runtime.resting import let_threads_rest

ROUNDS = 15
LOOP_S = 0.02  # of one turn
CPU_SHAPES = ((300, 300), (500, 3000), (1000, 1000), (1000, 4000), (2000, 2000), (4096, 512))  # rows and columns of A
GPU_SHAPES = ((1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192))
CPU_TYPES, GPU_TYPES = ("float32", "float64"), ("float32", "float64", "float16", "bfloat16")

Call = Callable[[], Any]


def turn(call: Call, count: int, wait: Call) -> float:
    """Seconds of a call in a loop, until the work is done."""
    begin = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - begin) / count


def on_cpu(rows: int, columns: int, dtype: str) -> tuple[Call, Call, Call, Call]:
    """Ours, the vendor's, what waits, and the result beside float64's."""
    a = np.random.default_rng(rows + columns).standard_normal((rows, columns)).astype(dtype)
    out = np.empty((rows, rows), dtype)

    def checked() -> float:
        found = tilewright.matmul(a, a.T)
        assert found.tobytes() == np.ascontiguousarray(found.T).tobytes(), "not symmetric"
        wanted = a.astype(np.float64) @ a.astype(np.float64).T
        return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))

    return lambda: tilewright.matmul(a, a.T, out), lambda: np.matmul(a, a.T, out=out), lambda: None, checked


def on_gpu(rows: int, columns: int, dtype: str) -> tuple[Call, Call, Call, Call]:
    """The same on an NVIDIA GPU."""
    import torch

    a = torch.randn((rows, columns), device="cuda").to(getattr(torch, dtype))
    out = torch.empty((rows, rows), device="cuda", dtype=a.dtype)

    def checked() -> float:
        found = tilewright.matmul(a, a.T)
        assert bool((found.view(torch.uint8) == found.T.contiguous().view(torch.uint8)).all()), "not symmetric"
        wanted = a.double() @ a.double().T
        return float((found.double() - wanted).norm() / wanted.norm())

    return (
        lambda: tilewright.matmul(a, a.T, out),
        lambda: torch.matmul(a, a.T, out=out),
        torch.cuda.synchronize,
        checked,
    )


def measured(rows: int, columns: int, dtype: str, gpu: bool) -> dict[str, Any]:
    """One row of the record."""
    ours, theirs, wait, checked = (on_gpu if gpu else on_cpu)(rows, columns, dtype)
    error = checked()
    calls = (ours, theirs)
    counts = [max(1, min(200, round(LOOP_S / turn(call, 2, wait)))) for call in calls]
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for call, count, taken in zip(calls, counts, times, strict=True):
            if not gpu:
                let_threads_rest()  # OpenBLAS's spin after a product, and would take a processor from the next
            call()
            taken.append(turn(call, count, wait) * 1e6)
    return {
        "rows": rows, "columns": columns, "dtype": dtype, "error": error,
        "us": round(median(times[0]), 1), "spread_us": [round(min(times[0]), 1), round(max(times[0]), 1)],
        "vendor_us": round(median(times[1]), 1), "vendor_spread_us": [round(min(times[1]), 1), round(max(times[1]), 1)],
        "ratio": round(median(b / a for a, b in zip(*times, strict=True)), 3),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser("python -m tools.symmetric_times", description=__doc__)
    parser.add_argument(
        "--gpu", action="store_true", help="PyTorch's tensors on an NVIDIA GPU (default: NumPy's arrays)"
    )
    parser.add_argument("--record", type=Path, help="write the figures there as JSON")
    options = parser.parse_args()
    if not options.gpu and (differences := blas_settings_words()):
        parser.error(differences)
    rows, load = [], OtherLoad()
    for dtype in GPU_TYPES if options.gpu else CPU_TYPES:
        for sides in GPU_SHAPES if options.gpu else CPU_SHAPES:
            rows.append(found := measured(*sides, dtype, options.gpu))
            print(f"{dtype:9} {sides[0]:5} x {sides[1]:5}  {found['us']:10.1f} us, vendor {found['vendor_us']:10.1f}, "
                  f"{found['ratio']:.2f} times as fast, error {found['error']:.1e}", flush=True)  # fmt: skip
    if options.record:
        info = default_device("gpu" if options.gpu else "cpu").info
        machine = {"numpy": np.__version__, "environment": msgspec.to_builtins(read_environment(info, load.cores()))}
        options.record.write_text(json.dumps({**machine, "rounds": ROUNDS, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
