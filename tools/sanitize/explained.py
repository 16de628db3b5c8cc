"""Runs cases under the project's own interpreter."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.analysis.explain.plans import scalars_of
from tilewright.analysis.explain.simt.launch_arguments import Argument
from tilewright.core.kernel import Step, render
from tilewright.errors import SourceError, Unsupported

from .memory import memory_of, scratch_of
from .shapes import Case
from .sweeps import cost

ALL_GROUPS_S = 20.0  # a case that takes longer is run by some of its work-groups


@dataclass(frozen=True)
class Outcome:
    """What one kernel did in one case: what is wrong with it, or why it was not run. Both are sentences, or ""."""

    kernel: str
    device: str
    problem: str
    fault: str = ""
    unread: str = ""
    seconds: float = 0.0


def explain_case(case: Case) -> list[Outcome]:
    """An outcome for each launch. After one that cannot be interpreted the others are not run: they would read its result."""
    memory = memory_of(case.problem)
    buffers = {**memory.buffers, **scratch_of(case.plan)}
    whole = cost(case) <= ALL_GROUPS_S
    outcomes: list[Outcome] = []
    steps = [step for step in case.plan.steps if not step.config.ndrange(step.problem).empty]
    for step in steps:
        begin = perf_counter()
        outcome = Outcome(step.kernel.name, case.device.name, str(case.problem))
        maps = step.config.tensor_maps(step.problem)
        try:
            if maps:
                raise Unsupported(f"{step.kernel.name}: {', '.join(maps)} are tensor maps of NVIDIA's TMA")
            found = explain_step(step, buffers, whole)
        except (SourceError, Unsupported) as unread:
            return [*outcomes, replace(outcome, unread=str(unread))]
        for name, value in found.outputs.items():
            buffers[step.buffer_of(name)] = value
        faults = "; ".join(map(str, found.faults))
        outcomes.append(replace(outcome, fault=faults, seconds=perf_counter() - begin))
    if outcomes and whole:
        wrong = memory.verdict(buffers[memory.output])
        last = outcomes[-1]
        outcomes[-1] = replace(last, fault="; ".join(filter(None, (last.fault, wrong))))
    return outcomes


def explain_step(step: Step, buffers: dict[str, np.ndarray], whole: bool) -> Explanation:
    """One launch, by all of its work-groups or by some."""
    ndrange, scalars = step.config.ndrange(step.problem), scalars_of(step)
    arguments: dict[str, Argument] = {
        each.name: buffers[step.buffer_of(each.name)] if each.pointer else scalars[each.name]
        for each in step.kernel.signature.parameters
    }
    return explain_source(
        render(step.kernel, step.config, step.problem),
        filename=step.kernel.name,
        entry=step.kernel.signature.entry,
        global_size=ndrange.global_size,
        local_size=ndrange.local_size,
        arguments=arguments,
        groups="all" if whole else None,
        typed=False,  # copies see all elements as integers
    )
