"""Prepares benchmark cases: kernels and baselines, planned, built and verified before they are timed. A failure becomes a row."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter

from ..core.kernel import Kernel, notes_on
from ..core.own_problem import own_problem_of
from ..core.plan import Plan, plan_kernel
from ..core.problem import Gemm, Problem, Transpose, compulsory_bytes, constant_arrays, random_arrays
from ..core.records import Role, Row, RowStatus, Samples
from ..errors import BuildFailed, LaunchFailed, MissingFeature, ProcessFailed, TilewrightError, Unsupported
from ..kernels import find_kernel
from ..runtime.cuda.counterparts import without_counterpart
from ..runtime.device import Device
from ..runtime.opencl.device import open_device
from ..runtime.run import Execution
from ..runtime.verify import Reference, SampledReference, Verdict, reference_for, verify_execution
from .baselines import Baseline, Measurement, Request
from .baselines.registry import baselines_for
from .measure import ROUNDS, BurstWorkload, CacheFlush, LaunchWorkload, RunFailed, Workload, measure_interleaved
from .own_check import expected_of, verify_own
from .progress import Announce, Phase, silent

Watcher = Callable[[int, Row], None]
HOST_PROGRAM = "rows/00_sequential[r-k-c]"  # the fastest of the six loop orders
HOST_FLOPS = 2**31  # beyond this the sequential host program is measured on some rows of C only


@dataclass
class Case:
    """One row of the table, and the workload to measure for it; None if it failed."""

    row: Row
    workload: Workload | None = None
    verdict: Verdict | None = None


class CaseBuilder:
    """Prepares the cases of one size. They share operands and references."""

    def __init__(
        self, device: Device, dtype: str, seed: int = 0, flush_cache: bool = False, counterparts: Sequence[Device] = (),
        fence_bytes: int = 0, fill: Sequence[float] = (),
    ) -> None:  # fmt: skip
        self.device = device
        self.counterparts = counterparts
        self.dtype = dtype
        self.seed = seed
        self.fence_bytes = fence_bytes
        self.fill = tuple(fill)
        self.flush = CacheFlush(device) if flush_cache else None
        self._references: dict[Problem, Reference | SampledReference] = {}

    def reference(self, problem: Problem) -> Reference | SampledReference:
        """The reference for a problem, shared by all memory orders of its operands."""
        plain = replace(problem, a_order="row", b_order="row", c_order="row") if isinstance(problem, Gemm) else problem
        if plain not in self._references:
            arrays = constant_arrays(plain, self.fill) if self.fill else random_arrays(plain, self.seed)
            self._references[plain] = reference_for(plain, arrays)
        return self._references[plain]

    def kernel_case(self, kernel: Kernel, problem: Problem, device: Device | None = None) -> Case:
        """Plan, build and verify a kernel. A failure becomes the row's status and reason."""
        own = device or self.device
        row = replace(new_row(kernel.name, kernel.lesson, problem, kernel.published), backend=own.backend)
        try:
            if own.backend == "cuda":
                without_counterpart(kernel)
            plan = plan_kernel(kernel, problem, own.info)
            return self.execution_case(replace(row, notes=(*plan.notes, *notes_on(kernel))), plan, own)
        except Unsupported as refusal:
            return Case(refused(row, refusal))
        except BuildFailed as failure:
            return Case(replace(row, status=RowStatus.BUILD_FAILED, reason=str(failure)))
        except LaunchFailed as failure:
            return Case(replace(row, status=RowStatus.LAUNCH_FAILED, reason=str(failure)))

    def execution_case(self, row: Row, plan: Plan, device: Device, bursts: bool = False) -> Case:
        """Verify a plan. If it is right, it is measured by single launches or by bursts of them."""
        execution = Execution(plan, device, fence_bytes=self.fence_bytes)
        own = own_problem_of(plan.problem)
        if own is not None:
            verdict = verify_own(execution, own, expected_of(plan, own))
            row = replace(row, notes=(*row.notes, verdict.words)) if verdict.words else row
            return judged(row, LaunchWorkload(execution, self.flush), verdict)
        verdict = verify_execution(execution, self.reference(plan.problem))
        workload = BurstWorkload(execution) if bursts else LaunchWorkload(execution, self.flush)
        return judged(row, workload, verdict)

    def baseline_cases(
        self, measurement: Measurement, problem: Problem, stack: ExitStack, without: str = ""
    ) -> list[Case]:
        """The installed libraries that can solve the problem, verified as our kernels are. `stack` closes them. Those whose
        names begin with `without` are left out."""
        reference = self.reference(problem)
        chosen = baselines_for(measurement, problem, self.device, *self.counterparts)
        return [
            self._baseline_case(each, request, reference, stack)
            for each, request in chosen
            if not (without and each.name.startswith(without))
        ]

    def _baseline_case(
        self, baseline: Baseline, request: Request, reference: Reference | SampledReference, stack: ExitStack
    ) -> Case:
        operation = request.problem.operation
        suffix = f" {operation}" if request.measurement is Measurement.LADDER and operation != "gemm" else ""
        row = new_row(baseline.name + suffix, "", request.problem)
        row = replace(row, role=Role.BASELINE, backend=baseline.backend)
        try:
            ready = baseline.make(request, reference.arrays)
            stack.callback(ready.close)
            ready.run()
            verdict = reference.judge(ready.result())
        except Unsupported as refusal:
            return Case(refused(row, refusal))
        except (ProcessFailed, LaunchFailed, OSError) as failure:
            return Case(replace(row, status=RowStatus.LAUNCH_FAILED, reason=str(failure)))
        return judged(replace(row, lesson=ready.lesson), ready, verdict)

    def host_program_case(self, problem: Gemm) -> Case:
        """The sequential program on a CPU device. Large problems are measured on some rows of C only."""
        kernel = find_kernel(HOST_PROGRAM)
        rows = min(problem.m, max(1, HOST_FLOPS // max(2 * problem.n * problem.k, 1)))
        own = replace(problem, m=rows, a_order="row", b_order="row", c_order="row")
        try:
            device = self.device if self.device.info.kind == "cpu" else open_device("cpu")
        except TilewrightError as missing:
            row = replace(new_row("host program", kernel.lesson, own), role=Role.SEQUENTIAL)
            return Case(replace(row, status=RowStatus.NOT_HERE, reason=f"no CPU device: {missing}"))
        case = self.kernel_case(kernel, own, device)
        notes: tuple[str, ...] = (f"one work-item on {device.info.label}",)
        if rows < problem.m:
            notes += (f"measured on {rows} of {problem.m} rows of C",)
        case.row = replace(case.row, name="host program", role=Role.SEQUENTIAL, notes=notes)
        return case


def refused(row: Row, reason: Unsupported) -> Row:
    """The row of a case that was refused, with the reason."""
    missing = isinstance(reason, MissingFeature)
    return replace(row, status=RowStatus.NOT_HERE if missing else RowStatus.REFUSED, reason=str(reason))


def judged(row: Row, workload: Workload, verdict: Verdict) -> Case:
    """A case that is measured if its result was right. Otherwise its row says what was wrong."""
    if not verdict.passed:
        return Case(replace(row, status=RowStatus.WRONG, reason=verdict.reason), None, verdict)
    return Case(replace(row, worst_ratio=verdict.worst_ratio), workload, verdict)


def new_row(name: str, lesson: str, problem: Problem, published: tuple[tuple[str, float], ...] = ()) -> Row:
    size: tuple[int, ...] = (problem.m, problem.n, problem.k) if isinstance(problem, Gemm) else ()
    if isinstance(problem, Transpose):
        size = (problem.rows, problem.columns)
    return Row(name, lesson, problem.title, size, problem.flops, compulsory_bytes(problem), published=published)


def measure_cases(
    cases: Sequence[Case], seconds: float, warm: bool, watch: Watcher, announce: Announce = silent, after: float = 0.0
) -> None:
    """Measure the cases that passed, updating their rows as samples come in. `after` are the seconds of what follows."""
    places = [index for index, case in enumerate(cases) if case.workload is not None]
    begin = perf_counter()

    def progress(turn: int, samples: Samples) -> None:
        case = cases[places[turn]]
        case.row = replace(case.row, samples=samples)
        watch(places[turn], case.row)
        passed, runs = perf_counter() - begin, sum(len(cases[place].row.samples.wall) for place in places)
        by_rounds = passed / runs * (ROUNDS * len(places) - runs)
        announce(Phase("measuring", seconds_left=max(0.0, min(seconds - passed, by_rounds)) + after))

    def failed(turn: int, failure: RunFailed) -> None:
        case = cases[places[turn]]
        case.row = replace(case.row, status=RowStatus.LAUNCH_FAILED, reason=str(failure))
        watch(places[turn], case.row)

    workloads = [case.workload for case in cases if case.workload is not None]
    measure_interleaved(workloads, seconds, warm=warm, progress=progress, failed=failed)
