"""`python -m tools.fuzz`: runs cases and prints those that failed. The exit status is 1 if any did."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tilewright.runtime.opencl.device import choose, list_devices

from . import shapes
from .bench import open_bench
from .cases import Case, decode, encode
from .check import FAILED
from .child import Task, palette_of
from .draw import draw
from .record import Failure, Record, load_fuzz
from .run import Loop, outcome_of
from .shrink import shrunk
from .types import MULTIPLIED

CASES, MOST_CASES = 2000, 10_000_000
KINDS = {"all": ("host", "device"), "host": ("host",), "device": ("device",), "cuda": ("cuda",)}


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser("python -m tools.fuzz", description=__doc__)
    parser.add_argument(
        "--cases", type=int, help=f"the default is {CASES}, or with --seconds as many as there is time for"
    )
    parser.add_argument("--seconds", type=float, help="stop after SECONDS")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; each has the next")
    parser.add_argument("--device", default=None, help="as `tilewright devices` numbers or names them")
    parser.add_argument(
        "--kind", choices=KINDS, default="all", help="NumPy's arrays, PyOpenCL's, or both; or CuPy's and PyTorch's"
    )
    parser.add_argument("--types", default=",".join(MULTIPLIED), help="element types of products, between commas")
    parser.add_argument("--few", action="store_true", help="fewer variants of programs: for drivers that build slowly")
    parser.add_argument("--as-gpu", action="store_true", help="have a CPU device run what a GPU would")
    parser.add_argument("--most-work", type=int, default=shapes.MOST_WORK, help="multiply-adds of a product at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--record", type=Path, help="the file for what was found")
    parser.add_argument("--resume", action="store_true", help="go on from the record's last seed")
    parser.add_argument("--shrink", type=int, default=3, help="failures to look for a smaller case of")
    parser.add_argument("--only", metavar="SEED or CASE", help="one case: its seed, or its JSON")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is done is saved then, as by Ctrl-C
    infos = list_devices()
    number = str(choose(infos, options.device))
    task = Task(
        number, kinds=KINDS[options.kind], few=options.few, types=tuple(options.types.split(",")),
        most_work=options.most_work, as_gpu=options.as_gpu,
    )  # fmt: skip
    if options.only is not None:
        return only(options.only, task)
    record = Record(options.seed, options.seed, kinds=task.kinds)
    if options.resume:
        record = load_fuzz(options.record)
        if record.kinds != task.kinds:
            raise SystemExit(f"the record is of {record.kinds}, asked for were {task.kinds}: pass the same --kind")
    prepare(task, options.jobs)
    print(f"seeds from {record.next_seed} on {infos[int(number)].label}", flush=True)
    loop = Loop(record, task, options.jobs, options.record)
    record = loop.run(options.cases or (MOST_CASES if options.seconds else CASES), options.seconds)
    record = with_smallest(record, task, options.shrink)
    if options.record:
        record.save(options.record)
    tell(record)
    return 1 if record.failures else 0


def prepare(task: Task, jobs: int) -> None:
    """Ask the planner about every type first, several at once: children then find the answers on the disk."""
    info = list_devices()[int(task.device)]
    if task.as_gpu or info.kind != "cpu":
        wanted = [(dtype, False) for dtype in task.types] + [("float32", True)]
        script = "from tools.fuzz.__main__ import scan; import sys; scan(*sys.argv[1:])"
        commands = [[sys.executable, "-c", script, task.device, str(task.as_gpu), *map(str, each)] for each in wanted]
        with ThreadPoolExecutor(jobs) as workers:
            list(workers.map(lambda command: subprocess.run(command, check=True), commands))


def scan(device: str, as_gpu: str, dtype: str, moves: str) -> None:
    """What one process of `prepare` does."""
    shapes.pool_for(dtype, open_bench(device, as_gpu == "True").info, moves == "True")


def only(which: str, task: Task) -> int:
    """Run one case in a child and tell all about it."""
    case = (
        decode(which)
        if which.startswith("{")
        else draw(int(which), palette_of(task, open_bench(task.device, task.as_gpu)))
    )
    print(case, flush=True)
    done = outcome_of(case, task)
    print(f"{done.verdict}: {done.reason}" if done.reason else done.verdict)
    return 1 if done.verdict == FAILED else 0


def with_smallest(record: Record, task: Task, most: int) -> Record:
    """The record with smaller cases for the first failures that differ in kind."""
    seen: set[str] = set()
    failures = []
    for failure in record.failures:
        if failure.kind not in seen and len(seen) < most and failure.smallest is None:
            seen.add(failure.kind)
            failure = smallest(failure, task)
        failures.append(failure)
    return replace(record, failures=tuple(failures))


def smallest(failure: Failure, task: Task) -> Failure:
    """The failure with the smallest case found that fails by the same sentence."""

    def fails(case: Case) -> bool:
        done = outcome_of(case, task)
        return done.verdict == FAILED and Failure(case.seed, done.reason, case).kind == failure.kind

    return replace(failure, smallest=shrunk(failure.case, fails))


def tell(record: Record) -> None:
    """The table, and every failure with how to run it again."""
    print(record.table())
    for failure in record.failures:
        print(f"\nseed {failure.seed}: {failure.reason}\n  {failure.case!r}")
        if failure.smallest is not None:
            print(f"  smallest: {failure.smallest!r}")
        print(f"  again: python -m tools.fuzz --only '{encode(failure.smallest or failure.case)}'")


if __name__ == "__main__":
    sys.exit(main())
