"""The child processes of `tilewright tune`: some build candidates, one verifies and measures them. They print JSON lines.

Stages, all with the problem's key: "trying" before a candidate is built and launched for the first time, "failed" with
a complaint, "won" with the table's entry, "nothing" if no candidate is right, "over" when the time budget is.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ...core.kernel import Kernel
from ...core.plan import Plan, plan_kernel
from ...core.problem import Gemm, random_arrays
from ...dispatch.tuned import Entry, key_of
from ...errors import BuildFailed, DevicePoisoned, LaunchFailed, Unsupported
from ...runtime.opencl.device import Device, open_device
from ...runtime.run import Execution, LoadedPlan
from ...runtime.verify import Reference, SampledReference, reference_for, verify_execution
from ..measure import BurstWorkload, measure_interleaved
from .candidates import name_of, tuning_candidates

WHOLE_FLOPS = 2**32  # larger results are verified on some rows and columns, to save time


def tell(stage: str, **facts: object) -> None:
    print(json.dumps({"stage": stage, **facts}), flush=True)


@dataclass
class ReadyCandidate:
    """A candidate that was right, ready to be measured."""

    kernel: Kernel
    workload: BurstWorkload
    worst_ratio: float

    @property
    def execution(self) -> Execution:
        return self.workload.execution


def plan_alone(kernel: Kernel, problem: Gemm, device: Device) -> Plan:
    """The plan of this candidate alone."""
    return plan_kernel(replace(kernel, smaller=()), problem, device.info)


def prepare(
    kernel: Kernel, problem: Gemm, device: Device, reference: Reference | SampledReference, inputs: Execution | None
) -> ReadyCandidate | None:
    """Build, run and verify a candidate. None, and a complaint, if it fails. A poisoned context ends the process.

    All candidates read the operands of the first that was right, `inputs`, because uploading takes longer than the rest.
    """
    key = key_of(problem)
    tell("trying", problem=key, candidate=name_of(kernel))
    try:
        execution = Execution(plan_alone(kernel, problem, device), device, inputs)
        verdict = verify_execution(execution, reference, uploaded=inputs is not None)
        if verdict.passed:
            return ReadyCandidate(kernel, BurstWorkload(execution), verdict.worst_ratio)
        complaint = verdict.reason
    except DevicePoisoned:
        raise
    except (BuildFailed, LaunchFailed, Unsupported) as failure:
        complaint = str(failure)
    tell("failed", problem=key, complaint=f"{name_of(kernel)}: {complaint}")
    return None


def in_memory_order(problem: Gemm, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays in the memory order of each operand, so that uploads need no transpose."""
    orders = {operand.name: operand.order for operand in problem.operands}
    return {
        name: np.asfortranarray(array) if orders[name] == "column" and array.ndim == 2 else array
        for name, array in arrays.items()
    }


def measure_candidates(problem: Gemm, device: Device, skip: Sequence[str], seconds: float, candidates: int) -> None:
    """Measure the first `candidates` for `seconds`, those that are right, and report the winner."""
    reference = reference_for(problem, in_memory_order(problem, random_arrays(problem)), WHOLE_FLOPS)
    ready: list[ReadyCandidate] = []
    for kernel in islice(tuning_candidates(problem, device.info, skip), candidates):
        candidate = prepare(kernel, problem, device, reference, ready[0].execution if ready else None)
        ready += [candidate] if candidate is not None else []
    if ready and ready[0].execution.spoiled_inputs(reference.arrays):
        tell("failed", problem=key_of(problem), complaint="one of the candidates wrote into its inputs")
        ready = []
    if not ready:
        tell("nothing", problem=key_of(problem))
        return
    medians = [each.median for each in measure_interleaved([each.workload for each in ready], seconds)]
    place = medians.index(min(medians))
    won = ready[place]
    name, config = won.kernel.name, won.kernel.config.key
    entry = Entry(key_of(problem), name, config, medians[place], medians[0], won.worst_ratio)
    tell("won", problem=entry.problem, entry=asdict(entry))


def build_all(builds: Sequence[tuple[Gemm, str]], device: Device, candidates: int) -> None:
    """Build candidates by name, so that the measuring child finds them in the caches.

    What fails here fails again there, and is reported there.
    """
    named: dict[Gemm, dict[str, Kernel]] = {}
    for problem, name in builds:
        if problem not in named:
            first = islice(tuning_candidates(problem, device.info), candidates)
            named[problem] = {name_of(kernel): kernel for kernel in first}
        try:
            LoadedPlan(plan_alone(named[problem][name], problem, device), device)
        except (BuildFailed, LaunchFailed, Unsupported):
            continue


def main(task: dict[str, Any]) -> None:
    begin, device = perf_counter(), open_device(task["device"])
    problems = [Gemm(**fields) for fields in task["problems"]]
    if "builds" in task:
        builds = [(problems[index], name) for index, name in task["builds"]]
        build_all(builds, device, task["candidates"])
        return
    for problem, skip in zip(problems, task["skip"], strict=True):
        if perf_counter() - begin > task["time_budget"]:
            tell("over")
            return
        measure_candidates(problem, device, skip, task["seconds"], task["candidates"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
