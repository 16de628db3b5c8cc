"""The process in which cases run. If a case kills it, the case has failed and the run goes on.

It reads one line of JSON from its standard input, a `Task`, and writes lines of JSON: a `Begun` before each case, a `Done`
after it, a `Ready` with the device's facts before all of them.
"""

import contextlib
import faulthandler
import os
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from time import perf_counter
from typing import TextIO

import msgspec

from tilewright.runtime.device import DEVICE_VARIABLE

from .bench import Bench, open_bench
from .cases import Case, encode
from .check import check
from .draw import Palette, draw
from .shapes import Pool, pool_for
from .types import MULTIPLIED

GPU_CHANGES, GPU_LENGTHS = 24, 16  # sizes of each type that are drawn for a GPU, whose programs depend on them


class Task(msgspec.Struct, frozen=True):
    """What a child is to do: the cases of some seeds, or one case that is given."""

    device: str
    first: int = 0
    step: int = 1
    count: int = 0
    kinds: tuple[str, ...] = ("host", "device")
    few: bool = False
    types: tuple[str, ...] = MULTIPLIED
    most_work: int = 2**27
    as_gpu: bool = False
    calls: str = ""  # "module:function" that makes the bench of this task: for tests of the fuzzer itself
    case: Case | None = None

    @property
    def seeds(self) -> range:
        return range(self.first, self.first + self.step * self.count, self.step)


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The child has opened its device."""

    device: str
    driver: str
    version: str
    kind: str


class Begun(msgspec.Struct, frozen=True, tag=True):
    """A case is about to run."""

    seed: int
    case: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """What came of it."""

    seed: int
    call: str
    place: str
    verdict: str
    reason: str
    seconds: float
    programs: int


Line = Ready | Begun | Done


def palette_of(task: Task, bench: Bench) -> Palette:
    """What the task's cases are drawn from."""

    pools: dict[tuple[str, bool], Pool] = {}

    def pool(dtype: str, moves: bool) -> Pool:
        key = dtype, moves
        if key not in pools:
            whole = pool_for(dtype, bench.info, moves)
            pools[key] = whole if bench.info.kind == "cpu" else whole.limited(GPU_CHANGES, GPU_LENGTHS)
        return pools[key]

    return Palette(pool, task.kinds, task.few, task.types, task.most_work)


def bench_of(task: Task) -> Bench:
    """The device that the task names, with the library's calls; or what a test puts in their place."""
    if not task.calls:
        return open_bench(task.device, task.as_gpu)
    module, function = task.calls.split(":")
    made = getattr(import_module(module), function)()
    assert isinstance(made, Bench)
    return made


def cases_of(task: Task, bench: Bench) -> Iterator[Case]:
    """The given case, or those of the seeds."""
    if task.case is not None:
        yield task.case
        return
    palette = palette_of(task, bench)
    for seed in task.seeds:
        yield draw(seed, palette)


def run(task: Task, answers: TextIO) -> None:
    """Do what the task says and write what came of it."""

    def say(line: Line) -> None:
        answers.write(msgspec.json.encode(line).decode() + "\n")
        answers.flush()

    if not task.calls:
        os.environ[DEVICE_VARIABLE] = task.device  # of calls that name none
    bench = bench_of(task)
    info = bench.info
    say(Ready(info.label, info.driver, info.version, info.kind))
    for case in cases_of(task, bench):
        say(Begun(case.seed, encode(case)))
        begin = perf_counter()
        outcome = check(case, bench)
        seconds = perf_counter() - begin
        say(Done(case.seed, case.call, case.place, outcome.verdict, outcome.reason[:2000], seconds, bench.programs))


def main() -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")  # of NumPy's casts, and of np.matrix
    task = msgspec.json.decode(sys.stdin.readline(), type=Task)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # whatever else prints must not end up between the lines
        run(task, answers)


if __name__ == "__main__":
    main()
