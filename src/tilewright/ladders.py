"""Runs ladders and single kernels: plan, verify, then race all that are right, with the baselines among them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from .backend.cuda import Device as CudaDevice
from .backend.device import Device
from .backend.opencl import Device as OpenCLDevice
from .backend.opencl import open_device
from .backend.twins import open_backends, without_twin
from .ceilings import measured_peaks
from .dtypes import element_type
from .environment import read_environment
from .errors import BuildFailed, InvalidInput, LaunchFailed, NoDevice, ProcessFailed, TilewrightError, Unsupported
from .kernel import Kernel, Ladder
from .kernels import find_kernel, find_ladder, select
from .kernels.peaks import CHAINS
from .measure import BurstEntrant, CacheFlush, Entrant, KernelEntrant, race
from .plan import Plan, plan_kernel
from .problem import Arrays, Copy, Gemm, Problem, Transpose, compulsory_bytes, random_arrays
from .records import Record, Row, Samples
from .rivals import Rival
from .rivals.child import cublas_present, cublas_rival, numpy_rival
from .rivals.clblast import clblast_present, clblast_rival
from .rivals.cublas import cublas_by_ctypes, cublas_loads
from .run import Execution
from .verify import Reference, SampledReference, Verdict, reference_for, verify_execution

Watcher = Callable[[int, Row], None]
MakeRival = Callable[[Problem, Arrays], Rival]
HOST_PROGRAM = "rows/00_sequential[r-k-c]"  # the fastest of the six loop orders
NUMPY_FLOPS = 2**25  # beyond this NumPy takes minutes for what no BLAS multiplies: it multiplies halves one at a time
HOST_FLOPS = 2**31  # beyond this the sequential host program is measured on some rows of C only
DEFAULT_SIZES = {("gemm", "cpu"): 512, ("gemm", "gpu"): 4096, ("transpose", "cpu"): 2048, ("transpose", "gpu"): 4096}


def peak_dtype(dtype: str) -> str:
    """The type whose multiply-adds are a ceiling for `dtype`: its own, or the one that it is summed in."""
    return dtype if dtype in CHAINS.dtypes else element_type(dtype).accumulator


def default_size(ladder: Ladder, device_kind: str) -> int:
    """The square size of a default run: large enough to tell rungs apart, small enough to end within a minute."""
    operation = "gemm" if ladder.kernels[0].operation == "gemm" else "transpose"
    return DEFAULT_SIZES[operation, "gpu" if device_kind == "gpu" else "cpu"]


def make_problem(kernel: Kernel, size: Sequence[int], dtype: str, offset: int = 0) -> Problem:
    """The problem that `kernel` solves at `size`: (n,) for squares, (m, n, k) or (rows, columns)."""
    if kernel.operation == "gemm":
        m, n, k = size if len(size) == 3 else _square(size, 3)
        a_order, b_order, c_order = kernel.orders
        return Gemm(m, n, k, dtype, a_order, b_order, c_order)
    rows, columns = size if len(size) == 2 else _square(size, 2)
    return (Copy if kernel.operation == "copy" else Transpose)(rows, columns, dtype, offset)


def _square(size: Sequence[int], sides: int) -> tuple[int, ...]:
    if len(size) != 1:
        raise InvalidInput(f"a size has 1 or {sides} numbers here, got {'x'.join(map(str, size))}")
    return tuple(size) * sides


@dataclass
class Contender:
    """One line of the table in the making."""

    row: Row
    entrant: Entrant | None = None
    verdict: Verdict | None = None


class Arena:
    """Prepares contenders for one size: operands and references are made once and shared."""

    def __init__(
        self, device: Device, dtype: str, seed: int = 0, cold: bool = False, twins: Sequence[Device] = ()
    ) -> None:
        self.device = device
        self.twins = twins
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
                without_twin(kernel)
            plan = plan_kernel(kernel, problem, own.info)
            return self.enter_execution(replace(row, notes=plan.notes), plan, own)
        except Unsupported as refusal:
            return Contender(replace(row, status="refused", reason=str(refusal)))
        except BuildFailed as failure:
            return Contender(replace(row, status="build failed", reason=str(failure)))
        except LaunchFailed as failure:
            return Contender(replace(row, status="launch failed", reason=str(failure)))

    def enter_execution(self, row: Row, plan: Plan, device: Device, bursts: bool = False) -> Contender:
        """A plan that is right races, single launches or bursts of them."""
        execution = Execution(plan, device)
        verdict = verify_execution(execution, self.reference(plan.problem))
        entrant = BurstEntrant(execution) if bursts else KernelEntrant(execution, self.flush)
        return judged(row, entrant, verdict)

    def enter_rival(self, name: str, make: MakeRival, problem: Problem, stack: ExitStack) -> Contender:
        """Another library, verified like our own; `stack` closes it."""
        row = new_row(name, "", problem)
        reference = self.reference(problem)
        try:
            rival = make(problem, reference.arrays)
            stack.callback(rival.close)
            rival.run()
            verdict = reference.judge(rival.result())
        except Unsupported as refusal:
            return Contender(replace(row, status="refused", reason=str(refusal)))
        except (ProcessFailed, LaunchFailed, OSError) as failure:
            return Contender(replace(row, status="launch failed", reason=str(failure)))
        return judged(replace(row, lesson=rival.lesson), rival, verdict)

    def enter_rivals(self, problem: Problem, stack: ExitStack) -> list[Contender]:
        """NumPy, cuBLAS where there is an NVIDIA device, and CLBlast: those whose libraries are here.

        cuBLAS is called from a twin's CUDA where one is open, otherwise by PyTorch.
        """
        plain = self.reference(problem).problem
        suffix = "" if problem.operation == "gemm" else f" {problem.operation}"
        makers: list[tuple[str, MakeRival]] = [("NumPy", numpy_rival)]
        cuda = next((each for each in (self.device, *self.twins) if isinstance(each, CudaDevice)), None)
        if cuda is not None and cublas_loads():
            makers.append(("cuBLAS", partial(cublas_by_ctypes, cuda)))
        elif "nvidia" in self.device.info.features and cublas_present():
            makers.append(("cuBLAS" if problem.operation == "gemm" else "PyTorch", cublas_rival))
        if isinstance(self.device, OpenCLDevice) and clblast_present():
            makers.append(("CLBlast", partial(clblast_rival, self.device)))
        if element_type(problem.dtype).itemsize < 4 and problem.flops > NUMPY_FLOPS:
            makers.pop(0)
        return [self.enter_rival(name + suffix, make, plain, stack) for name, make in makers]

    def enter_host_program(self, problem: Gemm) -> Contender:
        """The sequential program on a CPU device, on as many rows of C as take a bearable time."""
        kernel = find_kernel(HOST_PROGRAM)
        rows = min(problem.m, max(1, HOST_FLOPS // max(2 * problem.n * problem.k, 1)))
        own = replace(problem, m=rows, a_order="row", b_order="row", c_order="row")
        try:
            device = self.device if self.device.info.kind == "cpu" else open_device("cpu")
        except (NoDevice, TilewrightError) as missing:
            row = new_row("host program", kernel.lesson, own)
            return Contender(replace(row, status="refused", reason=f"no CPU device: {missing}"))
        contender = self.enter(kernel, own, device)
        notes: tuple[str, ...] = (f"one work-item on {device.info.label}",)
        if rows < problem.m:
            notes += (f"measured on {rows} of {problem.m} rows of C",)
        contender.row = replace(contender.row, name="host program", notes=notes)
        return contender


def judged(row: Row, entrant: Entrant, verdict: Verdict) -> Contender:
    """A contender that races if its result was right; otherwise its row says what was wrong."""
    if not verdict.passed:
        return Contender(replace(row, status="wrong", reason=verdict.reason), None, verdict)
    return Contender(replace(row, worst_ratio=verdict.worst_ratio), entrant, verdict)


def new_row(name: str, lesson: str, problem: Problem, published: tuple[tuple[str, float], ...] = ()) -> Row:
    size: tuple[int, ...] = (problem.m, problem.n, problem.k) if isinstance(problem, Gemm) else ()
    if isinstance(problem, Transpose):
        size = (problem.rows, problem.columns)
    return Row(name, lesson, problem.title, size, problem.flops, compulsory_bytes(problem), published=published)


def run_ladder(
    name: str | Ladder,
    device: str | Device | None = None,
    sizes: Sequence[Sequence[int]] = (),
    dtype: str | None = None,
    rungs: Sequence[str] = (),
    seconds: float = 8.0,
    cold: bool = False,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
) -> Record:
    """Verify and measure every rung of a ladder on a device, interleaved with NumPy and the sequential host program.

    `sizes` are (n,), (m, n, k) or (rows, columns); the default depends on the device. Without a `dtype` it is what the
    ladder is usually measured in. `seconds` is the time for
    measuring one size, beside building and verifying. `cold` empties the caches before each run. `watch` is called with
    a row's index and its present state whenever it changes. Failures are rows with a status and a reason. `backend` is
    "opencl", "cuda", or "both": then each rung has a row by either, in turn, on the same GPU.
    """
    ladder = find_ladder(name) if isinstance(name, str) else name
    dtype = dtype or ladder.usual_dtype
    opened, *twins = open_backends(backend, device)
    chosen = select(ladder, tuple(rungs))
    # Once now and again at the end, where the higher is kept: a busy moment is no ceiling.
    measured_peaks(opened, peak_dtype(dtype))
    rows: list[Row] = []
    for size in sizes or [(default_size(ladder, opened.info.kind),)]:
        problems = [make_problem(kernel, size, dtype) for kernel in chosen]
        arena = Arena(opened, dtype, cold=cold, twins=twins)
        entries = list(zip(chosen, problems, strict=True))
        rows += _race_one_size(arena, entries, seconds, baselines, _shifted(watch, len(rows)))
    return make_record(f"ladder {ladder.name}", opened, dtype, rows, twins)


def _shifted(watch: Watcher, start: int) -> Watcher:
    return lambda index, row: watch(start + index, row)


def _race_one_size(
    arena: Arena, entries: Sequence[tuple[Kernel, Problem]], seconds: float, baselines: bool, watch: Watcher
) -> list[Row]:
    with ExitStack() as stack:
        contenders: list[Contender] = []

        def add(contender: Contender) -> None:
            contenders.append(contender)
            watch(len(contenders) - 1, contender.row)

        if baselines:
            for problem in dict.fromkeys(arena.reference(problem).problem for _, problem in entries):
                for contender in arena.enter_rivals(problem, stack):
                    add(contender)
            if isinstance(problem, Gemm) and not any(kernel.name == HOST_PROGRAM for kernel, _ in entries):
                add(arena.enter_host_program(problem))
        for kernel, problem in entries:
            for device in (arena.device, *arena.twins):
                add(arena.enter(kernel, problem, device))
        race_contenders(contenders, seconds, arena.flush is None, watch)
        return [contender.row for contender in contenders]


def race_contenders(contenders: Sequence[Contender], seconds: float, warm: bool, watch: Watcher) -> None:
    """Measure the contenders that passed, updating their rows as samples come in."""
    places = [index for index, contender in enumerate(contenders) if contender.entrant is not None]

    def progress(turn: int, samples: Samples) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, samples=samples)
        watch(places[turn], contender.row)

    def failed(turn: int, failure: LaunchFailed) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, status="launch failed", reason=str(failure))
        watch(places[turn], contender.row)

    entrants = [contender.entrant for contender in contenders if contender.entrant is not None]
    race(entrants, seconds, warm=warm, progress=progress, failed=failed)


def run_kernel(
    kernel: Kernel | str,
    size: Sequence[int],
    device: str | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 3.0,
    baselines: bool = True,
    watch: Watcher = lambda index, row: None,
    backend: str = "opencl",
) -> tuple[Record, Verdict | None]:
    """Verify and measure one kernel beside NumPy: the record, and the verdict with ten sample elements.

    With the `backend` "both" the verdict is the first that did not pass, or the last.
    """
    chosen = find_kernel(kernel) if isinstance(kernel, str) else kernel
    dtype = dtype or chosen.usual_dtype
    opened, *twins = open_backends(backend, device)
    problem = make_problem(chosen, size, dtype, offset)
    arena = Arena(opened, dtype, twins=twins)
    with ExitStack() as stack:
        contenders = arena.enter_rivals(problem, stack) if baselines else []
        own = [arena.enter(chosen, problem, each) for each in (opened, *twins)]
        contenders += own
        for index, contender in enumerate(contenders):
            watch(index, contender.row)
        race_contenders(contenders, seconds, True, watch)
    rows = [contender.row for contender in contenders]
    verdict = next((each.verdict for each in own if each.row.status != "ok"), own[-1].verdict)
    return make_record(f"kernel {chosen.name}", opened, dtype, rows, twins), verdict


def make_record(title: str, device: Device, dtype: str, rows: Sequence[Row], twins: Sequence[Device] = ()) -> Record:
    """The record of a race on a device, and on `twins` of it, whose versions it names too."""
    environment = read_environment(device.info)
    versions = {each.info.platform: f"{each.info.driver}, {each.info.version}" for each in twins}
    environment = replace(environment, versions=environment.versions | versions)
    return Record(title, dtype, environment, measured_peaks(device, peak_dtype(dtype)), tuple(rows))
