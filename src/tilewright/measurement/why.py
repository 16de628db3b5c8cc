"""Why a rung is fast or slow here: its header comment, what `explain` counts, the roofline's bound, and the measurement."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from time import process_time

from ..analysis.explain import Explanation
from ..analysis.explain.models import model_for
from ..analysis.explain.plans import explain_steps
from ..core.device import DeviceInfo, Peaks
from ..core.kernel import Kernel
from ..core.numbers import figure
from ..core.plan import plan_kernel
from ..core.problem import compulsory_bytes
from ..core.problems import make_problem
from ..core.records import Record, Row
from ..errors import InvalidInput, Unsupported
from .progress import Announce, Estimate, silent
from .roofline import Roofline, Traffic, traffic_of

COUNTED_SIZES = {"gemm": (128, 128, 64), "transpose": (256, 256), "copy": (256, 256)}  # counted within a second or so
NOTICED = 1.1  # the factor from which on a count fell, or a rung is slower
WORK = 1000.0  # counts are given for so many flops, or bytes that must be moved


@dataclass(frozen=True)
class Counts:
    """What `explain` counts for 1,000 flops, or for 1,000 compulsory bytes of a copy or transpose: load and store instructions
    of work-items, and bytes between compute units and caches and in local memory."""

    instructions: float
    requested_bytes: float
    local_bytes: float


@dataclass(frozen=True)
class Why:
    """The answer for one rung. `print` it to read it. `counts` are None, and `note` says why, if `explain` cannot run it.

    `explanations` are of its launches at the size `counted_at`, the kernel itself last.
    """

    row: Row
    header: str
    counted_at: str
    counts: Counts | None
    bound: Roofline | None
    contrary: str = ""
    note: str = ""
    explanations: tuple[Explanation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def why(
    record: Record, kernels: Sequence[Kernel], announce: Announce = silent, patience_s: float = math.inf
) -> list[Why]:
    """The answers for the rungs of the first size in a ladder's record, in the record's order.

    Counting ends after `patience_s` seconds of this process, whatever other programs do. Rungs of many work-items, which are
    counted fastest, are the first.
    """
    rungs = {kernel.name: kernel for kernel in kernels}
    own = [row for row in record.rows if row.name in rungs and not row.is_baseline and row.backend == "opencl"]
    own = [row for row in own if row.size == own[0].size]
    estimate = Estimate(announce, "counting", len(own))
    end = process_time() + patience_s
    found: dict[str, Why] = {}
    for row in sorted(own, key=lambda row: -_work_items(rungs[row.name], record)):
        estimate.done(len(found), row.name)
        found[row.name] = _answer(row, rungs[row.name], record, end)
    answers = [found[row.name] for row in own]
    last: Why | None = None
    for place, answer in enumerate(answers):
        if last is not None:
            answers[place] = answer = replace(answer, contrary=contrary(last, answer, record.environment.device))
        last = answer if answer.row.measured else last
    return answers


def header_comment(text: str) -> str:
    """The comment at the top of a file, without its marks."""
    lines = []
    for line in text.lstrip().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").removeprefix(" ").rstrip())
    return "\n".join(lines)


def _work_items(kernel: Kernel, record: Record) -> int:
    """The work-items of the rung at the size at which it is counted; 0 if the device refuses it."""
    problem = make_problem(kernel, COUNTED_SIZES[kernel.operation], record.dtype)
    try:
        step = plan_kernel(kernel, problem, record.environment.device).steps[-1]
    except (InvalidInput, Unsupported):
        return 0
    return math.prod(step.config.ndrange(step.problem).global_size)


def _answer(row: Row, kernel: Kernel, record: Record, end: float) -> Why:
    info, dtype = record.environment.device, record.dtype
    problem = make_problem(kernel, COUNTED_SIZES[kernel.operation], dtype)
    size = "x".join(map(str, COUNTED_SIZES[kernel.operation]))
    answer = Why(row, header_comment(kernel.text), size, None, None)
    try:
        steps = plan_kernel(kernel, problem, info).steps
        explanations = explain_steps(
            steps, problem, model=model_for(info), watch=lambda steps, groups: process_time() > end
        )
    except (InvalidInput, Unsupported) as cannot:  # such as inline assembly, or a size that the rung refuses
        over = f"the time for counting was over, and one of its work-items does much at {size}"
        return replace(answer, note=f"nothing is counted: {over if process_time() > end else cannot}")
    work = (problem.flops or compulsory_bytes(problem)) / WORK
    traffic = traffic_of(explanations, info)
    instructions = sum(
        access.lane_bytes / access.size * explanation.group_count / len(explanation.groups)
        for explanation in explanations
        for access in explanation.accesses
    )
    counts = Counts(instructions / work, traffic.requested_bytes / work, traffic.local_bytes / work)
    answer = replace(answer, counts=counts, explanations=tuple(explanations))
    if not row.measured or record.peaks is None:
        return answer
    scale = (row.flops or row.nbytes) / (problem.flops or compulsory_bytes(problem))
    return replace(answer, bound=_bound(row, kernel, record.peaks, info, dtype, traffic, scale))


def _bound(
    row: Row, kernel: Kernel, peaks: Peaks, info: DeviceInfo, dtype: str, traffic: Traffic, scale: float
) -> Roofline:
    """The roofline at the row's size, with the traffic of the small problem scaled to it."""
    scaled = replace(
        traffic, requested_bytes=round(traffic.requested_bytes * scale), local_bytes=round(traffic.local_bytes * scale)
    )
    return Roofline(
        kernel.name, str(kernel.config), row.problem, info, dtype, row.flops, row.nbytes, peaks, row, scaled
    )


