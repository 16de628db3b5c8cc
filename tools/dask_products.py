"""Measures products of Dask arrays on the workers of this machine: `python -m tools.dask_products --json benchmarks/NAME.json`.

Rounds in turns: `tilewright.dask.matmul` and Dask's own `@` of chunks that lie in the memory of the workers, and beside them
`tilewright.matmul` and NumPy of whole arrays in this process, which has all cores and the workers' devices to itself then.
Afterwards each Dask product runs once more on chunks that tasks make, with tiles that are dropped: the most memory that a
worker had more than before stands in the row's notes. Each result is compared with float64 in some rows first.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np

import tilewright
import tilewright.dask as tilewright_dask
from tilewright.cli.outputs import check_target
from tilewright.core.problem import Gemm, compulsory_bytes
from tilewright.core.records import Record, Role, Row, RowStatus, Samples, save_record
from tilewright.dask.schedule import ProductPlan
from tilewright.errors import TilewrightError
from tilewright.runtime.environment import read_environment
from tilewright.runtime.opencl.dealt import dealt_device
from tilewright.runtime.opencl.device import open_device

DTYPE = "float32"
CHECKED_ROWS = 16
OWN, LIMITED, DASK = "tilewright.dask", "tilewright.dask memory=", "dask.array"
ONE, NUMPY = "tilewright", "NumPy"  # in one process


class Nowhere:
    """Where tiles are stored and forgotten."""

    def __setitem__(self, place: Any, tile: np.ndarray) -> None:
        pass


def resident(figure: str) -> int:
    """This process's VmRSS or VmHWM in bytes; Linux tells it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(figure)).split()[1]) * 1024


def forget_the_most() -> int:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident("VmRSS")


def operands(side: int, chunk: int, depth: int) -> tuple[da.Array, da.Array]:
    """Two matrices of random chunks, each made by tasks of its own: `depth` is the side along k."""
    generator = da.random.default_rng(side)
    left, right = (
        generator.standard_normal((side, side), chunks=chunks, dtype=DTYPE)
        for chunks in ((chunk, depth), (depth, chunk))
    )
    return left, right


def finished(array: da.Array) -> da.Array:
    """The array with all chunks in the workers' memory."""
    held = array.persist()
    distributed.wait(held)
    return held


