"""Inputs for the interpreter that tell one mistake from another, and the result that it computed."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.plan import Plan
from ..core.problem import Problem, output_of, random_arrays
from .explain import Explanation


def telling_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """Random inputs that tell one mistake from another."""
    return scaled(random_arrays(problem))


def scaled(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Random inputs of which floating-point ones reach up to 4, so that sums which are cut to whole numbers are not all 0."""
    return {name: array * array.dtype.type(8) if array.dtype.kind in "fc" else array for name, array in arrays.items()}


def output_in(plan: Plan, explanations: Sequence[Explanation]) -> np.ndarray | None:
    """The interpreted result in its shape; None if no launch writes the output."""
    output = output_of(plan.problem)
    found = [
        array
        for step, explanation in zip(plan.steps, explanations, strict=False)
        for argument, array in explanation.outputs.items()
        if step.buffer_of(argument) == output.name
    ]
    return output.unflatten(found[-1]) if found else None
