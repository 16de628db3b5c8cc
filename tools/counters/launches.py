"""The launches that are compared: each as OpenCL C for the prediction and as CUDA C++ for the GPU, with its arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.analysis.explain.clc import parse_program
from tilewright.analysis.explain.clc.types import Pointer, Scalar, Vector
from tilewright.analysis.explain.models import NVIDIA
from tilewright.analysis.explain.plans import first_buffers, scalars_of
from tilewright.analysis.explain.simt import Argument
from tilewright.core.kernel import Dialect, Step, render
from tilewright.core.plan import Plan
from tilewright.core.problem import Problem, output_of, random_arrays

# Where the source promises no alignment (vload4), an optimising compiler for NVIDIA issues element after element.
NARROW = replace(NVIDIA, assumes_alignment=False)
SEED = 0


@dataclass(frozen=True)
class Launch:
    """One launch. `arguments` maps the kernel's parameters, in their order, to a number or a buffer's name."""

    title: str
    file: str  # as the source's lines are named, "tiles/02_tiled.cl"
    entry: str
    opencl: str
    cuda: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Mapping[str, Any]

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(size // own for size, own in zip(self.global_size, self.local_size, strict=True))


@dataclass(frozen=True)
class Case:
    """Launches over shared buffers, the values that these start with, and the output with what it should be."""

    name: str
    kind: str
    launches: tuple[Launch, ...]
    buffers: Mapping[str, np.ndarray]
    output: str = ""
    expected: np.ndarray | None = None
    bound: Any = 0.0
    notes: tuple[str, ...] = field(default=())

    def check(self, result: np.ndarray) -> str:
        """ "right", or what is wrong with the output that a GPU computed, as it lies in memory."""
        if self.expected is None:
            return "not checked"
        error = np.abs(result.astype(np.complex128) - self.expected)
        bad = ~(error <= self.bound)
        return "right" if not bad.any() else f"wrong in {int(bad.sum())} of {bad.size} elements"


def case_of_steps(name: str, kind: str, steps: Sequence[Step], problem: Problem) -> Case:
    """A kernel of the project on a problem, with random operands."""
    arrays = random_arrays(problem, SEED)
    buffers = dict(first_buffers(problem, arrays))
    plan = Plan(problem, tuple(steps))
    for scratch, nbytes in plan.scratch.items():
        buffers[scratch] = np.full(-(-nbytes // 16) * 4, 0 if scratch in plan.zeroed else 0xFFFFFFFF, np.uint32)
    output = output_of(problem)
    reference = problem.reference(arrays)
    bound = np.broadcast_to(np.asarray(problem.error_bound(arrays, reference)), reference.shape)
    return Case(
        name,
        kind,
        tuple(launch_of(f"{name} launch {number}", step) for number, step in enumerate(steps, 1)),
        buffers,
        output.name,
        output.flatten(reference),
        output.flatten(bound),
    )


def launch_of(title: str, step: Step) -> Launch:
    kernel, ndrange = step.kernel, step.config.ndrange(step.problem)
    scalars = scalars_of(step)
    arguments = {
        each.name: step.buffer_of(each.name) if each.pointer else scalars[each.name]
        for each in kernel.signature.parameters
    }
    return Launch(
        title,
        f"{kernel.source.parent.name}/{kernel.source.name}",
        kernel.signature.entry,
        render(kernel, step.config, step.problem, Dialect.OPENCL),
        render(kernel, step.config, step.problem, Dialect.CUDA),
        ndrange.global_size,
        ndrange.local_size,
        arguments,
    )


def typed_arguments(launch: Launch) -> list[Any]:
    """The arguments in order: buffers by name, numbers as NumPy scalars of the parameter's own type."""
    function = parse_program(launch.opencl, launch.file, {}, ()).functions[launch.entry]
    values: list[Any] = []
    for parameter in function.parameters:
        given = launch.arguments[parameter.name]
        if isinstance(parameter.type, Pointer):
            values.append(given)
        elif isinstance(parameter.type, Scalar):
            values.append(parameter.type.dtype.type(given))
        else:
            assert isinstance(parameter.type, Vector)
            values.append(np.result_type(parameter.type.element.dtype, np.complex64).type(given))
    return values


def predict(case: Case, narrow: bool) -> list[Explanation]:
    """Every launch explained, all work-groups of it, each with the buffers as the one before left them."""
    buffers = dict(case.buffers)
    explanations: list[Explanation] = []
    for launch in case.launches:
        arguments: dict[str, Argument] = {
            name: buffers[given] if isinstance(given, str) else given for name, given in launch.arguments.items()
        }
        explanation = explain_source(
            launch.opencl,
            filename=launch.file,
            entry=launch.entry,
            global_size=launch.global_size,
            local_size=launch.local_size,
            arguments=arguments,
            model=NARROW if narrow else NVIDIA,
            groups="all",
            typed=False,  # copies see all elements as integers
        )
        for name, value in explanation.outputs.items():
            buffers[launch.arguments[name]] = value
        explanations.append(explanation)
    return explanations
