"""The rooflines of a whole ladder: from a record of the ladder, measured now or saved."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.kernel import Kernel, Ladder
from ..core.numbers import figure
from ..core.plan import Plan, plan_kernel
from ..core.problem import Gemm, Problem, compulsory_bytes
from ..core.problems import make_problem
from ..core.records import Record, Row
from ..core.shown import Shown
from ..errors import InvalidInput, UnknownName, Unsupported
from ..kernels import find_kernel
from ..runtime.opencl.device import Device
from .cases import Watcher
from .ladders import run_ladder
from .progress import Announce, Phase, silent
from .roofline import DEEP, Roofline, Traffic, count_traffic

LONGEST = 1_000_000  # multiply-adds of one work-item that `explain` is asked to follow


@dataclass(frozen=True, repr=False)
class LadderRoofline(Shown):
    """The rooflines of a ladder's rungs, in the ladder's order. Its text has one line for each rung."""

    title: str
    rungs: tuple[Roofline, ...]

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def one_line(self) -> str:
        measured = sum(bool(each.seconds) for each in self.rungs)
        return f"{self.title}, {measured} of {len(self.rungs)} rungs measured, on {self.rungs[0].device.label}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each limit of each rung, as Roofline has them."""
        return [row for rung in self.rungs for row in rung.to_rows()]


def roofline_ladder(
    ladder: str | Ladder,
    size: Sequence[int] = (),
    device: Device | str | None = None,
    dtype: str | None = None,
    seconds: float = 8.0,
    watch: Watcher = lambda index, row: None,
    announce: Announce = silent,
    keep: Callable[[Record], None] = lambda record: None,
) -> LadderRoofline:
    """Measure a ladder and the device's peaks, and count the traffic of each rung. `print` the result to read it.

    `size`, `device`, `dtype`, `seconds`, `watch`, `announce` and `keep` are those of `run_ladder`, for one size.
    """
    sizes = [tuple(size)] if size else ()
    record = run_ladder(
        ladder, device, sizes, dtype, seconds=seconds, baselines=False, watch=watch, announce=announce, keep=keep
    )
    return rooflines_of_record(record, announce)


def rooflines_of_record(record: Record, announce: Announce = silent) -> LadderRoofline:
    """The rooflines of the rungs of a record, with the traffic of today's kernels on the record's device.

    InvalidInput if the record holds no rung, several sizes, or no peaks.
    """
    rows = [row for row in record.rows if not row.is_baseline and row.backend == "opencl"]
    if record.peaks is None:
        raise InvalidInput(f"{record.title} has no measured peaks: a roofline needs them")
    try:
        kernels = [find_kernel(row.name) for row in rows]
    except UnknownName as error:
        raise InvalidInput(f"{record.title} holds a row that is not a rung: {error}") from error
    if not kernels:
        raise InvalidInput(f"{record.title} has no rung that was run as OpenCL")
    tried = {row.name for row in rows}
    if len(tried) < len(rows):
        raise InvalidInput(f"{record.title} has several sizes of one rung: a roofline shows one size")
    return LadderRoofline(
        record.title, tuple(_of_row(record, kernel, row, announce) for kernel, row in zip(kernels, rows, strict=True))
    )


def _of_row(record: Record, kernel: Kernel, row: Row, announce: Announce) -> Roofline:
    info, peaks = record.environment.device, record.peaks
    assert peaks is not None
    problem = make_problem(kernel, row.size, record.dtype)
    traffic, note, config = None, "", ""
    if row.measured:
        announce(Phase(f"counting the traffic of {row.name}"))
        try:
            plan = plan_kernel(kernel, problem, info)
            config = str(plan.steps[-1].config)
            traffic = _traffic(kernel, problem, plan, record)
        except (InvalidInput, Unsupported) as cannot:
            note = f"its traffic is unknown: {cannot}"
    return Roofline(
        row.name,
        config,
        row.problem,
        info,
        record.dtype,
        row.flops,
        compulsory_bytes(problem),
        peaks,
        row,
        traffic,
        note,
    )


def _traffic(kernel: Kernel, problem: Problem, plan: Plan, record: Record) -> Traffic:
    """The traffic, unless one work-item does so much that following it would take minutes."""
    items = max(math.prod(step.config.ndrange(step.problem).global_size) for step in plan.steps)
    followed = problem.m * problem.n * min(problem.k, DEEP) / items if isinstance(problem, Gemm) else 0
    if followed > LONGEST:
        raise Unsupported(f"one work-item makes {followed:,.0f} multiply-adds, too many for `explain` to follow")
    return count_traffic(kernel, problem, record.environment.device)


def lines(found: LadderRoofline) -> Iterator[str]:
    """A heading and a line for each rung: rate, intensity, the bound and the part of it that was reached."""
    first = found.rungs[0]
    peaks = first.peaks
    yield f"{found.title} · {first.problem} · {first.device.label}"
    flops = peaks.gflops.get(first.dtype, 0.0)
    rates = [f"multiply-adds {figure(flops)} GFLOP/s"] if first.flops and flops else []
    rates += [f"memory {figure(peaks.copy_gbs)} GB/s", f"local memory {figure(peaks.local_gbs)} GB/s"]
    yield f"measured peaks: {', '.join(rates)}"
    yield ""
    width = max(len(each.kernel) for each in found.rungs)
    per_byte = "flops per byte" if first.flops else ""
    yield f"{'rung':{width}}  {first.unit:>9}  {per_byte:>14}  {'at most':>9}  reached  limited by"
    for each in found.rungs:
        yield _rung_line(each, width).rstrip()
    yield ""
    if first.flops:
        yield "flops per byte: of all loads and stores, before the caches. at most: the rate at the limit."
    else:
        yield "at most: the rate at the limit."
    yield from (f"{each.kernel}: {each.note}" for each in found.rungs if each.note)


def _rung_line(found: Roofline, width: int) -> str:
    name = f"{found.kernel:{width}}"
    if not found.seconds:
        return f"{name}  {found.row.status}: {found.row.reason.strip().splitlines()[0] if found.row.reason.strip() else ''}"
    rate = found.work / found.seconds * 1e-9
    traffic = found.traffic
    per_byte = (
        figure(found.flops / traffic.requested_bytes) if found.flops and traffic and traffic.requested_bytes else ""
    )
    limit = found.binding
    most = figure(found.work / limit.seconds * 1e-9) if limit.seconds else ""
    return f"{name}  {figure(rate):>9}  {per_byte:>14}  {most:>9}  {found.fraction:7.0%}  {limit.name}"
