"""What is measured on a device: `ladder`, `run`, `bench` and `accuracy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Unpack

from ..core.checked import (
    check_functions,
    check_object,
    checked_names,
    checked_numbers,
    checked_seconds,
    checked_switch,
)
from ..core.defaults import TRIAL_S
from ..core.kernel import Ladder
from ..core.launch_options import LaunchOptions
from ..core.records import Row
from ..core.shown import Shown
from ..core.sizes import Sides, Size, Sizes, as_size
from ..errors import InvalidInput
from ..kernels.settings import KernelName, Settings
from ..measurement.accuracy import AccuracyRecord, ErrorRow, measure_accuracy
from ..measurement.cases import Watcher
from ..measurement.ladders import run_kernel, run_ladder
from ..measurement.library import run_benchmark
from ..measurement.progress import Announce
from ..reports import errors_table
from ..reports.shown import as_html, as_text
from ..runtime.device import Device as AnyDevice
from ..runtime.device import opened_or_name
from ..runtime.opencl.device import Device
from ..runtime.verify import Verdict
from .progress import progress_line
from .records import Record, shown_record


def ladder(
    name: str | Ladder,
    sizes: Sizes = (),
    *,
    device: str | int | AnyDevice | None = None,
    dtype: str | None = None,
    rungs: str | Sequence[str] = (),
    seconds: float = 8.0,
    flush_cache: bool = False,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    so_far: Callable[[Record], None] = lambda record: None,
    published: bool = False,
) -> Record:
    """Verify and measure every rung of a ladder, interleaved with NumPy, other libraries and the sequential host program.

    Arguments:
        name: "rows", "tiles", "transpose", "cpu" or "tensor".
        sizes: 512, "512x256x128", (m, n, k) in a list, or a list of sizes; by default one size that suits the device.
        device: an index, "cpu", "gpu", part of a name, or an opened device.
        dtype: the element type; the ladder's usual one if left out.
        rungs: only these, such as "tiles/2"; "tiles/7[published]" for a kernel as it was published.
        seconds: the time for measuring one size, without building and verifying.
        flush_cache: empty the caches before each run.
        baselines: measure the other libraries, too.
        watch: gets a row's index and the row whenever it changes.
        backend: "opencl", "cuda" or "both"; with "both" each rung has a row for each, on the same GPU.
        announce: gets what is going on and the time left. Without it a notebook shows that in one line.
        keep: gets the record of what was measured until then if the call ends early.
        so_far: gets the record of what was measured until then after each size.
        published: measure the sources' kernels as they were published, too.

    A rung that fails is a row with a status and a reason. NoDevice without a device; UnknownName for a name that does not
    exist; InvalidInput for a size that the ladder cannot have or that does not fit in memory.
    """
    check_object("name", name, (str, Ladder), "the name of a ladder, such as rows, or a Ladder")
    check_functions(watch=watch, announce=announce, keep=keep, so_far=so_far)
    wanted = checked_names("rungs", rungs, "tiles/2")
    with progress_line(f"ladder {name if isinstance(name, str) else name.name}") as line:
        record = run_ladder(
            name,
            opened_or_name(device),
            sizes,
            dtype,
            wanted,
            checked_seconds("seconds", seconds),
            checked_switch("flush_cache", flush_cache),
            checked_switch("baselines", baselines),
            watch,
            backend,
            announce or line,
            lambda early: keep(shown_record(early)),
            lambda early: so_far(shown_record(early)),
            checked_switch("published", published),
        )
    return shown_record(record)


class Run(NamedTuple):
    """One kernel, measured: the record, and the verdict with ten sample elements (None if it did not run)."""

    record: Record
    verdict: Verdict | None

    def __str__(self) -> str:
        return f"{self.record}\n{self.verdict}" if self.verdict is not None else str(self.record)

    def __repr__(self) -> str:
        return repr(self.record)

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


def run(
    kernel: KernelName,
    size: Size = 512,
    *,
    device: str | int | AnyDevice | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 3.0,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
    time_budget: float = TRIAL_S,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    fill: Sequence[float] = (),
    **own: Unpack[LaunchOptions],
) -> Run:
    """Verify and measure one kernel and NumPy: the record, and the verdict with ten sample elements.

    Arguments:
        kernel: a rung's name, a `.cl` file with its `global_size` and `local_size`, or a Kernel.
        size: 512, "512x256x128", (m, n, k) or (rows, columns).
        offset: the columns that a transpose or copy leaves out.
        time_budget: seconds for the trial of a user's kernel, and of a rung with other settings, in a child process. If it
            hangs or crashes there, its row says so.
        settings: fields of a rung's configuration, or macros of a file.
        global_size, local_size: those of a file, in work-items: "M,N" and "16,16".
        fill: the number that each input holds, such as (2, 3), instead of random ones. Constants hide a transposed index.
        own: what the arguments of a file get: entry, arguments, bind, init, expect ... (`LaunchOptions`). A kernel that is no
            gemm, transpose or copy is compared with the values of explain's interpreter.

    The other arguments are those of `ladder`. With `backend` "both" the verdict is the first that did not pass, or the
    last. The row of a kernel that was wrong or failed holds what `explain` finds in it at a small size.

    NoDevice without a device; UnknownName for a rung or setting that does not exist; InvalidInput for a size, a file or
    settings that cannot be used.
    """
    check_functions(watch=watch, announce=announce, keep=keep)
    seconds, time_budget = checked_seconds("seconds", seconds), checked_seconds("time_budget", time_budget)
    baselines, fill, size = checked_switch("baselines", baselines), checked_numbers("fill", fill), as_size(size)
    with progress_line("run") as line:
        record, verdict = run_kernel(
            kernel, size, opened_or_name(device), dtype, offset, seconds, baselines, watch, backend,
            time_budget, settings, global_size, local_size, announce or line, lambda early: keep(shown_record(early)),
            fill, **own,
        )  # fmt: skip
    return Run(shown_record(record), verdict)


def bench(
    sets: str | Sequence[str] = (),
    dtype: str = "float32",
    *,
    device: str | int | Device | None = None,
    seconds: float = 2.0,
    precision: str = "",
    sustained: float | None = None,
    watch: Callable[[Sequence[Row]], None] = lambda rows: None,
    keep: Callable[[Record], None] = lambda record: None,
    backend: str = "opencl",
    announce: Announce | None = None,
    so_far: Callable[[Record], None] = lambda record: None,
) -> Record:
    """Measure the library against NumPy, or cuBLAS on NVIDIA GPUs, over sets of problems.

    Arguments:
        sets: names of sets, in a list or with commas between them; `tilewright bench --help` lists them. By default
            "quick" on CPUs, "squares" and "skinny" on GPUs.
        dtype: the element type of the operands.
        device: an index, "cpu", "gpu", part of a name, or an opened device.
        seconds: the time for one problem.
        precision: that of all products, such as "tf32"; the type's own arithmetic if left out.
        sustained: turns of that many seconds back to back. The record then holds the device's clock and power.
        watch: gets each problem's rows: the baseline's, the library's, its CUDA counterpart's with `backend` "both", and
            those of other libraries.
        keep: gets the record of the problems until then if the benchmark ends early.
        backend: "opencl", or "both" to measure the library's CUDA kernels on the same GPU, too.
        announce: gets what is going on and the time left. Without it a notebook shows that in one line.
        so_far: gets the record of the problems until then after each problem.

    The i-th samples of two rows of a problem were taken in turn: they are a pair. NoDevice without a device; UnknownName
    for a set or type that does not exist; InvalidInput for a backend or a precision that there is not.
    """
    check_functions(watch=watch, announce=announce, keep=keep, so_far=so_far)
    seconds = checked_seconds("seconds", seconds)
    check_object("precision", precision, str, "a name, such as tf32, or leave it out")
    sustained = None if sustained is None else checked_seconds("sustained", sustained)
    names = [each for text in checked_names("sets", sets, "quick") for each in text.split(",")]
    with progress_line("bench") as line:
        record = run_benchmark(
            names, dtype, opened_or_name(device), seconds, watch, backend,
            precision, sustained, lambda early: keep(shown_record(early)), announce or line,
            lambda early: so_far(shown_record(early)),
        )  # fmt: skip
    return shown_record(record)


@dataclass(frozen=True, repr=False)
class Accuracy(Shown, AccuracyRecord):
    """The errors of each precision on each kind of data, for products of `size` (m, n, k)."""

    def __str__(self) -> str:
        return as_text(errors_table.markdown(self))

    def _repr_html_(self) -> str:
        return as_html(errors_table.markdown(self))

    def one_line(self) -> str:
        size = "x".join(map(str, self.size))
        return f"{len(self.rows)} errors of {self.dtype} products {size}, on {self.environment.device.label}"

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {"data": row.data, "mode": row.mode, "by": row.by, "largest_units": row.largest, "normwise": row.normwise}
            for row in self.rows
        ]


def accuracy(
    size: Size | None = None,
    dtype: str = "float32",
    *,
    device: str | int | Device | None = None,
    watch: Callable[[ErrorRow], None] = lambda row: None,
    announce: Announce | None = None,
    keep: Callable[[Accuracy], None] = lambda record: None,
    so_far: Callable[[Accuracy], None] = lambda record: None,
) -> Accuracy:
    """Multiply every kind of data in every precision of the device, and by cuBLAS or NumPy. Compare with float64.

    Arguments:
        size: (m, n, k), or "MxNxK"; by default 512, 512, 2048 on CPUs and 2048, 2048, 8192 on GPUs.
        dtype: float32 or one of the 8-bit floats; results are float32.
        watch: gets each row.
        announce: gets what is going on and the time left. Without it a notebook shows that in one line.
        keep: gets the record of the rows until then if the call ends early.
        so_far: gets the record of the rows until then after each kind of data.

    Errors of elements are relative to |A||B|, in units of 2^-24. InvalidInput for a size without three sides of at least 1.
    """
    sides = _three_sides(size) if size is not None else None
    check_functions(watch=watch, announce=announce, keep=keep, so_far=so_far)
    with progress_line("accuracy") as line:
        record = measure_accuracy(
            sides, opened_or_name(device), watch, dtype, announce or line, lambda early: keep(_shown_accuracy(early)),
            lambda early: so_far(_shown_accuracy(early)),
        )  # fmt: skip
    return _shown_accuracy(record)


def _three_sides(size: Size) -> tuple[int, int, int]:
    match as_size(size):
        case (m, n, k):
            return m, n, k
        case sides:
            raise InvalidInput(f"{'x'.join(map(str, sides))}: the error depends on 3 sizes; write MxNxK")


def _shown_accuracy(record: AccuracyRecord) -> Accuracy:
    return Accuracy(**{each.name: getattr(record, each.name) for each in fields(record)})
