"""What a compiler gets: the whole program of each launch of a rung, for host programs of the user's own."""

from collections.abc import Iterator
from dataclasses import replace

from ..core.kernel import Config, Kernel, Step, render
from ..core.problem import Problem
from ..core.sizes import Size
from ..core.source import Parameter
from .explanations import ANY_DEVICE, check_constraints, problem_of


def programs_of(kernel: Kernel, size: Size | None) -> Iterator[str]:
    """The program of each launch, after a comment with its sizes, its arguments and their memory orders."""
    problem = problem_of(kernel, size, None, 0)
    kernel = replace(kernel, config=fitting_config(kernel, problem))
    for step in kernel.steps(kernel, kernel.config, problem):
        ndrange = step.config.ndrange(step.problem)
        arguments = ", ".join(_argument(step, each) for each in step.kernel.signature.parameters)
        yield (
            f"// {step.kernel.name} for {problem.title}, as tilewright launches it:\n"
            f"// kernel {step.kernel.signature.entry}, global size {_sides(ndrange.global_size)}, "
            f"local size {_sides(ndrange.local_size)}\n"
            f"// arguments: {arguments}\n"
            f"{render(step.kernel, step.config, step.problem)}"
        )


def fitting_config(kernel: Kernel, problem: Problem) -> Config:
    """The first configuration that takes the problem on some device. Unsupported, with the first one's reason, if none does."""
    for config in kernel.configs:
        if not any(True for _ in config.violations(problem, ANY_DEVICE)):
            return config
    check_constraints(kernel, problem)
    return kernel.config


def _argument(step: Step, parameter: Parameter) -> str:
    """ "M = 256", or "B (the buffer BT, 65,536 bytes, by columns)"."""
    name = parameter.name
    if not parameter.pointer:
        return f"{name} = {({**step.problem.scalars, **step.config.scalars(step.problem)})[name]}"
    buffer = step.buffer_of(name)
    operand = next((each for each in step.problem.operands if each.name == name), None)
    facts = [f"the buffer {buffer}"] if buffer != name else []
    facts += [f"{operand.nbytes:,} bytes, by {operand.order}s"] if operand is not None else []
    return f"{name} ({', '.join(facts)})" if facts else name


def _sides(sides: tuple[int, ...]) -> str:
    return " x ".join(map(str, sides))
