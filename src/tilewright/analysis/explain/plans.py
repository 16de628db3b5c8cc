"""Explains the launches of rungs and plans: renders each, binds its buffers by name, and passes results on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial as bound
from typing import Any

import numpy as np

from ...core.arguments import check_arguments
from ...core.binding import Local, Null, Part
from ...core.custom import Geometry
from ...core.kernel import Config, Kernel, Step, render
from ...core.own_problem import own_problem_of
from ...core.plan import Plan
from ...core.problem import Problem, inputs_of, output_of, random_arrays
from ...core.source import Parameter
from ...core.types import element_type, numpy_dtype
from ...errors import UnknownName
from .clc import standard_of
from .explain import Groups, PrintedExplanation, explain_source
from .models import NVIDIA, Model
from .simt.images import argument_of
from .simt.launch import STEP_LIMIT
from .simt.launch_arguments import Argument, LocalMemory
from .simt.machine import Watch, not_watched
from .simt.tensor_maps import encode


def explain_kernel(
    kernel: Kernel,
    problem: Problem,
    *,
    config: Config | None = None,
    model: Model = NVIDIA,
    groups: Groups = None,
    arrays: Mapping[str, np.ndarray] | None = None,
    macros: Mapping[str, str | int] | None = None,
    pitches: Mapping[str, int] | None = None,
    contract: bool = False,
    step_limit: int = STEP_LIMIT,
    partial: bool = False,
    watch: Watch = not_watched,
) -> tuple[PrintedExplanation, ...]:
    """Explain every launch of a rung or library kernel on `problem`, in order; the last one is the kernel itself.

    `arrays` are the problem's inputs (random by default, and small where int32 is multiplied). Launches pass their results
    on. So with groups="all" the last Explanation's `outputs` hold the whole result, flat, as it lies in memory. `macros`
    replace those of the configuration and `pitches` the row lengths of local arrays, in the last launch, for what-if
    questions.
    """
    steps = kernel.steps(kernel, config or kernel.config, problem)
    return explain_steps(
        steps, problem, model=model, groups=groups, arrays=arrays, macros=macros, pitches=pitches, contract=contract,
        step_limit=step_limit, partial=partial, watch=watch,
    )  # fmt: skip


def explain_steps(
    steps: Sequence[Step],
    problem: Problem,
    *,
    model: Model = NVIDIA,
    groups: Groups = None,
    arrays: Mapping[str, np.ndarray] | None = None,
    macros: Mapping[str, str | int] | None = None,
    pitches: Mapping[str, int] | None = None,
    contract: bool = False,
    step_limit: int = STEP_LIMIT,
    partial: bool = False,
    watch: Watch = not_watched,
    zeroed_output: bool = False,
) -> tuple[PrintedExplanation, ...]:
    """As `explain_kernel`, for the launches of a Plan. A launch that needs more than `step_limit` loop steps raises
    SourceError, or ends early if it may be `partial`. With `zeroed_output` the output holds zeros before the first launch."""
    buffers, unset = starting_buffers(steps, problem, arrays, zeroed_output)
    explain = bound(
        explain_step,
        model=model,
        groups=groups,
        contract=contract,
        step_limit=step_limit,
        partial=partial,
        watch=watch,
    )
    explanations: list[PrintedExplanation] = []
    for step in steps:
        if step.config.ndrange(step.problem).empty:
            continue
        changes = (macros or {}, pitches or {}) if step is steps[-1] else ({}, {})
        explanations.append(explain(step, buffers, unset, changes))
        for name, value in explanations[-1].outputs.items():
            buffers[step.buffer_of(name)] = value
            unset.discard(step.buffer_of(name))
    return tuple(explanations)


def starting_buffers(
    steps: Sequence[Step],
    problem: Problem,
    arrays: Mapping[str, np.ndarray] | None = None,
    zeroed_output: bool = False,
) -> tuple[dict[str, np.ndarray], set[str]]:
    """The buffers before the first launch, by name, and those of them that have no contents."""
    own = own_problem_of(problem)
    buffers = own.typed_arrays() if own is not None else first_buffers(problem, arrays or small_arrays(problem))
    plan = Plan(problem, tuple(steps))
    for name, nbytes in plan.scratch.items():
        buffers[name] = _poison(-(-nbytes // element_type(problem.dtype).itemsize), problem.dtype)
        if name in plan.zeroed:
            buffers[name][...] = 0
    unset = set(plan.scratch).difference(plan.zeroed)
    if own is not None:
        unset.update(own.unset)
    elif output_of(problem).name not in {operand.name for operand in inputs_of(problem)}:
        unset.add(output_of(problem).name)
    for name, number in plan.initial.items():
        unset.discard(name)
        buffers[name][...] = number
    if zeroed_output and own is None:
        unset.discard(output_of(problem).name)
        buffers[output_of(problem).name][...] = 0
    return buffers, unset


def small_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """Random operands. Those of int32 products are small, so that their sums fit into a signed integer."""
    arrays = random_arrays(problem)
    if problem.operation != "gemm" or problem.dtype != "int32":
        return arrays
    return {name: array % np.int32(100) for name, array in arrays.items()}


def first_buffers(problem: Problem, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The problem's operands as they lie in memory. An output that is not read first is poisoned."""
    buffers = {operand.name: operand.flatten(np.asarray(arrays[operand.name])) for operand in inputs_of(problem)}
    output = output_of(problem)
    if output.name in buffers:
        return buffers
    buffers[output.name] = _poison(output.elements, output.dtype)
    return buffers


