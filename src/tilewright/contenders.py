"""Who races: kernels and rival libraries, each planned, built and verified before it is timed; a failure becomes its row."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from .backend.cuda import Device as CudaDevice
from .backend.device import Device
from .backend.opencl import Device as OpenCLDevice
from .backend.opencl import open_device
from .backend.twins import without_twin
from .dtypes import element_type
from .errors import BuildFailed, LaunchFailed, NoDevice, ProcessFailed, TilewrightError, Unsupported
from .kernel import Kernel
from .kernels import find_kernel
from .measure import BurstEntrant, CacheFlush, Entrant, KernelEntrant, RunFailed, race
from .plan import Plan, plan_kernel
from .problem import Arrays, Gemm, Problem, Transpose, compulsory_bytes, random_arrays
from .records import Row, Samples
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


def race_contenders(contenders: Sequence[Contender], seconds: float, warm: bool, watch: Watcher) -> None:
    """Measure the contenders that passed, updating their rows as samples come in."""
    places = [index for index, contender in enumerate(contenders) if contender.entrant is not None]

    def progress(turn: int, samples: Samples) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, samples=samples)
        watch(places[turn], contender.row)

    def failed(turn: int, failure: RunFailed) -> None:
        contender = contenders[places[turn]]
        contender.row = replace(contender.row, status="launch failed", reason=str(failure))
        watch(places[turn], contender.row)

    entrants = [contender.entrant for contender in contenders if contender.entrant is not None]
    race(entrants, seconds, warm=warm, progress=progress, failed=failed)
