"""Measures the library against its baselines: verified, in interleaved rounds, with all that a caller waits for
(packing, enqueueing, waiting)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..core.defaults import LIBRARY_BACKENDS
from ..core.device import Peaks
from ..core.in_place import InPlaceTranspose
from ..core.problem import Copy, Gemm, Problem, offset_of, output_of
from ..core.records import Record, Row, RowStatus
from ..core.types import numpy_dtype
from ..dispatch.choice import plan_copy, plan_product
from ..dispatch.table_files import load_tables
from ..errors import InvalidInput, Unsupported
from ..kernels.peaks import CHAINS
from ..library.copies import copy, matrix_transpose
from ..library.engine import default_device
from ..library.prepared import prepare
from ..library.products import matmul
from ..runtime.cuda.counterparts import counterpart_of
from ..runtime.device import Device as AnyDevice
from ..runtime.environment import read_environment
from ..runtime.load import OtherLoad
from ..runtime.opencl.device import Device, open_device
from ..runtime.run import Times, Work
from ..runtime.telemetry import sampler_for
from .baselines import Measurement
from .baselines.blas import absent
from .cases import Case, CaseBuilder, judged, measure_cases, new_row, refused
from .measure import RepeatedCall, RunFailed, repeated
from .peaks import measured_peaks
from .progress import Announce, Estimate, silent
from .sets import default_sets, problems_of
from .sustained import as_samples, take_turns

OURS = "tilewright"


def by_columns(array: np.ndarray) -> np.ndarray:
    """The same elements with each matrix column by column in memory: of a stack, too, one matrix after the other."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


class LibraryWorkload:
    """One library call on host arrays, with a result array of its own as `out`.

    The default device is not named, as callers do not: on a CPU the library then calls NumPy for small products.
    """

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray], device: Device) -> None:
        wanted = output_of(problem)
        self.output = np.full(wanted.shape, 0, numpy_dtype(wanted.dtype))
        self._problem = problem
        self._queue = None if device.info == default_device().info else device.plain_queue
        self._arrays: list[Any] = [
            by_columns(arrays[each.name]) if each.order == "column" else arrays[each.name]
            for each in problem.operands
            if not each.written
        ]
        # Callers name the queue and the type only if they are not the usual ones.
        usual = problem.operation != "gemm" or self.output.dtype.name == problem.dtype
        named = {"dtype": None if usual else self.output.dtype, "queue": self._queue}
        self._options = {name: value for name, value in named.items() if value is not None}
        self._timer = RepeatedCall(self._call())
        if isinstance(problem, InPlaceTranspose):
            self.output[...] = arrays["matrix"]

    def run(self) -> Times:
        """The call's wall-clock time. The device's time is not measured separately."""
        return Times(0.0, self._timer.seconds())

    def _call(self) -> Callable[[], object]:
        """The whole call, with no more Python around it than around a baseline's."""
        if self._problem.operation == "gemm":
            return partial(matmul, *self._arrays, self.output, **self._options)
        if isinstance(self._problem, InPlaceTranspose):
            return partial(matrix_transpose, self.output, self.output, **self._options)
        call = copy if isinstance(self._problem, Copy) else matrix_transpose
        return partial(call, self._arrays[0][..., offset_of(self._problem) :], self.output, **self._options)

    def sustain(self, seconds: float) -> Work:
        return repeated(self, seconds)

    def host_call(self) -> str:
        """What the library calls instead of launches; "" if it launches kernels."""
        if self._problem.operation != "gemm":
            return ""
        a, b = self._arrays
        planned = prepare(a, b, self.output, **self._options)
        return next((plan.host_call for plan in planned.plans), "")


