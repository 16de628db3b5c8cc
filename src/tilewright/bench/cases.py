"""Who races: kernels and rival libraries, each planned, built and verified before it is timed; a failure becomes its row."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ..core.kernel import Kernel
from ..core.plan import Plan, plan_kernel
from ..core.problem import Gemm, Problem, Transpose, compulsory_bytes, random_arrays
from ..core.records import Role, Row, RowStatus, Samples
from ..errors import BuildFailed, LaunchFailed, NoDevice, ProcessFailed, TilewrightError, Unsupported
from ..kernels import find_kernel
from ..runtime.cuda.counterparts import without_counterpart
from ..runtime.device import Device
from ..runtime.opencl.device import open_device
from ..runtime.run import Execution
from ..runtime.verify import Reference, SampledReference, Verdict, reference_for, verify_execution
from .baselines import Baseline, Case, Measurement
from .baselines.registry import baselines_for
from .measure import BurstEntrant, CacheFlush, Entrant, KernelEntrant, RunFailed, race

Watcher = Callable[[int, Row], None]
HOST_PROGRAM = "rows/00_sequential[r-k-c]"  # the fastest of the six loop orders
HOST_FLOPS = 2**31  # beyond this the sequential host program is measured on some rows of C only


@dataclass
class Contender:
    """One line of the table in the making."""

    row: Row
    entrant: Entrant | None = None
    verdict: Verdict | None = None


class Arena:
    """Prepares contenders for one size: operands and references are made once and shared."""

    def __init__(
        self, device: Device, dtype: str, seed: int = 0, cold: bool = False, counterparts: Sequence[Device] = ()
    ) -> None:
        self.device = device
        self.counterparts = counterparts
        self.dtype = dtype
        self.seed = seed
        self.flush = CacheFlush(device) if cold else None
        self._references: dict[Problem, Reference | SampledReference] = {}

    def reference(self, problem: Problem) -> Reference | SampledReference:
        """The reference for a problem, shared by all memory orders of its operands."""
        plain = replace(problem, a_order="row", b_order="row", c_order="row") if isinstance(problem, Gemm) else problem
        if plain not in self._references:
            self._references[plain] = reference_for(plain, random_arrays(plain, self.seed))
        return self._references[plain]

    def enter(self, kernel: Kernel, problem: Problem, device: Device | None = None) -> Contender:
        """Plan, build and verify a kernel; what goes wrong becomes the row's status and reason."""
        own = device or self.device
        row = replace(new_row(kernel.name, kernel.lesson, problem, kernel.published), backend=own.backend)
        try:
            if own.backend == "cuda":
                without_counterpart(kernel)
            plan = plan_kernel(kernel, problem, own.info)
            return self.enter_execution(replace(row, notes=plan.notes), plan, own)
        except Unsupported as refusal:
            return Contender(refused(row, refusal))
        except BuildFailed as failure:
            return Contender(replace(row, status=RowStatus.BUILD_FAILED, reason=str(failure)))
        except LaunchFailed as failure:
            return Contender(replace(row, status=RowStatus.LAUNCH_FAILED, reason=str(failure)))

    def enter_execution(self, row: Row, plan: Plan, device: Device, bursts: bool = False) -> Contender:
        """A plan that is right races, single launches or bursts of them."""
        execution = Execution(plan, device)
        verdict = verify_execution(execution, self.reference(plan.problem))
        entrant = BurstEntrant(execution) if bursts else KernelEntrant(execution, self.flush)
        return judged(row, entrant, verdict)

    def enter_baselines(self, measurement: Measurement, problem: Problem, stack: ExitStack) -> list[Contender]:
        """The other libraries that are here and meant for the problem, verified like our own; `stack` closes them."""
        reference = self.reference(problem)
        chosen = baselines_for(measurement, problem, self.device, *self.counterparts)
        return [self._enter_baseline(each, case, reference, stack) for each, case in chosen]

    def _enter_baseline(
        self, baseline: Baseline, case: Case, reference: Reference | SampledReference, stack: ExitStack
    ) -> Contender:
        operation = case.problem.operation
        suffix = f" {operation}" if case.measurement is Measurement.LADDER and operation != "gemm" else ""
        row = new_row(baseline.name + suffix, "", case.problem)
        row = replace(row, role=Role.BASELINE, backend=baseline.backend)
        try:
            rival = baseline.make(case, reference.arrays)
            stack.callback(rival.close)
            rival.run()
            verdict = reference.judge(rival.result())
        except Unsupported as refusal:
            return Contender(refused(row, refusal))
        except (ProcessFailed, LaunchFailed, OSError) as failure:
            return Contender(replace(row, status=RowStatus.LAUNCH_FAILED, reason=str(failure)))
        return judged(replace(row, lesson=rival.lesson), rival, verdict)

    def enter_host_program(self, problem: Gemm) -> Contender:
        """The sequential program on a CPU device, on as many rows of C as take a bearable time."""
        kernel = find_kernel(HOST_PROGRAM)
        rows = min(problem.m, max(1, HOST_FLOPS // max(2 * problem.n * problem.k, 1)))
        own = replace(problem, m=rows, a_order="row", b_order="row", c_order="row")
        try:
            device = self.device if self.device.info.kind == "cpu" else open_device("cpu")
        except (NoDevice, TilewrightError) as missing:
            row = replace(new_row("host program", kernel.lesson, own), role=Role.SEQUENTIAL)
            return Contender(refused(row, f"no CPU device: {missing}"))
        contender = self.enter(kernel, own, device)
        notes: tuple[str, ...] = (f"one work-item on {device.info.label}",)
        if rows < problem.m:
            notes += (f"measured on {rows} of {problem.m} rows of C",)
        contender.row = replace(contender.row, name="host program", role=Role.SEQUENTIAL, notes=notes)
        return contender


def refused(row: Row, reason: object) -> Row:
    """The row of what cannot be done, with the sentence that says why."""
    return replace(row, status=RowStatus.REFUSED, reason=str(reason))


def judged(row: Row, entrant: Entrant, verdict: Verdict) -> Contender:
    """A contender that races if its result was right; otherwise its row says what was wrong."""
    if not verdict.passed:
        return Contender(replace(row, status=RowStatus.WRONG, reason=verdict.reason), None, verdict)
    return Contender(replace(row, worst_ratio=verdict.worst_ratio), entrant, verdict)


def new_row(name: str, lesson: str, problem: Problem, published: tuple[tuple[str, float], ...] = ()) -> Row:
    size: tuple[int, ...] = (problem.m, problem.n, problem.k) if isinstance(problem, Gemm) else ()
    if isinstance(problem, Transpose):
        size = (problem.rows, problem.columns)
    return Row(name, lesson, problem.title, size, problem.flops, compulsory_bytes(problem), published=published)


def race_contenders(contenders: Sequence[Contender], seconds: float, warm: bool, watch: Watcher) -> None:
    """Measure the contenders that passed, updating their rows as samples come in."""
    places = [index for index, contender in enumerate(contenders) if contender.entrant is not None]

    def progress(turn: int, samples: Samples) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, samples=samples)
        watch(places[turn], contender.row)

    def failed(turn: int, failure: RunFailed) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, status=RowStatus.LAUNCH_FAILED, reason=str(failure))
        watch(places[turn], contender.row)

    entrants = [contender.entrant for contender in contenders if contender.entrant is not None]
    race(entrants, seconds, warm=warm, progress=progress, failed=failed)
