"""Runs ladders and single kernels: plan, verify, then measure in interleaved rounds, baselines included."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from ..analysis.diagnosis import diagnosed
from ..core.kernel import Kernel, Ladder
from ..core.problem import Gemm, Problem
from ..core.problems import check_memory, make_problem
from ..core.records import Record, Row
from ..core.sizes import Sides, Size, Sizes, as_sizes
from ..core.types import element_type
from ..kernels import find_ladder, select
from ..kernels.peaks import CHAINS
from ..kernels.settings import KernelName, Settings, chosen_kernel
from ..runtime.cuda.counterparts import open_backends
from ..runtime.device import Device
from ..runtime.environment import read_environment
from ..runtime.verify import Verdict
from .baselines import Measurement
from .cases import HOST_PROGRAM, Case, CaseBuilder, Watcher, measure_cases
from .peaks import measured_peaks
from .trial import TIME_BUDGET_S, tried_case

DEFAULT_SIZES = {("gemm", "cpu"): 512, ("gemm", "gpu"): 4096, ("transpose", "cpu"): 2048, ("transpose", "gpu"): 4096}


def peak_dtype(dtype: str) -> str:
    """The type whose peak limits `dtype`: its own, or that of its accumulator."""
    return dtype if dtype in CHAINS.dtypes else element_type(dtype).accumulator


def default_size(ladder: Ladder, device_kind: str) -> int:
    """The square size of a default run: large enough to tell rungs apart, small enough to end within a minute."""
    operation = "gemm" if ladder.kernels[0].operation == "gemm" else "transpose"
    return DEFAULT_SIZES[operation, "gpu" if device_kind == "gpu" else "cpu"]


def run_ladder(
    name: str | Ladder,
    device: str | Device | None = None,
    sizes: Sizes = (),
    dtype: str | None = None,
    rungs: Sequence[str] = (),
    seconds: float = 8.0,
    flush_cache: bool = False,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
) -> Record:
    """Verify and measure every rung of a ladder on a device, interleaved with NumPy and the sequential host program.

    `sizes` are (n,), (m, n, k) or (rows, columns); the default depends on the device. `dtype` is the ladder's usual one if
    left out. `seconds` is the time for measuring one size, without building and verifying. `flush_cache` empties the
    caches before each run. `watch` gets a row's index and the row whenever it changes. A failure is a row with a status
    and a reason. `backend` is "opencl", "cuda" or "both"; with "both" each rung has a row for each, on the same GPU.
    """
    ladder = find_ladder(name) if isinstance(name, str) else name
    dtype = dtype or ladder.usual_dtype
    opened, *counterparts = open_backends(backend, device)
    chosen = select(ladder, tuple(rungs))
    sizes = as_sizes(sizes) or [(default_size(ladder, opened.info.kind),)]
    for size in sizes:
        for kernel in chosen:
            check_memory(make_problem(kernel, size, dtype), opened.info)
    # Once now and once at the end. The higher is kept, because other load can only lower a peak.
    measured_peaks(opened, peak_dtype(dtype))
    rows: list[Row] = []
    for size in sizes:
        problems = [make_problem(kernel, size, dtype) for kernel in chosen]
        builder = CaseBuilder(opened, dtype, flush_cache=flush_cache, counterparts=counterparts)
        entries = list(zip(chosen, problems, strict=True))
        rows += _measure_one_size(builder, entries, seconds, baselines, _shifted(watch, len(rows)))
    return make_record(f"ladder {ladder.name}", opened, dtype, rows, counterparts)


def _shifted(watch: Watcher, start: int) -> Watcher:
    return lambda index, row: watch(start + index, row)


def _measure_one_size(
    builder: CaseBuilder, entries: Sequence[tuple[Kernel, Problem]], seconds: float, baselines: bool, watch: Watcher
) -> list[Row]:
    with ExitStack() as stack:
        cases: list[Case] = []

        def add(case: Case) -> None:
            cases.append(case)
            watch(len(cases) - 1, case.row)

        if baselines:
            for problem in dict.fromkeys(builder.reference(problem).problem for _, problem in entries):
                for case in builder.baseline_cases(Measurement.LADDER, problem, stack):
                    add(case)
            if isinstance(problem, Gemm) and not any(kernel.name == HOST_PROGRAM for kernel, _ in entries):
                add(builder.host_program_case(problem))
        for kernel, problem in entries:
            for device in (builder.device, *builder.counterparts):
                add(builder.kernel_case(kernel, problem, device))
        measure_cases(cases, seconds, builder.flush is None, watch)
        return [case.row for case in cases]


def run_kernel(
    kernel: KernelName,
    size: Size,
    device: str | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 3.0,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
    time_budget: float = TIME_BUDGET_S,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
) -> tuple[Record, Verdict | None]:
    """Verify and measure one kernel and NumPy: the record, and the verdict with ten sample elements.

    `settings` change fields of a rung's configuration or macros of a file. `dtype` is the kernel's usual one if left out.

    A user's kernel, and a rung with other settings, is first tried in a child process for at most `time_budget` seconds.
    If it hangs or crashes there, its row says so.

    With `backend` "both" the verdict is the first that did not pass, or the last. The row of a kernel that was wrong or
    failed holds what `explain` finds in it at a small size.
    """
    chosen = chosen_kernel(kernel, settings, global_size, local_size)
    dtype = chosen.usual_dtype if dtype is None else dtype
    opened, *counterparts = open_backends(backend, device)
    problem = make_problem(chosen, size, dtype, offset)
    check_memory(problem, opened.info)
    builder = CaseBuilder(opened, dtype, counterparts=counterparts)
    with ExitStack() as stack:
        plain = builder.reference(problem).problem
        cases = builder.baseline_cases(Measurement.LADDER, plain, stack) if baselines else []
        own = [tried_case(builder, chosen, problem, each, time_budget) for each in (opened, *counterparts)]
        cases += own
        for index, case in enumerate(cases):
            watch(index, case.row)
        measure_cases(cases, seconds, True, watch)
    for case, each in zip(own, (opened, *counterparts), strict=True):
        case.row = diagnosed(case.row, chosen, problem, each.info)
    rows = [case.row for case in cases]
    verdict = next((each.verdict for each in own if not each.row.passed), own[-1].verdict)
    return make_record(f"kernel {chosen.name}", opened, dtype, rows, counterparts), verdict


def make_record(
    title: str, device: Device, dtype: str, rows: Sequence[Row], counterparts: Sequence[Device] = ()
) -> Record:
    """The record of what was measured on a device and on its `counterparts`, with the versions of all drivers."""
    environment = read_environment(device.info)
    versions = {each.info.platform: f"{each.info.driver}, {each.info.version}" for each in counterparts}
    environment = replace(environment, versions=environment.versions | versions)
    return Record(title, dtype, environment, measured_peaks(device, peak_dtype(dtype)), tuple(rows))
