"""Measures NumPy arrays multiplied on a GPU: `matmul(a, b, device="gpu")` beside PyTorch with its own copies.

`python -m tools.host_copies --record benchmarks/h200-host-copies.json` takes turns with PyTorch in each round: operands from
NumPy arrays to the GPU, the product, and the result as a new NumPy array. PyTorch's copies are those that users write, by
`torch.from_numpy(a).cuda()` and `.cpu().numpy()`. Both multiply in float32 itself. `--limits` measures instead small products
by the driver's own copies and by pinned pieces, and larger ones by one thread and several, for the constants of
`runtime/opencl/staging.py`. It needs a GPU, and PyTorch for the comparison.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import tilewright
from tilewright.library.engine import default_device
from tilewright.runtime.opencl.staging import USUAL, Limits, Staging

SIDES = (256, 1024, 2048, 4096, 8192)
DTYPES = ("float32", "float16")
SMALL_SIDES = (32, 64, 96, 128, 192, 256, 384, 512)  # 4 KiB to 1 MiB a matrix
LARGE_SIDES = (512, 1024, 2048, 4096)
BUDGET_S = 5.0  # of one size: with all five of both types, and the first calls, a minute
MOST_ROUNDS, LEAST_ROUNDS = 40, 3

Product = Callable[[], np.ndarray]


def own_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result: np.ndarray = tilewright.matmul(a, b, device="gpu")
    return result


def torch_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    import torch

    result: np.ndarray = (torch.from_numpy(a).cuda() @ torch.from_numpy(b).cuda()).cpu().numpy()
    return result


def torch_pinned(a: np.ndarray, b: np.ndarray) -> Product:
    """PyTorch's product of copies of two arrays in memory that it has pinned, into such memory."""
    import torch

    left, right = (torch.from_numpy(each).pin_memory() for each in (a, b))
    out = torch.empty((len(a), b.shape[1]), dtype=left.dtype, pin_memory=True)

    def call() -> np.ndarray:
        found = left.cuda(non_blocking=True) @ right.cuda(non_blocking=True)
        result: np.ndarray = out.copy_(found).numpy()
        return result

    return call


def in_turns(calls: dict[str, Product]) -> dict[str, list[float]]:
    """Microseconds of each call, in rounds in which all take turns, the next round in the opposite order.

    Results are dropped after the time is taken. The first round warms up.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    begin = time.perf_counter()
    for number in range(MOST_ROUNDS + 1):
        for name, call in calls.items() if number % 2 else reversed(calls.items()):
            start = time.perf_counter()
            result = call()
            taken = time.perf_counter() - start
            del result
            if number:
                times[name].append(taken * 1e6)
        if number >= LEAST_ROUNDS and time.perf_counter() - begin > BUDGET_S:
            break
    return times


def figures(times: Sequence[float]) -> dict[str, float]:
    return {"us": round(median(times), 1), "least_us": round(min(times), 1), "most_us": round(max(times), 1)}


def compared(side: int, dtype: str) -> dict[str, Any]:
    """One size: medians and spreads, and the medians of the ratios of each round. Below 1, ours takes less time."""
    generator = np.random.default_rng(side)
    a, b = (generator.standard_normal((side, side), np.float32).astype(dtype) for _ in range(2))
    rows = generator.integers(0, side, 16)
    wanted = a[rows].astype(np.float64) @ b.astype(np.float64)
    left, right, out = a.copy(), b.copy(), np.zeros((side, side), dtype)
    calls: dict[str, Product] = {
        "tilewright": lambda: own_product(a, b),
        "torch": lambda: torch_product(a, b),
        "pinned": lambda: tilewright.matmul(left, right, out, device="gpu"),
        "torch_pinned": torch_pinned(a, b),
    }
    with tilewright.pinned(left, right, out, device="gpu"):
        errors = {name: float(np.abs(call()[rows] - wanted).max()) for name, call in calls.items()}
        times = in_turns(calls)
    row: dict[str, Any] = {"side": side, "dtype": dtype, "rounds": len(times["torch"])}
    for name, own in times.items():
        row[name] = figures(own) | {"largest_error": errors[name]}
    for name, ours, theirs in (("ratio", "tilewright", "torch"), ("pinned_ratio", "pinned", "torch_pinned")):
        row[name] = round(median(own / other for own, other in zip(times[ours], times[theirs], strict=True)), 3)
    told = "   ".join(f"{name} {row[name]['us']:.1f} us" for name in calls)
    print(f"{dtype} {side:6} {told}   {row['ratio']:.3f} and {row['pinned_ratio']:.3f} of its time", flush=True)
    return row


def with_limits(sides: Sequence[int], choices: dict[str, Limits]) -> list[dict[str, Any]]:
    """The same products with several limits of the copies. The fastest one is marked."""
    device, rows = default_device("gpu"), []
    stagings = {name: Staging(device, limits) for name, limits in choices.items()}
    for side in sides:
        generator = np.random.default_rng(side)
        a, b = (generator.standard_normal((side, side), np.float32) for _ in range(2))

        def call(staging: Staging, a: np.ndarray = a, b: np.ndarray = b) -> np.ndarray:
            device.per_thread.staging = staging
            return own_product(a, b)

        own: dict[str, Product] = {name: partial(call, staging) for name, staging in stagings.items()}
        times = {name: figures(each) for name, each in in_turns(own).items()}
        best = min(times, key=lambda name: times[name]["us"])
        shown = "  ".join(f"{name} {each['us']:9.1f}{'*' if name == best else ' '}" for name, each in times.items())
        print(f"{side:6} ({side * side * 4:>10,} bytes)  {shown}", flush=True)
        rows.append({"side": side, "times": times})
    del device.per_thread.staging
    return rows


def limits_found() -> dict[str, Any]:
    """Where pinned pieces begin to pay, and how many threads and bytes of a piece are best."""
    global BUDGET_S
    BUDGET_S = 1.5
    print("us: the driver's copies, pinned pieces (`plain_bytes`)")
    small = with_limits(SMALL_SIDES, {"plain": Limits(plain_bytes=2**40), "pinned": Limits(plain_bytes=0)})
    print("us: threads (`MOST_THREADS`)")
    threads = with_limits(LARGE_SIDES, {f"{count}": Limits(threads=count) for count in (1, 2, 4, 8)})
    print("us: MiB of a piece (`piece_bytes`)")
    pieces = with_limits(LARGE_SIDES, {f"{mib}": Limits(piece_bytes=mib * 2**20) for mib in (1, 2, 4)})
    print("us: bytes for each thread (`share_bytes`)")
    shares = with_limits(LARGE_SIDES, {f"{kib} KiB": Limits(share_bytes=kib * 2**10) for kib in (512, 1024, 2048)})
    return {"small": small, "threads": threads, "pieces": pieces, "shares": shares}


def machine() -> dict[str, Any]:
    """What it ran on."""
    info = default_device("gpu").info
    found = {"device": info.label, "driver": info.driver, "processors": os.cpu_count(), "threads": USUAL.threads}
    try:
        import torch

        found["torch"] = torch.__version__
    except ImportError:
        pass
    return found | {"numpy": np.__version__, "date": time.strftime("%Y-%m-%d")}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.host_copies", description=__doc__)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--limits", action="store_true", help="measure around the constants of the copies instead")
    options = parser.parse_args(words)
    record: dict[str, Any] = {"machine": machine()}
    if options.limits:
        record["limits"] = limits_found()
    else:
        record["rows"] = [compared(side, dtype) for dtype in DTYPES for side in SIDES]
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
