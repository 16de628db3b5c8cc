"""The roofline of a kernel: its work and traffic, the device's measured peaks, which one limits it, and the part reached.

Williams, Waterman, Patterson: Roofline, an Insightful Visual Performance Model for Multicore Architectures (2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Unpack

from ..analysis.arguments import ready_kernel
from ..analysis.explain import Explanation
from ..analysis.explain.models import model_for
from ..analysis.explain.plans import explain_steps
from ..analysis.explain.totals import totals
from ..core.defaults import ROOFLINE_SIDES, cpu_or_gpu
from ..core.device import DeviceInfo, Peaks
from ..core.kernel import Kernel
from ..core.language import Sentence
from ..core.launch_options import LaunchOptions
from ..core.numbers import figure
from ..core.plan import plan_kernel
from ..core.problem import Gemm, Problem, compulsory_bytes
from ..core.problems import make_problem
from ..core.records import Record, Row
from ..core.shown import Shown
from ..core.sizes import Sides, Size, as_size
from ..errors import InvalidInput
from ..kernels.settings import KernelName, Settings, chosen_kernel
from ..runtime.opencl.device import Device, open_device
from .ladders import run_kernel
from .progress import Announce, Phase, silent

DEEP = 512  # the traffic of deeper products is extrapolated from two smaller depths
COUNT_LIMIT_S = 60.0  # of counting: an endless loop has no end, and a user waits


@dataclass(frozen=True)
class Traffic:
    """Bytes that a kernel's launches load and store. `requested_bytes` go between the compute units and the caches; memory
    may see fewer. `local_bytes` are what local memory could have moved in the time it was busy.

    `exact`: all work-groups were counted, or all are alike.
    """

    requested_bytes: int
    local_bytes: int
    model: str
    exact: bool


@dataclass(frozen=True)
class Limit:
    """The least time that the work takes at one of the device's peaks."""

    name: str
    amount: float  # flops or bytes
    rate: float  # flops or bytes per second
    unit: str

    @property
    def seconds(self) -> float:
        return self.amount / self.rate if self.rate else 0.0


@dataclass(frozen=True, repr=False)
class Roofline(Shown):
    """What the text and the picture show. `row` is the measurement; its status and reason say what went wrong.

    `traffic` is None if `explain` could not run the kernel; `note` then says why.
    """

    kernel: str
    config: str
    problem: str
    device: DeviceInfo
    dtype: str
    flops: int
    compulsory_bytes: int
    peaks: Peaks
    row: Row
    traffic: Traffic | None = None
    note: str = ""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Lower bounds of the time, whatever the caches do. The bound of local memory holds for the accesses in the source;
        a compiler may need fewer if it merges reads of one address into wider ones."""
        found = [Limit(Sentence("memory, each byte once"), self.compulsory_bytes, self.peaks.copy_gbs * 1e9, "GB/s")]
        flops = self.peaks.gflops.get(self.dtype, 0.0)
        if self.flops and flops:
            found.insert(0, Limit(Sentence("multiply-adds"), self.flops, flops * 1e9, "GFLOP/s"))
        if self.traffic is not None and self.traffic.local_bytes:
            found.append(Limit(Sentence("local memory"), self.traffic.local_bytes, self.peaks.local_gbs * 1e9, "GB/s"))
        return tuple(found)

    @property
    def binding(self) -> Limit:
        """The limit with the longest time."""
        return max(self.limits, key=lambda limit: limit.seconds)

    @property
    def seconds(self) -> float:
        """The measured time of the kernel with all its launches; 0 if it was not measured."""
        return self.row.samples.median if self.row.measured else 0.0

    @property
    def fraction(self) -> float:
        """The part of the limit that was reached, 0 to 1."""
        return self.binding.seconds / self.seconds if self.seconds else 0.0

    @property
    def uncached_seconds(self) -> float:
        """The time that memory would need without caches."""
        if self.traffic is None or not self.peaks.copy_gbs:
            return 0.0
        return self.traffic.requested_bytes / (self.peaks.copy_gbs * 1e9)

    @property
    def work(self) -> int:
        """Flops, or compulsory bytes for a copy or transpose: what rates count."""
        return self.flops or self.compulsory_bytes

    @property
    def unit(self) -> str:
        return "GFLOP/s" if self.flops else "GB/s"

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def one_line(self) -> str:
        reached = f"{self.fraction:.0%} of the limit by {self.binding.name}" if self.seconds else self.row.status
        return f"{self.kernel}, {self.problem}: {reached}, on {self.device.label}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each limit: its amount and rate in flops or bytes, and the least time beside the measured one."""
        return [
            {"kernel": self.kernel, "limit": each.name, "amount": each.amount, "rate_per_s": each.rate,
             "least_s": each.seconds, "measured_s": self.seconds or None}
            for each in self.limits
        ]  # fmt: skip