def contrary(before: Why, now: Why, info: DeviceInfo) -> str:
    """One sentence if the device does the opposite of the lesson: slower although counts fell. "" otherwise."""
    if before.counts is None or now.counts is None or not (before.row.rate and now.row.rate):
        return ""
    slower = before.row.rate / now.row.rate
    pairs = {
        "load and store instructions": (before.counts.instructions, now.counts.instructions),
        "bytes requested from memory": (before.counts.requested_bytes, now.counts.requested_bytes),
        "bytes moved in local memory": (before.counts.local_bytes, now.counts.local_bytes),
    }
    fallen = {name: old / new for name, (old, new) in pairs.items() if new and old > NOTICED * new}
    noise = before.row.samples.spread + now.row.samples.spread
    if slower < NOTICED + noise or not fallen:
        return ""
    name, times = max(fallen.items(), key=lambda each: each[1])
    return (
        f"The opposite of the lesson: {figure(slower)} times slower than {before.row.name}, although the {name} fall "
        f"{figure(times)} times{_likely(now, info)}."
    )


def _likely(now: Why, info: DeviceInfo) -> str:
    """What may be the cause on this device."""
    if info.kind != "cpu":
        return ""
    if now.counts is not None and now.counts.local_bytes:
        return (
            "; a CPU keeps local memory in its caches like all other memory, and its compiler turns neighbouring "
            "work-items into vectors, which vectors and larger tiles in the source can prevent"
        )
    return "; on a CPU the compiler turns neighbouring work-items into vectors, which this form can prevent"


def _lines(answer: Why) -> Iterator[str]:
    row, counts, bound = answer.row, answer.counts, answer.bound
    yield f"{row.label}"
    yield indent(answer.header, "  | ", lambda line: True)
    if counts is not None:
        per = "flops" if row.flops else "bytes of data"
        yield (
            f"  counted    for 1,000 {per}: {figure(counts.instructions)} loads and stores of work-items, "
            f"{figure(counts.requested_bytes)} bytes requested from memory, {figure(counts.local_bytes)} bytes in local "
            f"memory ({answer.counted_at})"
        )
    if answer.note:
        yield f"  counted    {answer.note}"
    if bound is not None and bound.binding.seconds:
        rate = bound.work / bound.binding.seconds * 1e-9
        yield f"  predicted  at most {figure(rate)} {bound.unit}, limited by {bound.binding.name}"
    if row.measured:
        part = f", {figure(bound.fraction * 100)}% of that" if bound is not None and bound.fraction else ""
        yield f"  measured   {figure(row.rate)} {row.unit}{part}"
    else:
        reason = row.reason.strip().splitlines()[0] if row.reason.strip() else ""
        yield f"  measured   {row.status}: {reason}"
    if answer.contrary:
        yield f"  {answer.contrary}"