def _poison(elements: int, dtype: str) -> np.ndarray:
    filled = np.empty(elements, numpy_dtype(dtype))
    filled.view(np.uint8)[...] = 0xA5 if element_type(dtype).exact else 0xFF
    return filled


def explain_step(
    step: Step,
    buffers: Mapping[str, np.ndarray],
    unset: set[str],
    changes: tuple[Mapping[str, str | int], Mapping[str, int]],
    **how: Any,
) -> PrintedExplanation:
    """Explain one launch. `how` are further arguments of `explain_source`."""
    ndrange = step.config.ndrange(step.problem)
    arguments = arguments_of(step, buffers)
    explanation = explain_source(
        override(render(step.kernel, step.config, step.problem), changes[0]),
        filename=step.kernel.name,
        entry=step.kernel.signature.entry,
        global_size=ndrange.global_size,
        local_size=ndrange.local_size,
        arguments=arguments,
        pitches=changes[1],
        unset=[name for name in arguments if step.buffer_of(name) in unset],
        offset=ndrange.offset,
        ragged=is_ragged(step.config),
        typed=step.kernel.launch is not None,
        standard=standard_of(step.kernel.options),
        **how,
    )
    return replace(explanation, buffers=dict(step.buffers))


def is_ragged(config: Config) -> bool:
    """Whether the NDRange may end with smaller work-groups."""
    return isinstance(config, Geometry) and config.ragged


def arguments_of(step: Step, buffers: Mapping[str, np.ndarray]) -> dict[str, Argument]:
    """The values of a step's arguments, in their order."""
    scalars = scalars_of(step)
    maps = step.config.tensor_maps(step.problem)
    check_arguments(step, buffers, scalars, maps)
    return {
        each.name: encode(maps[each.name], each.name)
        if each.name in maps
        else pointer_value(step, each, buffers)
        if each.pointer
        else argument_of(scalars[each.name])
        for each in step.kernel.signature.parameters
    }


def pointer_value(step: Step, parameter: Parameter, buffers: Mapping[str, np.ndarray]) -> Argument:
    """What a pointer argument gets: an array, a part of one, local memory or None. Arguments of one buffer get one array."""
    pointer = step.pointer_of(parameter.name)
    if isinstance(pointer, Null):
        return None
    if isinstance(pointer, Local):
        return LocalMemory(pointer.nbytes)
    array = buffers[step.buffer_of(parameter.name)]
    if not isinstance(pointer, Part):
        return array
    part: np.ndarray = array.reshape(-1).view(np.uint8)[pointer.offset :]
    return part.view(array.dtype) if part.nbytes % array.dtype.itemsize == 0 else part


def scalars_of(step: Step) -> dict[str, Any]:
    """The values of a step's scalar arguments. alpha and beta are complex if the elements are."""
    scalars: dict[str, Any] = {**step.problem.scalars, **step.config.scalars(step.problem)}
    if element_type(step.problem.dtype).kind == "complex":
        scalars |= {name: complex(scalars[name]) for name in ("alpha", "beta") if name in scalars}
    return scalars


def override(source: str, macros: Mapping[str, str | int]) -> str:
    """A rendered source with new values of some leading `#define`s; UnknownName if it lacks one."""
    lines = source.split("\n")
    known: dict[str, int] = {}
    for index, line in enumerate(lines):
        words = line.split()
        if len(words) < 2 or words[0] != "#define":
            break
        known[words[1]] = index
    for name, value in macros.items():
        if name not in known:
            raise UnknownName("macro", name, known)
        lines[known[name]] = f"#define {name} {value}"
    return "\n".join(lines)