def roofline_kernel(
    kernel: KernelName,
    size: Size = (),
    device: Device | str | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce = silent,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Roofline:
    """Measure a kernel and the device's peaks, and count the kernel's traffic. `print` the result to read it.

    The arguments are those of `run_kernel`; `size` is by default 4096 on a GPU and 512 on a CPU. Unsupported says why the
    device cannot run the kernel.
    """
    kernel = ready_kernel(chosen_kernel(kernel, settings, global_size, local_size, **own), size or None, dtype)
    dtype = kernel.usual_dtype if dtype is None else dtype
    device = device if isinstance(device, Device) else open_device(device)
    size = as_size(size) or (ROOFLINE_SIDES[cpu_or_gpu(device.info.kind)],)
    problem = make_problem(kernel, size, dtype, offset)
    if not all(each.elements for each in problem.operands):
        raise InvalidInput(f"{problem.title} is empty: a roofline needs a problem with at least one element")
    plan = plan_kernel(kernel, problem, device.info)
    record, _ = run_kernel(kernel, size, device, dtype, offset, seconds, baselines=False, announce=announce, keep=keep)
    row, peaks = record.rows[-1], record.peaks
    if peaks is None:
        raise InvalidInput(f"{device.info.label} has no measured peaks for {dtype}")
    traffic, note = None, ""
    announce(Phase("counting loads and stores"))
    try:
        traffic = count_traffic(kernel, problem, device.info)
    except InvalidInput as cannot:  # such as inline assembly
        note = f"its traffic is unknown: {cannot}"
    return Roofline(
        kernel.name, str(plan.steps[-1].config), problem.title, device.info, dtype, problem.flops, compulsory_bytes(problem),
        peaks, row, traffic, note,
    )  # fmt: skip


def count_traffic(kernel: Kernel, problem: Problem, info: DeviceInfo) -> Traffic:
    """The traffic of all launches, as `explain` counts it on some work-groups and scales it to all of them.

    A deep product is counted at two smaller depths with the same remainder, because each step along k adds the same.
    InvalidInput if `explain` cannot run the kernel, or not in `COUNT_LIMIT_S`.
    """
    end = monotonic() + COUNT_LIMIT_S
    if not isinstance(problem, Gemm) or problem.k <= DEEP:
        return _explained(kernel, problem, info, end)
    rest = problem.k % (DEEP // 2)
    near, far = (_explained(kernel, replace(problem, k=depth + rest), info, end) for depth in (DEEP // 2, DEEP))
    steps = (problem.k - DEEP // 2 - rest) / (DEEP // 2)

    def further(first: int, second: int) -> int:
        return round(first + steps * (second - first))

    return Traffic(
        further(near.requested_bytes, far.requested_bytes),
        further(near.local_bytes, far.local_bytes),
        near.model,
        near.exact and far.exact,
    )


def _explained(kernel: Kernel, problem: Problem, info: DeviceInfo, end: float) -> Traffic:
    plan = plan_kernel(kernel, problem, info)
    try:
        launches = explain_steps(
            plan.steps, problem, model=model_for(info), watch=lambda steps, groups: monotonic() > end
        )
    except InvalidInput as reason:
        if monotonic() <= end:
            raise
        late = f"counting {problem.title} takes longer than {COUNT_LIMIT_S:g} s; a smaller --size takes less"
        raise InvalidInput(late) from reason
    return traffic_of(launches, info)


def traffic_of(explanations: Sequence[Explanation], info: DeviceInfo) -> Traffic:
    """The traffic of launches that `explain` has run by the rules for this device."""
    model = model_for(info)
    sums = [totals(each) for each in explanations]
    exact = all(each.exact for each in sums)
    if info.kind == "cpu":  # CPUs have no sub-groups that coalesce accesses: each work-item's bytes count
        requested = sum(_scaled(each, local=False) for each in explanations)
        local = sum(_scaled(each, local=True) for each in explanations)
        return Traffic(requested, local, "per work-item", exact)
    return Traffic(
        sum(each.sectors for each in sums) * model.sector,
        sum(each.wavefronts for each in sums) * model.banks * model.bank_bytes,
        model.name,
        exact,
    )


def _scaled(explanation: Explanation, local: bool) -> int:
    asked = sum(each.lane_bytes for each in explanation.accesses if each.is_local == local)
    return round(asked * explanation.group_count / len(explanation.groups))


def lines(found: Roofline) -> Iterator[str]:
    """The roofline in words and numbers."""
    yield f"{found.kernel} ({found.config}), {found.problem}, on {found.device.label}"
    if found.flops:
        yield f"  work             {found.flops * 1e-9:,.4g} GFLOP"
    yield f"  compulsory       {_bytes(found.compulsory_bytes)}{_intensity(found.flops, found.compulsory_bytes)}"
    if found.traffic is not None:
        yield from _traffic_lines(found, found.traffic)
    yield ""
    yield f"  {'limit':24}{'measured peak':>18}{'time at least':>16}"
    for limit in sorted(found.limits, key=lambda each: -each.seconds):
        mark = "   <- limits the kernel" if limit is found.binding or limit == found.binding else ""
        yield f"  {limit.name:24}{figure(limit.rate * 1e-9):>10} {limit.unit:7}{_time(limit.seconds):>16}{mark}"
    yield ""
    yield from _measured_lines(found)
    if found.note:
        yield f"note: {found.note}"


def _traffic_lines(found: Roofline, traffic: Traffic) -> Iterator[str]:
    about = "" if traffic.exact else "about "
    times = traffic.requested_bytes / max(found.compulsory_bytes, 1)
    asked = f"{about}{_bytes(traffic.requested_bytes)}, {times:.3g} times the compulsory bytes"
    yield f"  loads and stores {asked}{_intensity(found.flops, traffic.requested_bytes)} (explain: {traffic.model})"
    if traffic.local_bytes:
        yield f"  local memory     {about}{_bytes(traffic.local_bytes)}{_intensity(found.flops, traffic.local_bytes)}"


def _measured_lines(found: Roofline) -> Iterator[str]:
    if not found.seconds:
        yield f"  not measured     {found.row.status}: {found.row.reason}"
        return
    if not found.binding.seconds:
        yield f"  measured         {_time(found.seconds)}; no limit is known: a peak is missing or nothing is moved"
        return
    at_best = found.work / found.binding.seconds * 1e-9
    rate = found.work / found.seconds * 1e-9
    yield f"  at best          {figure(at_best)} {found.unit}, limited by {found.binding.name}"
    yield f"  measured         {figure(rate)} {found.unit} in {_time(found.seconds)}: {found.fraction:.0%} of that limit"
    uncached = found.uncached_seconds
    if uncached > found.seconds:
        served = 1 - found.seconds / uncached
        yield f"  caches           they served at least {served:.0%}: without them memory alone would take {_time(uncached)}"
    elif uncached:
        yield f"  caches           not the limit: even without them memory would take only {_time(uncached)}"


def _intensity(flops: int, nbytes: int) -> str:
    return f": {flops / nbytes:.3g} flops per byte" if flops and nbytes else ""


def _bytes(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def _time(seconds: float) -> str:
    for unit in ("s", "ms"):
        if seconds >= 1 or (unit == "ms" and seconds >= 1e-3):
            return f"{seconds:.3g} {unit}"
        seconds *= 1000
    return f"{seconds:.3g} us" if seconds >= 1 else f"{seconds * 1000:.3g} ns"
