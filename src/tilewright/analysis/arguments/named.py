"""Binds the arguments of a gemm, transpose or copy that have other names than its operands and sizes."""

from collections.abc import Mapping
from dataclasses import replace

from ...core.binding import Binding, Pointer
from ...core.custom import Geometry
from ...core.kernel import Kernel
from ...core.problem import Problem, output_of
from ...core.problems import make_problem
from ...errors import InvalidInput, UnknownName
from ..explain.clc.tree import Function
from ..explain.clc.types import Pointer as PointerType
from .buffers import pointer_for
from .elements import number_of, value_of
from .signature import signature_of


def bound_to_problem(kernel: Kernel, entry: Function, names: Mapping[str, int]) -> tuple[Binding, Geometry]:
    """The binding by the pairs of `--bind`, and the geometry with what `--arg` gives to arguments that are no operand: local
    memory, null, numbers. A bound number has the value of the problem's size.

    UnknownName for a parameter or operand that does not exist; InvalidInput for a buffer among the arguments.
    """
    launch = kernel.launch
    assert launch is not None
    problem = make_problem(kernel, (64,))
    buffers, sizes, given = _bound(kernel, entry, problem)
    kinds = {each.name: each.type for each in entry.parameters}
    pointers: list[tuple[str, Pointer]] = []
    values: list[tuple[str, int | float | complex | bytes]] = []
    for name, word in given.items():
        kind = kinds[name]
        if not isinstance(kind, PointerType):
            values.append((name, value_of(name, kind, word, names)))
            continue
        found = pointer_for(name, kind, word, names, {}, tuple(kinds))
        if isinstance(found, str):
            buffers[name] = buffers.get(found, found)
        elif isinstance(found, Pointer):
            pointers.append((name, found))
        else:
            raise InvalidInput(
                f"{name}: a {kernel.operation} has the buffers {', '.join(each.name for each in problem.operands)}; say which "
                f"one it is by --bind {name}={problem.operands[0].name}, or leave --problem and --bind out"
            )
    initial = tuple(
        (buffers.get(name, name), _initial(problem, buffers.get(name, name), word)) for name, word in launch.init
    )
    binding = Binding(signature_of(entry), None, tuple(buffers.items()), tuple(pointers), initial=initial)
    assert isinstance(kernel.config, Geometry)
    return binding, replace(kernel.config, values=tuple(values), renamed=tuple(sizes.items()))


def _initial(problem: Problem, name: str, given: object) -> float:
    """The number that fills an output. InvalidInput for an input, and for what is no number."""
    output = output_of(problem).name
    if name != output:
        raise InvalidInput(
            f"--init {name}=...: {name} is an input, and its contents decide the result; only {output} can be filled"
        )
    return float(number_of(str(given), {}, f"--init {name}"))


def _bound(
    kernel: Kernel, entry: Function, problem: Problem
) -> tuple[dict[str, str], dict[str, str], dict[str, object]]:
    """From `--bind`: the buffer of each pointer, the size of each number, and what else was given."""
    launch = kernel.launch
    assert launch is not None
    kinds = {each.name: each.type for each in entry.parameters}
    operands = [each.name for each in problem.operands]
    buffers: dict[str, str] = {}
    sizes: dict[str, str] = {}
    given: dict[str, object] = dict(launch.arguments)
    for name in (*given, *(each for each, _ in launch.bind), *(each for each, _ in launch.init)):
        if name not in kinds and name not in operands:
            raise UnknownName(f"parameter of {entry.name}", name, kinds)
    for name, target in launch.bind:
        if target.startswith("local:"):
            given[name] = target
        elif isinstance(kinds[name], PointerType):
            if target not in operands:
                raise UnknownName(f"operand of a {kernel.operation}", target, operands)
            buffers[name] = target
        elif target in problem.scalars:
            sizes[name] = target
        else:
            raise UnknownName(f"size of a {kernel.operation}", target, problem.scalars)
    return buffers, sizes, given
