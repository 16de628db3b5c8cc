"""convert.cl as a Kernel, and another kernel with launches around it."""

from dataclasses import replace
from pathlib import Path

from ....core.kernel import Config, Kernel, Step, Steps
from ....core.problem import Problem
from ....core.types import FLOAT8
from ...copy import copy_steps
from ..config import PARTIAL
from ..reduction import REDUCE, reduction
from .config import ConvertConfig, WrapperConfig, conversion

HERE = Path(__file__).parent
UNSCALED = "unscaled"  # the scratch buffer of a product that is scaled by a launch of its own

CONVERT = Kernel(HERE / "convert.cl", ConvertConfig(), "conversion", dtypes=FLOAT8, steps=copy_steps)


def wrapper_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """Both operands converted, the other kernel's own launches, and one that scales, each if it is needed."""
    assert isinstance(config, WrapperConfig)
    call, inner = config.oriented(problem), config.inner
    steps: list[Step] = []
    renamed: dict[str, str] = {}
    for name in ("A", "B") if config.converts else ():
        renamed[name] = f"converted_{name}"
        for step in copy_steps(CONVERT, CONVERT.config, conversion(call, name)):
            steps.append(replace(step, buffers=(("input", name), ("output", renamed[name]))))
    if config.scales_afterwards(call):
        renamed["C"] = UNSCALED
    steps += [_renamed(step, renamed) for step in inner.steps(inner, inner.config, config.core(call))]
    if config.scales_afterwards(call):
        names = {**dict(call.buffers), PARTIAL: UNSCALED}
        steps.append(Step(REDUCE, reduction(1), call, tuple(names.items())))
    return tuple(steps)


def _renamed(step: Step, names: dict[str, str]) -> Step:
    """The step with buffers of other names."""
    pointers = {each.name for each in step.kernel.signature.parameters if each.pointer}
    arguments = sorted(pointers | {each.name for each in step.problem.operands})
    buffers = ((each, names.get(step.buffer_of(each), step.buffer_of(each))) for each in arguments)
    return replace(step, buffers=tuple(buffers))


def wrapped(inner: Kernel, converts: bool) -> Kernel:
    """A kernel that does a product by `inner`, which multiplies fp16 if this one `converts` 8-bit operands."""
    source, dtypes = (CONVERT.source, FLOAT8) if converts else (REDUCE.source, inner.dtypes)
    return Kernel(
        source, WrapperConfig(inner, converts), variant=inner.name, dtypes=dtypes, requires=inner.requires, steps=wrapper_steps,
        scales=True,
    )  # fmt: skip
