"""Measures a learner's kernel beside the solution on a device. Every launch gets new inputs and an output full of NaN, and is
checked: a kernel that skips work because it was done before gives wrong results."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from ...core.kernel import Kernel
from ...core.language import translated
from ...core.numbers import figure
from ...core.plan import plan_kernel
from ...core.problem import Problem, compulsory_bytes, random_arrays
from ...core.problems import make_problem
from ...core.records import RowStatus
from ...measurement.cases import CaseBuilder
from ...measurement.trial import FENCE_BYTES, tried_case
from ...runtime.device import Device
from ...runtime.run import Execution
from ...runtime.verify import Reference
from .grade import with_text
from .task import Task

ROUNDS = 5
SIDE = 256  # of the matrices: a learner waits a second or two


@dataclass(frozen=True)
class Speed:
    """Rates by the median of the rounds, in GFLOP/s or GB/s. `wrong` says what was wrong on the device, or is ""; `refused`
    says why the device could not be asked, which is no fault of the kernel."""

    device: str
    problem: str
    unit: str
    yours: float = 0.0
    solution: float = 0.0
    wrong: str = ""
    refused: str = ""

    def __str__(self) -> str:
        if self.wrong:
            return translated("wrong on {device}: {reason}", device=self.device, reason=self.wrong)
        if self.refused:
            return translated("{device}: not measured: {reason}", device=self.device, reason=self.refused)
        return translated(
            "{device}, {problem}: yours {yours} {unit}, the solution {solution} {unit}",
            device=self.device, problem=self.problem, yours=figure(self.yours), solution=figure(self.solution), unit=self.unit,
        )  # fmt: skip


def measure_speed(file: Path, task: Task, device: Device) -> Speed:
    """Run a learner's file on a device, first in a child process, then in turns with the solution."""
    learned = replace(task.rung, source=file)
    problem = make_problem(task.rung, tuple(SIDE for _ in task.size), task.rung.usual_dtype)
    unit = "GFLOP/s" if problem.flops else "GB/s"
    tried = tried_case(CaseBuilder(device, problem.dtype, fence_bytes=FENCE_BYTES), learned, problem, device)
    if tried.row.status in (RowStatus.REFUSED, RowStatus.NOT_HERE):
        return Speed(device.info.label, problem.title, unit, refused=tried.row.reason)
    if tried.row.status is not RowStatus.OK:
        return Speed(device.info.label, problem.title, unit, wrong=tried.row.reason)
    with TemporaryDirectory(prefix="tilewright-") as folder:
        solution = with_text(task.rung, task.solution, Path(folder))
        return _measured(learned, solution, problem, device, unit)


def _measured(learned: Kernel, solution: Kernel, problem: Problem, device: Device, unit: str) -> Speed:
    executions = [Execution(plan_kernel(each, problem, device.info), device) for each in (learned, solution)]
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        reference = Reference(problem, random_arrays(problem, secrets.randbits(64)))
        for execution, own in zip(executions, times, strict=True):
            execution.write(reference.arrays)
            execution.poison()
            own.append(execution.launch().device_s)
            verdict = reference.judge(execution.read())
            if not verdict.passed:
                return Speed(device.info.label, problem.title, unit, wrong=str(verdict))
    work = (problem.flops or compulsory_bytes(problem)) * 1e-9
    yours, best = (work / max(median(own), 1e-9) for own in times)
    return Speed(device.info.label, problem.title, unit, yours, best)