def check(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> str:
    """A sentence if rows of the product are wrong, "" otherwise."""
    rows = np.linspace(0, len(a) - 1, CHECKED_ROWS, dtype=int)
    left = a[rows].astype(np.float64)
    bound = (a.shape[1] + 2) * 2.0**-23 * (np.abs(left) @ np.abs(b).astype(np.float64))
    wrong = np.count_nonzero(np.abs(found[rows] - left @ b) > bound)
    return f"{wrong} elements of {CHECKED_ROWS} rows are wrong" if wrong else ""


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each call, in rounds in alternating order; the first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items() if number % 2 else reversed(calls.items()):
            begin = time.perf_counter()
            result = call()
            taken = time.perf_counter() - begin
            del result
            if number:
                times[name].append(taken)
    return times


def most_memory(client: Any, product: da.Array) -> int:
    """The most bytes that a worker had more than before, while tiles of the product were made and dropped."""
    before: dict[str, int] = client.run(forget_the_most)
    da.store(product, Nowhere(), lock=False)
    most: dict[str, int] = client.run(resident, "VmHWM")
    return max(most[each] - before[each] for each in most)


def timed(a: da.Array, b: da.Array, options: argparse.Namespace) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Seconds of each round, and what is wrong with the results. The workers hold the operands only in here."""
    left, right = finished(a), finished(b)
    whole = left.compute(), right.compute()
    devices = list(dict.fromkeys(dealt_device(place) for place in range(options.workers)))
    calls: dict[str, Callable[[], Any]] = {
        OWN: lambda: finished(tilewright_dask.matmul(left, right)),
        ONE: partial(tilewright.matmul, *whole, device=devices if len(devices) > 1 else devices[0]),
    }
    if not options.own:
        calls |= {DASK: lambda: finished(left @ right), NUMPY: lambda: whole[0] @ whole[1]}
    rounds: int = options.rounds
    return in_turns(calls, rounds), {name: check(np.asarray(call()), *whole) for name, call in calls.items()}


def measured(client: Any, side: int, options: argparse.Namespace) -> tuple[list[Row], ProductPlan]:
    """The rows of one size, and what was planned for the product with limited memory."""
    chunk, depth = options.chunk, options.depth or options.chunk
    a, b = operands(side, chunk, depth)
    times, reasons = timed(a, b, options)
    memory = (chunk + 2 * depth) * chunk * np.dtype(DTYPE).itemsize
    peaks = {}
    if not options.own:
        lazy: dict[str, da.Array] = {
            OWN: tilewright_dask.matmul(a, b), LIMITED: tilewright_dask.matmul(a, b, memory=memory), DASK: a @ b,
        }  # fmt: skip
        reasons[LIMITED] = check(lazy[LIMITED].compute(), a.compute(), b.compute())
        peaks = {name: most_memory(client, product) for name, product in lazy.items()}
    problem = Gemm(side, side, side, DTYPE)
    rows = []
    for name in (OWN, ONE) if options.own else (OWN, LIMITED, DASK, ONE, NUMPY):
        notes = [f"a worker had at most {peaks[name]:,} bytes more than before"] if name in peaks else []
        samples = Samples(wall=tuple(times.get(name, ())))
        role = Role.BASELINE if name in (DASK, NUMPY) else Role.KERNEL
        status = RowStatus.WRONG if reasons[name] else RowStatus.OK
        rows.append(
            Row(
                f"{name} gemm" if role is Role.BASELINE else name, f"chunks of {chunk} x {depth}", problem.title,
                (side, side, side), problem.flops, compulsory_bytes(problem), status, reasons[name], tuple(notes),
                samples=samples, backend="host" if name == NUMPY else "opencl", role=role,
            )
        )  # fmt: skip
    return rows, tilewright_dask.plan(a, b, memory=memory)


def table(rows: Sequence[Row], told: ProductPlan) -> list[str]:
    """The rows as lines, with the ratios of rounds."""
    by_name = {row.name: row for row in rows}
    lines = [f"{rows[0].problem}, {rows[0].lesson}"]
    for row in rows:
        speed = f"{row.rate:9,.0f} {row.unit} (spread {row.samples.spread:.0%})" if row.measured else ""
        lines.append(f"  {row.name:28} {speed:32} {row.reason or '; '.join(row.notes)}")
    lines.append(f"  planned with memory=: at most {told.worker_bytes:,} bytes a worker")
    for other in [each for each in (ONE, f"{DASK} gemm") if each in by_name]:
        pairs = zip(by_name[OWN].samples.times, by_name[other].samples.times, strict=True)
        ratios = sorted(theirs / ours for ours, theirs in pairs)
        lines.append(f"  {OWN} beside {other}: {ratios[len(ratios) // 2]:.2f} of its speed, the median of rounds")
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table for each size, and write the record if asked to."""
    parser = argparse.ArgumentParser("python -m tools.dask_products", description=__doc__)
    parser.add_argument(
        "--side", type=int, nargs="+", default=[4096, 8192], help="of square matrices (default %(default)s)"
    )
    parser.add_argument("--chunk", type=int, default=2048, help="sides of chunks (default %(default)s)")
    parser.add_argument("--depth", type=int, help="of chunks along k (default: their sides)")
    parser.add_argument("--workers", type=int, default=2, help="default %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="of each worker (default %(default)s)")
    parser.add_argument("--one-process", action="store_true", help="all workers live in this process, and send nothing")
    parser.add_argument("--own", action="store_true", help="without Dask's own product, NumPy and memory: large sizes")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    options = parser.parse_args(words)
    try:
        if options.json is not None:
            check_target("--json", options.json)
        rows: list[Row] = []
        with (
            distributed.LocalCluster(
                n_workers=options.workers,
                threads_per_worker=options.threads,
                processes=not options.one_process,
                dashboard_address=None,
                memory_limit=0,
            ) as cluster,  # fmt: skip
            distributed.Client(cluster) as client,
        ):
            for side in options.side:
                found, told = measured(client, side, options)
                print("\n".join(table(found, told)), flush=True)
                rows += found
        if options.json is not None:
            environment = read_environment(open_device().info)
            title = f"products of Dask arrays, {options.workers} workers"
            save_record(Record(title, DTYPE, environment, None, tuple(rows)), options.json)
            print(f"wrote {options.json}")
    except TilewrightError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
