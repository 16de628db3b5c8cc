"""The public calls: the time of a kernel on devices that need not be here, and several kernels in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from ...core.checked import check_object
from ...core.kernel import Kernel, Ladder, Step, render
from ...core.launch_options import LaunchOptions, check_names
from ...core.problem import Problem
from ...core.problems import make_problem
from ...core.shown import Shown
from ...core.sizes import Sides, Size
from ...errors import BuildFailed, InvalidInput, Unsupported
from ...kernels import LADDERS, find_ladder
from ...kernels.settings import KernelName, Settings, chosen_kernel
from ..arguments import ready_kernel
from ..explain.clc import standard_of
from ..explain.plans import arguments_of, is_ragged, starting_buffers
from ..explanations import check_launch, problem_of
from ..inspect.compile_and_count import inspect_step
from ..inspect.gcn import parse_gcn
from ..inspect.sass import parse_sass
from .constants import FITTED, Constants
from .devices import find_device
from .facts import DeviceFacts
from .launch import WITHOUT_CODE, Code, Counted, SourceLaunch, count, dram_bytes
from .prediction import Prediction, seconds_text
from .stream import SECTOR
from .terms import combined, terms_of

SIZE = 2048  # of each side, if none is given
SPREAD, IRREGULAR, FOREIGN, WITHOUT = 1.5, 1.3, 1.2, 1.6  # factors of the range; see `spread_of`


def predict(
    kernel: KernelName | Ladder,
    on: str | Sequence[str] | DeviceFacts = "h200",
    size: Size | None = None,
    *,
    dtype: str | None = None,
    offset: int = 0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    constants: Constants = FITTED,
    **own: Unpack[LaunchOptions],
) -> Ranking:
    """The time of `kernel`, or of each rung of a ladder, on each device of `on`: names of `DEVICES`, or tables.

    `print` it to read it: one prediction in full, several as a table.

    `own` are the arguments of a `.cl` file, as for `explain`, and so are the others. `size` is 2048 for each side if left out.
    Times are those of a launch that is repeated, so that caches hold what the one before left, plus the cost of a launch.

    UnknownName for a device without a table; Unsupported for a kernel that explain or a compiler refuses, and for one whose
    work-items go through more loop iterations than are run. In a ladder it is among the refused.
    """
    wanted = on if isinstance(on, Sequence) and not isinstance(on, str | bytes) else [on]
    devices = [each if isinstance(each, DeviceFacts) else find_device(each) for each in wanted]
    check_object("constants", constants, Constants, "the Constants of a fit")
    found, refused = [], []
    for each in kernels_of(kernel, settings, global_size, local_size, own):
        whole = (SIZE,) if size is None and each.launch is None else size
        chosen = ready_kernel(each, whole, dtype)
        for device in devices:
            try:
                problem = problem_of(chosen, whole, dtype, offset)
                check_launch(chosen, problem)
                found.append(predict_kernel(chosen, problem, device, constants))
            except (Unsupported, BuildFailed) as error:
                refused.append(f"{chosen.name} on {device.title}: {error}")
    if not found:
        raise Unsupported("; ".join(refused))
    return Ranking(tuple(found), tuple(refused))


def kernels_of(
    kernel: KernelName | Ladder,
    settings: Settings | None,
    global_size: Sides | None,
    local_size: Sides | None,
    own: LaunchOptions,
) -> tuple[Kernel, ...]:
    """The rungs of a ladder that run on GPUs, or the one kernel."""
    ladder = find_ladder(kernel) if isinstance(kernel, str) and kernel in LADDERS else kernel
    if not isinstance(ladder, Ladder):
        return (chosen_kernel(ladder, settings, global_size, local_size, **own),)
    check_names(own)
    if settings or global_size or local_size or own:
        raise InvalidInput(
            f"{ladder.name} is a whole ladder: give settings with one of its rungs, and sizes and arguments with a .cl file"
        )
    return tuple(each for each in ladder.kernels if each.config.ndrange(make_problem(each, SIZE)).group_items > 1)


def predict_kernel(
    kernel: Kernel, problem: Problem, device: str | DeviceFacts, constants: Constants = FITTED
) -> Prediction:
    """All launches of a kernel, one after the other."""
    facts = find_device(device) if isinstance(device, str) else device
    steps = kernel.steps(kernel, kernel.config, problem)
    buffers, unset = starting_buffers(steps, problem)
    parts = []
    for step in steps:
        if step.config.ndrange(step.problem).empty:
            continue
        launch, code = launch_of_step(step, buffers, unset, facts)
        counted = count(launch, code, facts, constants)
        if (stop := counted.explanation.stop) is not None:
            raise Unsupported(
                f"{problem.title} is too long for one work-item: it goes through more than the {stop.steps:,} loop iterations "
                f"and calls that are run, which ended at line {stop.position.line}, so that the rest cannot be counted; give a "
                "smaller size"
            )
        for name, value in counted.explanation.outputs.items():
            buffers[step.buffer_of(name)] = value
            unset.discard(step.buffer_of(name))
        parts.append(timed(kernel.name, problem.title, counted, facts, constants, code.notes))
    if not parts:
        raise InvalidInput(f"{kernel.name}: nothing is launched for {problem.title}")
    return joined(parts)


GUESSED = (
    f"no machine code was read: {WITHOUT_CODE:.0f} instructions are assumed for each memory request or pass through a loop, "
    "whatever the kernel computes there"
)


def launch_of_step(
    step: Step, buffers: Mapping[str, np.ndarray], unset: Collection[str], facts: DeviceFacts
) -> tuple[SourceLaunch, Code]:
    """One step, and its machine code for the device's architecture."""
    inspection = inspect_step(step, facts.arch)
    form = next((each for each in ("SASS", "ISA") if each in inspection.texts), "")
    parse = {"SASS": parse_sass, "ISA": parse_gcn}.get(form)
    entry = step.kernel.signature.entry
    resources = inspection.resources
    code = Code(
        parse(inspection.texts[form], entry) if parse else None,
        resources.registers if resources else 32,
        resources.local_bytes if resources else step.config.local_bytes(step.problem),
        inspection.missing if parse else (*inspection.missing, GUESSED),
    )
    ndrange, arguments = step.config.ndrange(step.problem), arguments_of(step, buffers)
    launch = SourceLaunch(
        step.kernel.name, render(step.kernel, step.config, step.problem), step.kernel.name, entry,
        tuple(ndrange.global_size), tuple(ndrange.local_size), arguments,
        unset=[name for name in arguments if step.buffer_of(name) in unset], typed=step.kernel.launch is not None,
        standard=standard_of(step.kernel.options), offset=tuple(ndrange.offset), ragged=is_ragged(step.config),
    )  # fmt: skip
    return launch, code


