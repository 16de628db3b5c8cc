"""Runs ladders and single kernels: plan, verify, then measure in interleaved rounds, baselines included."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Unpack

from ..analysis.arguments import ready_kernel
from ..analysis.diagnosis import diagnosed
from ..core.defaults import TRIAL_S, ladder_side
from ..core.device import DeviceInfo
from ..core.kernel import Kernel, Ladder
from ..core.launch_options import LaunchOptions
from ..core.own_problem import own_problem_of
from ..core.plan import plan_kernel
from ..core.problem import Gemm, Problem, constant_arrays
from ..core.problems import check_memory, host_bytes, make_problem
from ..core.records import Record, Row
from ..core.sizes import Sides, Size, Sizes, as_sizes
from ..errors import InvalidInput, Unsupported
from ..kernels import find_ladder, select
from ..kernels.settings import KernelName, Settings, chosen_kernel
from ..runtime.cuda.counterparts import open_backends
from ..runtime.device import Device
from ..runtime.verify import Verdict
from .baselines import Measurement
from .cases import HOST_PROGRAM, Case, CaseBuilder, Watcher, measure_cases
from .progress import Announce, Estimate, Phase, silent
from .session import Session
from .trial import tried_case

FILLED = "each input holds one number, so that a transposed index goes unnoticed: without --fill inputs are random"


def default_size(ladder: Ladder, device_kind: str) -> int:
    """The square size of a default run: large enough to tell rungs apart, small enough to end within a minute."""
    return ladder_side(ladder.kernels[0].operation, device_kind)


def check_ladder(
    ladder: Ladder,
    device: Device,
    sizes: Sizes = (),
    dtype: str | None = None,
    rungs: Sequence[str] = (),
    baselines: bool = True,
    published: bool = False,
) -> list[tuple[int, ...]]:
    """The sizes at which a ladder will be measured. An error for a rung, type or size that it cannot have, and for too little
    memory, before anything is allocated."""
    dtype = dtype or ladder.usual_dtype
    chosen = select(ladder, tuple(rungs), published)
    wanted = as_sizes(sizes) or [(default_size(ladder, device.info.kind),)]
    for size in wanted:
        problems = [make_problem(kernel, size, dtype) for kernel in chosen]
        for problem in problems:
            check_something(problem)
            check_memory(problem, device.info)
        check_together(problems, device.info, baselines)
    return wanted


def refusals(ladder: Ladder, device: Device, size: Sequence[int], dtype: str | None = None) -> dict[str, Unsupported]:
    """The rungs that this device refuses at a size, each with its reason. Nothing is built."""
    found: dict[str, Unsupported] = {}
    for kernel in ladder.kernels:
        try:
            plan_kernel(kernel, make_problem(kernel, size, dtype or ladder.usual_dtype), device.info)
        except Unsupported as refusal:
            found[kernel.name] = refusal
    return found


def check_something(problem: Problem) -> None:
    """InvalidInput for a problem without elements: there is nothing to measure."""
    if not all(each.elements for each in problem.operands):
        raise InvalidInput(f"{problem.title} is empty: there is nothing to measure, so every size must be at least 1")


def check_together(problems: Sequence[Problem], info: DeviceInfo, baselines: bool) -> None:
    """InvalidInput if the operands of all rungs exceed the memory: each rung keeps its own until the last round is over."""
    needed = sum(operand.nbytes for problem in problems for operand in problem.operands)
    on_host = max(sum(operand.nbytes for operand in problem.operands) for problem in problems)
    shared = info.kind == "cpu"  # a CPU device's memory is the host's
    most = (needed + on_host * (2 if baselines else 1)) if shared else needed
    there = min(filter(None, (info.global_bytes, host_bytes() if shared else 0)), default=0)
    if there and most > there:
        raise InvalidInput(
            f"{len(problems)} rungs of {problems[0].title} need {most:,} bytes together, and {info.label} has {there:,}: "
            f"ask for a smaller size, or for some rungs by --rung"
        )


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
    announce: Announce = silent,
    keep: Callable[[Record], None] = lambda record: None,
    so_far: Callable[[Record], None] = lambda record: None,
    published: bool = False,
) -> Record:
    """Verify and measure every rung of a ladder on a device, interleaved with NumPy and the sequential host program.

    `sizes` are (n,), (m, n, k) or (rows, columns); the default depends on the device. `dtype` is the ladder's usual one if
    left out. `seconds` is the time for measuring one size, without building and verifying. `flush_cache` empties the
    caches before each run. `watch` gets a row's index and the row whenever it changes, `announce` what is going on. A
    failure is a row with a status and a reason. `backend` is "opencl", "cuda" or "both"; with "both" each rung has a row for
    each, on the same GPU. If it ends early, `keep` gets the record of what was measured until then. `so_far` gets the same
    after each size. With `published` the sources' kernels as they were published are measured, too.
    """
    ladder = find_ladder(name) if isinstance(name, str) else name
    dtype = dtype or ladder.usual_dtype
    opened, *counterparts = open_backends(backend, device)
    chosen = select(ladder, tuple(rungs), published)
    wanted = check_ladder(ladder, opened, sizes, dtype, rungs, baselines, published)
    rows: dict[int, Row] = {}

    def seen(index: int, row: Row) -> None:
        rows[index] = row
        watch(index, row)

    with Session(f"ladder {ladder.name}", opened, dtype, counterparts, announce) as session:
        try:
            for place, size in enumerate(wanted):
                problems = [make_problem(kernel, size, dtype) for kernel in chosen]
                builder = CaseBuilder(opened, dtype, flush_cache=flush_cache, counterparts=counterparts)
                entries = list(zip(chosen, problems, strict=True))
                after = (len(wanted) - 1 - place) * seconds
                _measure_one_size(builder, entries, seconds, baselines, _shifted(seen, len(rows)), announce, after)
                session.keep(tuple(rows.values()), so_far)
            return session.record(tuple(rows.values()))
        except BaseException:  # a signal, too: keep what was measured
            session.keep(tuple(rows.values()), keep)
            raise


def _shifted(watch: Watcher, start: int) -> Watcher:
    return lambda index, row: watch(start + index, row)


def _measure_one_size(
    builder: CaseBuilder,
    entries: Sequence[tuple[Kernel, Problem]],
    seconds: float,
    baselines: bool,
    watch: Watcher,
    announce: Announce,
    after: float,
) -> None:
    """Measure the entries beside the baselines. `watch` gets each row whenever it changes; `after` are the seconds of the
    sizes that follow."""
    with ExitStack() as stack:
        cases: list[Case] = []

        def add(case: Case) -> None:
            cases.append(case)
            watch(len(cases) - 1, case.row)

        announce(Phase("computing the exact result"))
        if baselines:
            for problem in dict.fromkeys(builder.reference(problem).problem for _, problem in entries):
                for case in builder.baseline_cases(Measurement.LADDER, problem, stack):
                    add(case)
            if isinstance(problem, Gemm) and not any(kernel.name == HOST_PROGRAM for kernel, _ in entries):
                add(builder.host_program_case(problem))
        estimate = Estimate(announce, "building and verifying", len(entries), seconds + after)
        for place, (kernel, problem) in enumerate(entries):
            estimate.done(place, kernel.name)
            for device in (builder.device, *builder.counterparts):
                add(builder.kernel_case(kernel, problem, device))
        measure_cases(cases, seconds, builder.flush is None, watch, announce, after)


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
    time_budget: float = TRIAL_S,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce = silent,
    keep: Callable[[Record], None] = lambda record: None,
    fill: Sequence[float] = (),
    **own_arguments: Unpack[LaunchOptions],
) -> tuple[Record, Verdict | None]:
    """Verify and measure one kernel and NumPy: the record, and the verdict with ten sample elements.

    `settings` change fields of a rung's configuration or macros of a file. `dtype` is the kernel's usual one if left out.
    `own_arguments` are those of a file (`LaunchOptions`): without a reference, its result is compared with the interpreter's.

    A user's kernel, and a rung with other settings, is first tried in a child process for at most `time_budget` seconds.
    If it hangs or crashes there, its row says so. `watch`, `announce` and `keep` are those of `run_ladder`. With `fill` each
    input holds one number instead of random ones.

    With `backend` "both" the verdict is the first that did not pass, or the last. The row of a kernel that was wrong or
    failed holds what `explain` finds in it at a small size.
    """
    chosen = ready_kernel(
        chosen_kernel(kernel, settings, global_size, local_size, **own_arguments), size or None, dtype
    )
    dtype = chosen.usual_dtype if dtype is None else dtype
    opened, *counterparts = open_backends(backend, device)
    problem = _checked_problem(chosen, size, dtype, offset, opened.info, fill)
    builder = CaseBuilder(opened, dtype, counterparts=counterparts, fill=fill)
    devices = (opened, *counterparts)
    cases: list[Case] = []
    with Session(f"kernel {chosen.name}", opened, dtype, counterparts, announce) as session, ExitStack() as stack:
        try:
            announce(Phase("computing the exact result"))
            if own_problem_of(problem) is None:
                plain = builder.reference(problem).problem
                cases += builder.baseline_cases(Measurement.LADDER, plain, stack) if baselines else []
            announce(Phase("building and verifying", seconds_left=seconds))
            own = [tried_case(builder, chosen, problem, each, time_budget) for each in devices]
            cases += own
            for index, case in enumerate(cases):
                watch(index, case.row)
            measure_cases(cases, seconds, True, watch, announce)
        except BaseException:  # a signal, too: keep what was measured
            session.keep([case.row for case in cases], keep)
            raise
        for case, each in zip(own, devices, strict=True):
            row = diagnosed(case.row, chosen, problem, each.info)
            case.row = replace(row, notes=(*row.notes, FILLED)) if fill else row
        verdict = next((each.verdict for each in own if not each.row.passed), own[-1].verdict)
        return session.record([case.row for case in cases]), verdict


def _checked_problem(
    kernel: Kernel, size: Size, dtype: str, offset: int, info: DeviceInfo, fill: Sequence[float]
) -> Problem:
    """The problem to measure. InvalidInput, before anything is measured, if it is empty, too large or cannot be filled so."""
    problem = make_problem(kernel, size, dtype, offset)
    check_something(problem)
    check_memory(problem, info)
    if fill:
        constant_arrays(problem, fill)
    return problem
