"""Measures, for each shape, the library's choice, other candidates of its plan, and other libraries, in interleaved rounds.

A time is that of a whole call on host arrays, as callers see it. On an NVIDIA GPU with PyTorch `tensors.py` measures instead.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from tilewright.core.files import write_atomically
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm
from tilewright.core.records import Environment, Role, Row, RowStatus, load
from tilewright.core.types import numpy_dtype
from tilewright.errors import WrongResult
from tilewright.library.engine import Call
from tilewright.library.memory.host import HostMemory
from tilewright.measurement.baselines import Measurement
from tilewright.measurement.cases import Case, CaseBuilder, judged, measure_cases, new_row
from tilewright.measurement.library import by_columns, call_case, layout_letters
from tilewright.measurement.measure import RepeatedCall, repeated
from tilewright.runtime.environment import read_environment
from tilewright.runtime.load import OtherLoad
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Times, Work

from . import tensors
from .plans import Other, Shape, named, plans_of
from .shapes import drawn

FORMAT = 1


@dataclass(frozen=True)
class Regret:
    """The record: `drawn` shapes were asked for, and `shapes` were measured before the time was over."""

    regret_of: str  # the element type
    environment: Environment
    drawn: int
    seed: int
    seconds_each: float
    shapes: tuple[Shape, ...]
    format: int = FORMAT


class PlanWorkload:
    """One plan on host arrays, run as the library runs its own."""

    def __init__(self, plan: Plan, problem: Gemm, arrays: dict[str, np.ndarray], device: Device) -> None:
        self._memory, self._call = HostMemory(device, None), Call([plan], device)
        output = problem.operands[2]
        self.output = np.zeros(output.shape, numpy_dtype(output.dtype))
        self._timer = RepeatedCall(self._call_once)
        self._arrays = {
            each.name: by_columns(arrays[each.name]) if each.order == "column" else arrays[each.name]
            for each in problem.operands[:2]
        }

    def run(self) -> Times:
        return Times(0.0, self._timer.seconds())

    def _call_once(self) -> None:
        self._memory.run(self._call, {**self._arrays, "C": self.output}, "C", False)

    def sustain(self, seconds: float) -> Work:
        return repeated(self, seconds)


def measured_shape(
    kind: str, problem: Gemm, device: Device, candidates: int, seconds: float, without: str = ""
) -> Shape:
    """Everything about one shape, verified before it is timed."""
    start = Shape(kind, problem.title, layout_letters(problem))
    builder = CaseBuilder(device, problem.dtype)
    with ExitStack() as stack:
        found = builder.baseline_cases(Measurement.LIBRARY, problem, stack, without)
        rivals = [each for each in found if each.row.backend != "cuda"]  # these times would be without copies
        ours = call_case(builder, problem, device)
        if ours.row.status is not RowStatus.OK:
            return _without(start, f"{ours.row.status}: {ours.row.reason}")
        first, *others = plans_of(problem, device, candidates)
        plans = [first, *others] if ours.row.lesson else others  # where NumPy was called, our first plan is another one
        cases = [_host_case(builder, plan, problem, device) for plan in plans[:candidates]]
        measure_cases([ours, *cases, *rivals], seconds, True, lambda index, row: None)
    return Shape(
        kind, start.title, start.layout, ours.row.lesson or named(first),
        median(ours.row.samples.times), len(ours.row.samples.times),
        tuple(_against(ours.row, cases, start.title)), tuple(_against(ours.row, rivals, start.title)),
    )  # fmt: skip


def _without(shape: Shape, reason: str) -> Shape:
    return Shape(shape.kind, shape.title, shape.layout, reason=reason)


def _host_case(builder: CaseBuilder, plan: Plan, problem: Gemm, device: Device) -> Case:
    reference = builder.reference(problem)
    workload = PlanWorkload(plan, problem, dict(reference.arrays), device)
    workload.run()
    return judged(new_row(named(plan), "", problem), workload, reference.judge(workload.output))


def _against(ours: Row, cases: list[Case], title: str) -> list[Other]:
    """The cases that passed, by the medians of pairs with our runs."""
    found = []
    for case in cases:
        times = case.row.samples.times
        if case.row.status is RowStatus.OK and times:
            pairs = zip(times, ours.samples.times, strict=False)
            found.append(Other(case.row.name, round(median(one / own for one, own in pairs), 4)))
        elif case.row.role is not Role.BASELINE and case.row.status is RowStatus.WRONG:
            raise WrongResult(f"{case.row.name} is wrong for {title}: {case.row.reason}")
    return found


def measured(
    dtype: str, device: Device, shapes: int, seed: int, candidates: int, seconds: float, budget: float,
    watch: Callable[[Shape], None], without: str = "",
) -> Regret:  # fmt: skip
    """The record of up to `shapes` shapes, fewer if `budget` seconds are over before. At least one is measured, beside libraries
    whose names do not begin with `without`."""
    load_, begin = OtherLoad(), perf_counter()
    found: list[Shape] = []
    on_tensors = tensors.takes(dtype, device.info.features)
    for _, (kind, problem) in zip(range(shapes), drawn(dtype, device.info.kind, seed), strict=False):
        found.append(
            tensors.measured_shape(kind, problem, candidates)
            if on_tensors
            else measured_shape(kind, problem, device, candidates, seconds, without)
        )
        watch(found[-1])
        if perf_counter() - begin > budget:
            break
    environment = read_environment(device.info, load_.cores())
    return Regret(dtype, environment, shapes, seed, seconds, tuple(found))


def load_regret(path: Path) -> Regret:
    """Read a record; RecordError says what is wrong with the file."""
    return load(path, Regret, "a record of regret")


def save_regret(record: Regret, path: Path) -> None:
    import msgspec

    write_atomically(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