def timed(
    kernel: str, problem: str, counted: Counted, facts: DeviceFacts, constants: Constants, notes: tuple[str, ...] = ()
) -> Prediction:
    """The prediction of one counted launch."""
    work = counted.work
    terms = tuple(sorted(terms_of(work, facts, constants), key=lambda each: -each.seconds))
    launch = facts.launch_us.value * 1e-6
    seconds = launch + combined(terms, work, facts, constants)
    spread = spread_of(counted, facts, notes)
    read, written, cold = dram_bytes(work.traffic)
    asked = max(work.miss_sectors, 1.0)
    said = notes
    if counted.explanation.private_accesses:
        said += ("private arrays lie off-chip: their traffic is not counted",)
    said += tuple(f"{name} is addressed by data: its traffic is estimated" for name in counted.irregular)
    return Prediction(
        kernel=kernel, problem=problem, device=facts.name, title=facts.title, seconds=seconds,
        low=seconds / spread, high=seconds * spread, launch_seconds=launch, terms=terms,
        l1_hits=counted.l1_hits, l2_hits=max(0.0, 1 - work.traffic.missed / asked),
        l2_bytes=round(SECTOR * (work.miss_sectors + work.memory.store_sectors)), dram_read_bytes=read,
        dram_written_bytes=written,
        cold_dram_read_bytes=cold, cold_l2_hits=max(0.0, 1 - work.traffic.cold_missed / asked),
        footprint_bytes=SECTOR * work.traffic.footprint, waves=work.groups / (work.resident * facts.multiprocessors.value),
        resident_groups=work.resident, notes=said,
    )  # fmt: skip


def spread_of(counted: Counted, facts: DeviceFacts, notes: tuple[str, ...]) -> float:
    """The factor of the range: wider for addresses from data, for devices whose rates were not measured, and without code."""
    factor = SPREAD * (IRREGULAR if counted.irregular else 1.0)
    measured = facts.dram_gbs.origin == "measured"
    return factor * (1.0 if measured else FOREIGN) * (WITHOUT if notes else 1.0)


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Several launches as one prediction; the bounds and caches are those of the longest."""
    longest = max(parts, key=lambda each: each.seconds)
    if len(parts) == 1:
        return longest
    return replace(
        longest,
        seconds=sum(each.seconds for each in parts),
        low=sum(each.low for each in parts),
        high=sum(each.high for each in parts),
        launch_seconds=sum(each.launch_seconds for each in parts),
        notes=(*longest.notes, f"{len(parts)} launches; the bounds are those of the longest"),
    )


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Predictions of one or several kernels, on one or several devices. `print` it: one in full, several as a table."""

    predictions: tuple[Prediction, ...]
    refused: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [str(self.predictions[0])] if len(self.predictions) == 1 else table(self.predictions)
        return "\n".join((*lines, *(f"not predicted: {each}" for each in self.refused)))

    def one_line(self) -> str:
        return "; ".join(each.one_line() for each in self.predictions)

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each prediction: seconds with their range, and the two largest bounds."""
        return [
            {"kernel": each.kernel, "problem": each.problem, "device": each.device, "seconds": each.seconds,
             "low_seconds": each.low, "high_seconds": each.high, "limiter": each.limiter.name, "runner_up": each.runner_up.name}
            for each in self.predictions
        ]  # fmt: skip


def table(predictions: Sequence[Prediction]) -> list[str]:
    """The predictions as a table, in their order."""
    head = ("kernel", "device", "time", "range", "limited by", "then")
    rows = [head] + [
        (each.kernel, each.device, seconds_text(each.seconds), f"{seconds_text(each.low)} - {seconds_text(each.high)}",
         each.limiter.name, each.runner_up.name)
        for each in predictions
    ]  # fmt: skip
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
