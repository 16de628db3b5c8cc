"""Measures what a caller of PyTorch's tensors sees: loops of calls of `matmul(a, b, out)` beside `torch.matmul`.

`python -m tools.caller_times --record benchmarks/h200-calls.json` takes turns with PyTorch in each round, on random data. For
each product the record has the medians and spreads of a call's microseconds, in loops and in CUDA graphs of many calls, and the
error of both against float64. It needs PyTorch and an NVIDIA GPU. `--warm-up` compiles all programs first, in several processes.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from tilewright.measurement.sets import CALLED, Called

ROUNDS = 5
LOOP_S = 0.006  # of one loop
MOST_CALLS, LEAST_CALLS = 1000, 3
GRAPH_CALLS = 20
ERRORS_UP_TO = 2**31  # multiply-adds of a product that is compared with float64


DTYPES = ("float32", "float16", "bfloat16", "float64")


def operands(case: Called, dtype: str) -> tuple[Any, Any, Any]:
    """Random operands in their layouts, and room for the result."""
    import torch

    kind = getattr(torch, dtype)
    stack = (case.batch,) if case.batch > 1 else ()
    made = []
    for letter, sides in zip(case.layout, ((case.m, case.k), (case.k, case.n)), strict=True):
        matrix = torch.randn(
            (*stack, *(sides if letter == "N" else sides[::-1])), device="cuda", dtype=torch.float32
        ).to(kind)
        made.append(matrix if letter == "N" else matrix.mT)
    return made[0], made[1], torch.empty((*stack, case.m, case.n), device="cuda", dtype=kind)


def loop(call: Callable[[], object], count: int) -> float:
    """Microseconds of a call in a loop, from an idle device to an idle one."""
    import torch

    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e6


def captured(call: Callable[[], object]) -> Any:
    """A graph of GRAPH_CALLS calls."""
    import torch

    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # type: ignore[no-untyped-call, unused-ignore]
        for _ in range(GRAPH_CALLS):
            call()
    return graph


def figures(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """Medians and spreads in microseconds, and the median of the ratios of each round: above 1, ours is faster."""
    ratio = median(b / a for a, b in zip(ours, theirs, strict=True))
    return {
        "us": round(median(ours), 2), "spread_us": [round(min(ours), 2), round(max(ours), 2)],
        "torch_us": round(median(theirs), 2), "torch_spread_us": [round(min(theirs), 2), round(max(theirs), 2)],
        "ratio": round(ratio, 3),
    }  # fmt: skip


def relative_error(found: Any, a: Any, b: Any) -> float:
    wanted = a.double() @ b.double()
    return float((found.double() - wanted).norm() / wanted.norm())


def measured(case: Called, dtype: str) -> dict[str, Any]:
    """One row: calls in loops, and in graphs."""
    import torch

    import tilewright

    a, b, out = operands(case, dtype)

    def own() -> None:
        tilewright.matmul(a, b, out)

    def other() -> None:
        torch.matmul(a, b, out=out)

    row: dict[str, Any] = {"product": str(case), "what": case.what, "dtype": dtype}
    for name, call in (("error", own), ("torch_error", other)):
        out.fill_(float("nan"))
        call()
        if case.batch * case.m * case.n * case.k <= ERRORS_UP_TO:
            row[name] = relative_error(out, a, b)
    counts = [max(LEAST_CALLS, min(MOST_CALLS, round(LOOP_S * 1e6 / loop(call, 5)))) for call in (own, other)]
    graphs = [captured(call) for call in (own, other)]
    replays = [max(1, round(count / GRAPH_CALLS)) for count in counts]
    times: list[list[float]] = [[], [], [], []]
    for number in range(ROUNDS + 1):
        turns = [
            (0, own, counts[0]),
            (1, other, counts[1]),
            (2, graphs[0].replay, replays[0]),
            (3, graphs[1].replay, replays[1]),
        ]
        for place, call, count in turns if number % 2 else reversed(turns):
            taken = loop(call, count)
            if number:  # the first round warms up
                times[place].append(taken / (GRAPH_CALLS if place > 1 else 1))
    return row | {"calls": figures(times[0], times[1]), "graph": figures(times[2], times[3])}


def geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def compile_all(dtypes: Sequence[str], processes: int) -> None:
    """Run each product once, in several processes: programs are on disk afterwards."""
    own = [sys.executable, "-m", "tools.caller_times", "--share"]
    children = [subprocess.Popen([*own, f"{place}/{processes}", "--dtype", *dtypes]) for place in range(processes)]
    for child in children:
        child.wait()


def run_share(share: str, dtypes: Sequence[str]) -> None:
    """Every so many-th product, once."""
    import tilewright

    place, of = map(int, share.split("/"))
    every = [(case, dtype) for case in CALLED for dtype in dtypes]
    for case, dtype in every[place::of]:
        tilewright.matmul(*operands(case, dtype))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m tools.caller_times", description=__doc__)
    parser.add_argument("--dtype", nargs="+", default=list(DTYPES))
    parser.add_argument("--record", type=Path)
    parser.add_argument("--warm-up", type=int, default=0, metavar="PROCESSES")
    parser.add_argument("--what", nargs="+", help="only products of these uses: square, convolution, decoder ...")
    parser.add_argument("--share", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.share:
        run_share(options.share, options.dtype)
        return
    if options.warm_up:
        compile_all(options.dtype, options.warm_up)
    rows = []
    for dtype in options.dtype:
        for case in (each for each in CALLED if options.what is None or each.what in options.what):
            rows.append(measured(case, dtype))
            calls, graph = rows[-1]["calls"], rows[-1]["graph"]
            print(
                f"{dtype:9} {rows[-1]['product']:32} {calls['us']:9.1f} {calls['torch_us']:9.1f} {calls['ratio']:6.2f}   "
                f"graph {graph['us']:9.1f} {graph['torch_us']:9.1f} {graph['ratio']:6.2f}",
                flush=True,
            )
        own = [row for row in rows if row["dtype"] == dtype]
        for part in ("calls", "graph"):
            ratios = [row[part]["ratio"] for row in own]
            print(f"{dtype} {part}: {len(ratios)} products, mean {geometric_mean(ratios):.3f}, worst {min(ratios):.2f}")
        if options.record:  # after each type: what is measured is kept
            record = {
                "machine": machine(),
                "rounds": ROUNDS,
                "cases": [case._asdict() for case in CALLED],
                "rows": rows,
            }
            options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What it ran on."""
    import torch

    from tilewright.runtime.cuda.opening import library_device

    device = library_device(0)
    return {
        "device": device.info.name, "driver": device.info.driver, "compiler": device.compiler.version,
        "torch": torch.__version__, "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip


if __name__ == "__main__":
    main()
