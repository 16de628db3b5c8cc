"""The work of `why`: measures a kernel, counts its accesses, reads its machine code, and asks every cause."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

from ..analysis.arguments import ready_kernel
from ..analysis.diagnosis import fault_of
from ..analysis.explain.drawing.source import source_lines
from ..analysis.explain.models import find_model
from ..analysis.inspect.occupancy import MULTIPROCESSORS
from ..core.defaults import ladder_side
from ..core.device import DeviceInfo, Peaks
from ..core.kernel import Kernel
from ..core.language import in_english
from ..core.launch_options import LaunchOptions
from ..core.plan import plan_kernel
from ..core.problem import Problem, compulsory_bytes
from ..core.problems import check_memory, dtype_refusal, make_problem
from ..core.records import Record, Role, Row
from ..core.sizes import Sides, Size, as_size
from ..errors import InvalidInput, TilewrightError, Unsupported
from ..kernels.settings import KernelName, Settings, chosen_kernel
from ..measurement.ladders import check_something, run_kernel
from ..measurement.progress import Announce, Phase, silent
from ..measurement.roofline import Roofline, traffic_of
from ..reports.trust import busy_words, can_divide, is_busy
from ..runtime.device import Device
from ..runtime.opencl.device import open_device
from .answer import Answer
from .cause import ranked
from .causes import FINDERS
from .evidence import Evidence
from .gather import ARCHITECTURES, counted, device_like, evidence_about, machine_code, rules_of, typical_peaks

UNMEASURED = (
    "the time: nothing was run, so causes are ranked by counts and the rates of a typical device whose caches serve "
    "nothing"
)


@in_english()
def why_kernel(
    kernel: KernelName,
    size: Size = (),
    *,
    device: Device | str | None = None,
    device_model: str | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    baselines: bool = True,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce = silent,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Answer:
    """The answer for a kernel, measured on a device, or by the counts of a device model alone.

    The kernel is verified and measured for `seconds`, a user's kernel in a child process first; its accesses are counted
    at a small size, and its machine code is read. InvalidInput for a device beside a model; Unsupported for a type that
    the kernel does not have.
    """
    chosen = ready_kernel(chosen_kernel(kernel, settings, global_size, local_size, **own), size or None, dtype)
    dtype = chosen.usual_dtype if dtype is None else dtype
    sides = as_size(size)
    if device_model is None:
        return _by_measuring(chosen, sides, device, dtype, offset, seconds, baselines, announce, keep)
    if device is not None:
        raise InvalidInput("a device and a device model: with a model nothing is measured, so give one of them")
    return _by_counts(chosen, sides, device_model, dtype, offset, announce)


def _by_measuring(
    kernel: Kernel, size: Sequence[int], device: Device | str | None, dtype: str, offset: int, seconds: float,
    baselines: bool, announce: Announce, keep: Callable[[Record], None],
) -> Answer:  # fmt: skip
    opened = open_device(device) if device is None or isinstance(device, str) else device
    size = size or default_size(kernel, opened.info)
    record, _ = run_kernel(kernel, size, opened, dtype, offset, seconds, baselines, announce=announce, keep=keep)
    own = next(row for row in record.rows if row.role is Role.KERNEL)
    problem, info = make_problem(kernel, size, dtype, offset), opened.info
    answer = _answer_about(kernel, problem, info, record.peaks or Peaks({}, 0.0, 0.0), own)
    if not own.measured:
        return replace(answer, faults=own.faults)
    announce(Phase("counting loads and stores"))
    model = rules_of(info, dtype)
    small, launches, uncounted = counted(kernel, problem, info, model)
    announce(Phase("reading the machine code"))
    code, unread = machine_code(kernel, size, dtype, offset, device=info.label)
    times = own.samples
    wall = sorted(times.wall)[len(times.wall) // 2] if times.wall else 0.0
    evidence = evidence_about(kernel, problem, info, model, answer.peaks, code, (small, launches), times.median, wall)
    busy = is_busy(record.environment)
    notes = (busy_words(record.environment.others or 0.0, record.environment.cores),) if busy else ()
    others = [row for row in record.rows if row.role is Role.BASELINE and can_divide(row, busy)]
    return replace(
        _with_evidence(answer, evidence, (uncounted, unread)), notes=notes,
        baseline=max(others, key=lambda row: row.rate, default=None),
    )  # fmt: skip


def _by_counts(kernel: Kernel, size: Sequence[int], name: str, dtype: str, offset: int, announce: Announce) -> Answer:
    """The answer without a device: bounds of a typical one rank what is counted."""
    model = find_model(name)
    info = replace(device_like(model), features=frozenset(feature for feature, _ in kernel.requires))
    if model.is_cpu:
        model = rules_of(info, dtype)
    if refusal := dtype_refusal(kernel, dtype):
        raise Unsupported(refusal)
    size = size or default_size(kernel, info)
    problem = make_problem(kernel, size, dtype, offset)
    check_something(problem)
    check_memory(problem)
    announce(Phase("counting loads and stores"))
    small, launches, uncounted = counted(kernel, problem, info, model)
    announce(Phase("reading the machine code"))
    arch = ARCHITECTURES.get(name.lower(), name.lower() if name.lower() in MULTIPROCESSORS else "")
    code, unread = machine_code(kernel, size, dtype, offset, arch)
    evidence = evidence_about(kernel, problem, info, model, typical_peaks(model, dtype), code, (small, launches))
    answer = _answer_about(kernel, problem, info, evidence.peaks, None)
    return _with_evidence(answer, evidence, (UNMEASURED, "the number of compute units", uncounted, unread))


def default_size(kernel: Kernel, info: DeviceInfo) -> tuple[int, ...]:
    """The size at which a ladder is measured."""
    return (ladder_side(kernel.operation, info.kind),)


def _answer_about(kernel: Kernel, problem: Problem, info: DeviceInfo, peaks: Peaks, row: Row | None) -> Answer:
    try:
        config = str(plan_kernel(kernel, problem, info).steps[-1].config)
    except TilewrightError:  # the row says why
        config = str(kernel.config)
    return Answer(kernel.name, config, problem.title, problem.dtype, info, row, None, peaks, (), (), (), "", "")


def _with_evidence(answer: Answer, evidence: Evidence, not_seen: Sequence[str]) -> Answer:
    """The answer with bounds, causes, faults and the source."""
    last = evidence.last
    faults = tuple(fault_of(each) for launch in evidence.launches for each in launch.faults)
    found = [] if not evidence.measured and faults else [cause for find in FINDERS for cause in find(evidence)]
    return replace(
        answer,
        limits=evidence.limits,
        causes=ranked(found),
        faults=faults,
        counted_at=evidence.counted.title if last is not None else "",
        rules=str(evidence.model.title),
        not_seen=tuple(each for each in (*not_seen, _around_barriers(evidence)) if each),
        roofline=roofline_of(evidence, answer),
        source=tuple(source_lines(last)) if last is not None else (),
        inspection=evidence.inspection,
    )


def _around_barriers(evidence: Evidence) -> str:
    """What is not estimated of kernels for GPUs that run on a CPU, if one is far from its bounds there; "" otherwise."""
    if not evidence.is_cpu or evidence.is_near or not any(each.is_local for each in evidence.accesses):
        return ""
    return (
        "what barriers and local memory cost on a CPU: local memory lies in its caches like all other memory, and a barrier "
        "cuts the loops that the compiler turns into vectors; the rungs of the ladder cpu need neither"
    )


def roofline_of(evidence: Evidence, answer: Answer) -> Roofline | None:
    """The roofline of a measured kernel, with the traffic of the small problem scaled to the measured one."""
    if answer.row is None or not answer.row.measured:
        return None
    traffic = None
    if evidence.launches:
        small = traffic_of(evidence.launches, evidence.info)
        scale = answer_work(evidence.problem) / max(1, answer_work(evidence.counted))
        traffic = replace(
            small, requested_bytes=round(small.requested_bytes * scale), local_bytes=round(small.local_bytes * scale)
        )
    return Roofline(
        answer.kernel, answer.config, answer.problem, answer.device, answer.dtype, evidence.problem.flops,
        compulsory_bytes(evidence.problem), answer.peaks, answer.row, traffic,
    )  # fmt: skip


def answer_work(problem: Problem) -> int:
    """Flops, or bytes of a transpose or copy."""
    return problem.flops or compulsory_bytes(problem)
