"""Measures products of blocks of rows on 1, 2, 4 ... GPUs: one b copied by peers, and a replica on each, beside PyTorch's.

`python -m tools.block_products --record benchmarks/h200-blocks.json` multiplies square matrices of `--side` rows, of which every
GPU has an equal part. Four ways take turns in each round: `tilewright.blocks.matmul` with one b and with replicas, `torch.matmul`
on each GPU's replica, and the same after PyTorch's own copies of b. A call is timed until all GPUs are idle; how long it takes to
return is measured, too. Efficiency is the rate of a GPU divided by that of one GPU alone. Some rows are compared with float64.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tilewright import blocks

DTYPES = ("float32", "float16")
COLUMNS = 256  # whose elements of three rows are compared with float64
WAYS = ("peers", "replicas", "torch", "torch_copies")


def on_gpus(torch: Any, side: int, dtype: str, gpus: int) -> dict[str, Any]:
    """The operands: blocks of a, b on the first GPU and replicas on all, and room for results."""
    kind, rows = getattr(torch, dtype), [side * (each + 1) // gpus - side * each // gpus for each in range(gpus)]
    places = [torch.device("cuda", each) for each in range(gpus)]
    made = {
        "a": [torch.randn((m, side), device=place, dtype=torch.float32).to(kind) for m, place in zip(rows, places, strict=True)],
        "b": torch.randn((side, side), device=places[0], dtype=torch.float32).to(kind),
        "out": [torch.empty((m, side), device=place, dtype=kind) for m, place in zip(rows, places, strict=True)],
    }  # fmt: skip
    return made | {"replicas": [made["b"].to(place) for place in places]}


def ways_of(torch: Any, given: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """The calls that are compared. None waits."""
    a, b, out, replicas = (given[name] for name in ("a", "b", "out", "replicas"))

    def by_torch(copied: bool) -> None:
        for left, right, result in zip(a, replicas, out, strict=True):
            if copied and right.device != b.device:
                right.copy_(b, non_blocking=True)
            torch.matmul(left, right, out=result)

    return {
        "peers": lambda: blocks.matmul(a, b, out),
        "replicas": lambda: blocks.matmul(a, replicas, out),
        "torch": lambda: by_torch(False),
        "torch_copies": lambda: by_torch(True),
    }


def settle(torch: Any, gpus: int) -> None:
    """Wait for all GPUs."""
    for each in range(gpus):
        torch.cuda.synchronize(each)


def timed(torch: Any, call: Callable[[], Any], gpus: int) -> tuple[float, float]:
    """Seconds until the call has returned, and until all GPUs are idle."""
    settle(torch, gpus)
    begin = time.perf_counter()
    call()
    returned = time.perf_counter()
    settle(torch, gpus)
    return returned - begin, time.perf_counter() - begin


def largest_error(given: dict[str, Any]) -> float:
    """The largest difference of some elements of each block from float64's, relative to the largest element."""
    found = 0.0
    for left, right, result in zip(given["a"], given["replicas"], given["out"], strict=True):
        rows = [0, left.shape[0] // 3, left.shape[0] - 1]
        wanted = left[rows].double() @ right[:, :COLUMNS].double()
        found = max(found, float((result[rows, :COLUMNS].double() - wanted).abs().max() / wanted.abs().max()))
    return found


def checked(torch: Any, given: dict[str, Any], ways: dict[str, Callable[[], Any]], gpus: int) -> dict[str, Any]:
    """Errors of both ways of ours, and whether they have the same bits. It also compiles what they need."""
    results, errors = [], []
    for name in ("peers", "replicas"):
        for result in given["out"]:
            result.fill_(float("nan"))
        ways[name]()
        settle(torch, gpus)
        errors.append(largest_error(given))
        results.append([each.cpu() for each in given["out"]])
    equal = all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    return {"errors": errors, "same_bits": equal}


def measured(torch: Any, side: int, dtype: str, counts: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """The rows of one type. All counts of GPUs take turns, too."""
    given = {gpus: on_gpus(torch, side, dtype, gpus) for gpus in counts}
    ways = {gpus: ways_of(torch, given[gpus]) for gpus in counts}
    rows = [
        {"dtype": dtype, "side": side, "gpus": gpus, **checked(torch, given[gpus], ways[gpus], gpus)} for gpus in counts
    ]
    taken: dict[tuple[int, str], list[tuple[float, float]]] = {(gpus, way): [] for gpus in counts for way in WAYS}
    for number in range(rounds + 1):
        for (gpus, way), times in taken.items():
            found = timed(torch, ways[gpus][way], gpus)
            if number:  # the first round warms up
                times.append(found)
    for row in rows:
        gpus = row["gpus"]
        for way in WAYS:
            returned, seconds = ([each[place] for each in taken[gpus, way]] for place in (0, 1))
            alone = median(each[1] for each in taken[counts[0], way]) * counts[0]
            row[way] = {
                "tflops_a_gpu": 2 * side**3 / median(seconds) / gpus / 1e12, "efficiency": alone / median(seconds) / gpus,
                "returned_ms": median(returned) * 1e3, "seconds": seconds,
            }  # fmt: skip
    return rows


def printed(row: dict[str, Any]) -> str:
    rates = ", ".join(
        f"{way} {row[way]['tflops_a_gpu']:.1f} TFLOP/s a GPU ({row[way]['efficiency']:.2f} of one's, back after "
        f"{row[way]['returned_ms']:.1f} ms)"
        for way in WAYS
    )
    errors = " and ".join(f"{each:.1e}" for each in row["errors"])
    return f"{row['dtype']} {row['side']} on {row['gpus']}: {rates}; errors {errors}, bits equal: {row['same_bits']}"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.block_products", description=__doc__)
    parser.add_argument("--side", type=int, default=32768)
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--gpus", help="numbers of GPUs, such as 1,2,4 (default: powers of two, and all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", type=Path, help="write the figures there as JSON")
    options = parser.parse_args(words)
    import torch

    here = torch.cuda.device_count()
    doubled = [2**each for each in range(here.bit_length()) if 2**each <= here]
    counts = [int(each) for each in options.gpus.split(",")] if options.gpus else sorted({*doubled, here})
    torch.backends.cuda.matmul.allow_tf32 = False
    rows = []
    for dtype in options.dtypes.split(","):
        for row in measured(torch, options.side, dtype, counts, options.rounds):
            rows.append(row)
            print(printed(row), flush=True)
        torch.cuda.empty_cache()
    if options.record:
        machine: dict[str, Any] = {"device": torch.cuda.get_device_name(0), "gpus": here, "processors": os.cpu_count()}
        machine |= {"torch": torch.__version__, "cuda": torch.version.cuda, "numpy": np.__version__}
        machine["peers"] = [torch.cuda.can_device_access_peer(0, other) for other in range(1, here)]
        record = {"machine": machine | {"date": time.strftime("%Y-%m-%d")}, "rounds": options.rounds, "rows": rows}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
