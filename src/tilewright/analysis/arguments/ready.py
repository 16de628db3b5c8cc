"""Makes a user's kernel ready to launch: finds what each of its arguments gets, and guesses what nobody said."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...core.arguments import check_arguments
from ...core.binding import Binding
from ...core.custom import Geometry
from ...core.kernel import Kernel
from ...core.own_problem import OWN, size_names
from ...core.problem import Problem
from ...core.problems import make_problem
from ...core.sizes import Size, as_size
from ...core.source import Signature, parse_signature
from ...errors import InvalidInput, TilewrightError
from ..explain.clc.tree import Function, Program
from .guess import dimensions, group_for
from .named import bound_to_problem
from .own import own_binding
from .signature import parsed, signature_of

SAMPLE = 64  # the side of the problem whose names the kernel's arguments may have
GEMM_SIDES = {1: ("M",), 2: ("M", "N"), 3: ("M", "N", "1")}
COPY_SIDES = {1: ("COLUMNS",), 2: ("COLUMNS", "ROWS"), 3: ("COLUMNS", "ROWS", "1")}


def ready_kernel(kernel: Kernel, size: Size | None = None, dtype: str | None = None) -> Kernel:
    """The kernel with a Binding and with sizes, if it is of a user's file; every other kernel as it is.

    A kernel whose arguments have the names of a problem's operands and sizes solves that problem. Every other kernel gets a
    problem of its own. `size` gives M, N, K, ROWS and COLUMNS to expressions. InvalidInput and UnknownName say which argument
    is wrong, SourceError what cannot be read.
    """
    if kernel.launch is None or not isinstance(kernel.config, Geometry) or kernel.binding is not None:
        return kernel
    chosen = kernel.usual_dtype if dtype is None else dtype
    sides = as_size(size) if size is not None else ()
    if is_plain(kernel):
        return kernel
    names = size_names(sides)
    program, entry = parsed(kernel, _macros(kernel, names), chosen)
    signature = signature_of(entry)
    named = _with_signature(kernel, signature)
    if kernel.launch.bind or kernel.launch.problem_given or (not kernel.launch.own_words and fits(named)):
        geometry, options = _guessed_sides(kernel, program, entry)
        binding, geometry = bound_to_problem(replace(named, config=geometry), entry, names)
        return replace(kernel, config=geometry, binding=replace(binding, options=" ".join(options)))
    binding, geometry = own_binding(kernel, program, entry, signature, names, chosen)
    return replace(kernel, operation=OWN, config=geometry, binding=binding)


def _macros(kernel: Kernel, names: Mapping[str, int]) -> dict[str, str | int]:
    assert isinstance(kernel.config, Geometry)
    return kernel.config.macros(_Sizes(names))  # type: ignore[arg-type]  # only its sizes are looked at


class _Sizes:
    """The names that `--size` gives, where a problem is expected."""

    def __init__(self, names: Mapping[str, int]) -> None:
        self.scalars: dict[str, Any] = dict(names)


def is_plain(kernel: Kernel) -> bool:
    """Whether nothing has to be found: the file holds one kernel, whose arguments have the names of the problem, and both
    sizes are given."""
    launch, config = kernel.launch, kernel.config
    assert launch is not None
    assert isinstance(config, Geometry)
    if launch.entry or launch.arguments or launch.bind or launch.init or launch.expect:
        return False
    if not config.global_size or not config.local_size:
        return False
    try:
        parse_signature(kernel.text, kernel.name)
    except InvalidInput:
        return False
    return launch.problem_given or fits(kernel)


def _with_signature(kernel: Kernel, signature: Signature) -> Kernel:
    return replace(kernel, binding=Binding(signature))


def fits(kernel: Kernel) -> bool:
    """Whether the problem has a value for each of the kernel's arguments."""
    problem: Problem = make_problem(kernel, (SAMPLE,))
    kernel = replace(kernel, launch=None)  # only names are looked at: types that do not fit are refused later
    try:
        for step in kernel.steps(kernel, kernel.config, problem):
            check_arguments(step, [each.name for each in problem.operands], problem.scalars)
    except TilewrightError:
        return False
    return bool(kernel.signature.parameters)


def _guessed_sides(kernel: Kernel, program: Program, entry: Function) -> tuple[Geometry, list[str]]:
    """The geometry of a gemm, transpose or copy with what was not given, and the options that say so."""
    config = kernel.config
    assert isinstance(config, Geometry)
    options, dims = [], len(config.global_size or config.local_size) or dimensions(program, entry)
    whole, group = config.global_size, config.local_size
    if group == ("auto",):
        dims = len(whole) or dimensions(program, entry)
    if not whole:
        whole = (GEMM_SIDES if kernel.operation == "gemm" else COPY_SIDES)[min(dims, 3)]
        options.append(f"--global {','.join(whole)}")
    if not group:
        group = tuple(map(str, group_for(entry, min(len(whole), 3))))
        options.append(f"--local {','.join(group)}")
    return replace(config, global_size=whole, local_size=group), options