def run_benchmark(
    sets: Sequence[str] = (),
    dtype: str = "float32",
    device: str | Device | None = None,
    seconds: float = 2.0,
    watch: Callable[[Sequence[Row]], None] = lambda rows: None,
    backend: str = "opencl",
    precision: str = "",
    sustained: float | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    announce: Announce = silent,
    so_far: Callable[[Record], None] = lambda record: None,
) -> Record:
    """Measure the library against NumPy, or cuBLAS on NVIDIA GPUs, over sets of problems.

    `sets` are names of SETS, by default "quick" on CPUs, "squares" and "skinny" on GPUs; `seconds` is the time for one
    problem. A problem's rows are the baseline's, ours, our CUDA counterpart's with `backend` "both", and those of other
    installed libraries. Samples are taken in turn, so that the i-th samples of two rows are a pair. `watch` gets each
    problem's rows. `precision` is that of all products. With `sustained`, cases take turns of that many seconds back to
    back, and the record holds the device's clock and power.

    `announce` gets what is going on. If the benchmark ends early, `keep` gets the record of the problems until then. `so_far`
    gets the same after each problem.
    """
    if backend not in LIBRARY_BACKENDS:
        raise InvalidInput(f"backend={backend!r} is not one of {', '.join(LIBRARY_BACKENDS)}")
    opened = device if isinstance(device, Device) else open_device(device)
    sets = tuple(sets) or default_sets(opened.info.kind)
    problems = [asked(problem, precision) for name in sets for problem in problems_of(name, dtype)]
    counterparts = (counterpart_of(opened),) if backend == "both" else ()
    rows: list[Row] = []
    title = f"benchmark {'+'.join(sets)}" + (" sustained" if sustained and "sustained" not in sets else "")
    telemetry = sampler_for(opened.info).source if sustained else ""
    missing = absent() if opened.info.kind == "cpu" else ()

    load = OtherLoad()

    def record(name: str, peaks: Peaks | None) -> Record:
        environment = read_environment(opened.info, load.cores())
        return Record(name, dtype, environment, peaks, tuple(rows), telemetry=telemetry, absent=missing)

    try:
        estimate = Estimate(announce, "measuring problem", len(problems))
        for place, problem in enumerate(problems):
            estimate.done(place)
            measured = measure_problem(problem, opened, seconds, counterparts, sustained)
            rows += measured
            watch(measured)
            so_far(record(f"{title}, ended early", None))
        return record(title, measured_peaks(opened, dtype) if dtype in CHAINS.dtypes else None)
    except BaseException:  # a signal, too: keep what took minutes to measure
        if rows:
            keep(record(f"{title}, ended early", None))
        raise


def asked(problem: Problem, precision: str) -> Problem:
    """The problem, of a product in that precision."""
    return replace(problem, precision=precision) if precision and isinstance(problem, Gemm) else problem


def measure_problem(
    problem: Problem,
    device: Device,
    seconds: float,
    counterparts: Sequence[AnyDevice] = (),
    sustained: float | None = None,
) -> list[Row]:
    """Measure one problem: the baseline's row first, then the library's, then others. All are verified before they are timed.

    On CPU devices the baseline is NumPy, and a time is that of the whole call. On an NVIDIA GPU with PyTorch the baseline
    is cuBLAS. Both then run in bursts with their operands on the device, timed by the device's clock.
    """
    builder = CaseBuilder(device, problem.dtype, counterparts=counterparts)
    with ExitStack() as stack:
        baseline, *others = builder.baseline_cases(Measurement.LIBRARY, problem, stack)
        library_case = plan_case if baseline.row.backend == "cuda" else call_case
        cases = [
            baseline,
            library_case(builder, problem, device),
            *(plan_case(builder, problem, counterpart) for counterpart in counterparts),
            *others,
        ]
        if sustained:
            measure_sustained(cases, sustained, device)
        else:
            measure_cases(cases, seconds, True, lambda index, row: None)
    notes = (layout_letters(problem),) if isinstance(problem, Gemm) else ()
    return [replace(case.row, notes=notes) for case in cases]


def measure_sustained(cases: Sequence[Case], seconds: float, device: Device) -> None:
    """Give the cases that passed turns of at least `seconds`. Their rows get times, clock and power."""
    running = [case for case in cases if case.workload is not None]
    workloads = [each.workload for each in running if each.workload is not None]

    def failed(index: int, failure: RunFailed) -> None:
        running[index].row = replace(running[index].row, status=RowStatus.LAUNCH_FAILED, reason=str(failure))

    for case, turns in zip(
        running, take_turns(workloads, seconds, sampler_for(device.info), failed=failed), strict=True
    ):
        case.row = replace(case.row, samples=as_samples(turns), turns=turns)


def layout_letters(problem: Gemm) -> str:
    """The layout NN, NT, TN or TT."""
    return "".join("N" if order == "row" else "T" for order in (problem.a_order, problem.b_order))


def call_case(builder: CaseBuilder, problem: Problem, device: Device) -> Case:
    """The library's call on host arrays."""
    row = new_row(OURS, device.info.label, problem)
    reference = builder.reference(problem)
    workload = LibraryWorkload(problem, reference.arrays, device)
    try:
        workload.run()
    except Unsupported as refusal:
        return Case(refused(row, refusal))
    return judged(replace(row, lesson=workload.host_call()), workload, reference.judge(workload.output))


def plan_case(builder: CaseBuilder, problem: Problem, device: AnyDevice) -> Case:
    """The launches of the library's plan, with their operands on the device."""
    row = replace(new_row(OURS, device.info.label, problem), backend=device.backend)
    try:
        if problem.operation == "gemm":
            plan = plan_product(problem, device.info, load_tables())
        else:
            plan = plan_copy(problem, device.info)
    except Unsupported as refusal:
        return Case(refused(row, refusal))
    made = "; ".join((*(f"{step.kernel.name} ({step.config})" for step in plan.steps), *plan.notes))
    return builder.execution_case(replace(row, lesson=made), plan, device, bursts=True)
