"""The child process of `tilewright tune`: problems' candidates verified and raced; one JSON line for each stage.

Stages, all with the problem's key: "trying" before a candidate is built and launched for the first time, "failed" with a
complaint, "won" with the table's entry, "nothing" if no candidate is right.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from ..backend.opencl import Device, open_device
from ..choice import product_candidates
from ..errors import BuildFailed, DevicePoisoned, LaunchFailed, Unsupported
from ..kernel import Kernel
from ..measure import BurstEntrant, race
from ..plan import plan_kernel, violations
from ..problem import Gemm, random_arrays
from ..run import Execution
from ..tuned import Entry, key_of
from ..verify import Reference, SampledReference, reference_for, verify_execution

MOST_CUTS = 2  # candidates that differ in nothing but the number of pieces of K


def tell(stage: str, **facts: object) -> None:
    print(json.dumps({"stage": stage, **facts}), flush=True)


def name_of(kernel: Kernel) -> str:
    return f"{kernel.name} ({kernel.config})"


def contestants(problem: Gemm, device: Device, skip: Sequence[str]) -> Iterator[Kernel]:
    """The plan's candidates that nothing speaks against: of each family in turn the most promising one."""
    families: dict[Path, list[Kernel]] = {}
    cuts: Counter[str] = Counter()
    for kernel in product_candidates(problem, device.info):
        if name_of(kernel) in skip or any(violations(kernel, kernel.config, problem, device.info)):
            continue
        shape = re.sub(r"\bsplit=\d+", "", name_of(kernel))
        cuts[shape] += 1
        if cuts[shape] <= MOST_CUTS:
            families.setdefault(kernel.source.parent, []).append(kernel)
    for together in zip_longest(*families.values()):
        yield from (kernel for kernel in together if kernel is not None)


@dataclass
class Contestant:
    """A candidate that was right, ready to race."""

    kernel: Kernel
    entrant: BurstEntrant
    worst_ratio: float


def enter(kernel: Kernel, problem: Gemm, device: Device, reference: Reference | SampledReference) -> Contestant | None:
    """Build, run and judge a candidate; None, and a complaint, if it fails. A poisoned context ends the process."""
    key = key_of(problem)
    tell("trying", problem=key, candidate=name_of(kernel))
    try:
        execution = Execution(plan_kernel(replace(kernel, smaller=()), problem, device.info), device)
        verdict = verify_execution(execution, reference)
        if verdict.passed:
            return Contestant(kernel, BurstEntrant(execution), verdict.worst_ratio)
        complaint = verdict.reason
    except DevicePoisoned:
        raise
    except (BuildFailed, LaunchFailed, Unsupported) as failure:
        complaint = str(failure)
    tell("failed", problem=key, complaint=f"{name_of(kernel)}: {complaint}")
    return None


def race_problem(problem: Gemm, device: Device, skip: Sequence[str], seconds: float, candidates: int) -> None:
    """Race the first `candidates` that are right for `seconds`, and tell the winner."""
    reference = reference_for(problem, random_arrays(problem))
    chosen = islice(contestants(problem, device, skip), candidates)
    ready = [each for kernel in chosen if (each := enter(kernel, problem, device, reference)) is not None]
    if not ready:
        tell("nothing", problem=key_of(problem))
        return
    medians = [each.median for each in race([each.entrant for each in ready], seconds)]
    place = medians.index(min(medians))
    won = ready[place]
    name, config = won.kernel.name, str(won.kernel.config)
    entry = Entry(key_of(problem), name, config, medians[place], medians[0], won.worst_ratio)
    tell("won", problem=entry.problem, entry=asdict(entry))


def main(task: dict[str, Any]) -> None:
    device = open_device(task["device"])
    for fields, skip in zip(task["problems"], task["skip"], strict=True):
        race_problem(Gemm(**fields), device, skip, task["seconds"], task["candidates"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
