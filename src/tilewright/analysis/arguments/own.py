"""The problem of a kernel whose arguments are its own: buffers and numbers of the user's words, and guesses for the rest."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from ...core.argument_words import BufferWord, LaunchWords, read_word
from ...core.binding import Binding, Local, Part
from ...core.custom import AUTO, Geometry, likely_local
from ...core.kernel import Kernel, NDRange
from ...core.own_problem import OwnProblem
from ...core.problems import make_problem
from ...core.source import Signature
from ...errors import InvalidInput, TilewrightError, UnknownName
from ..explain.clc.tree import Function, Program
from ..explain.clc.types import Pointer as PointerType
from ..explain.clc.types import Scalar, Space, Struct, Vector
from ..explain.simt.images import argument_of
from ..explain.simt.launch_arguments import Argument, LocalMemory
from .buffers import contents_of, expected_array
from .elements import default_text, short_name
from .extent import touched_bytes
from .found import Found
from .guess import SIDES, dimensions, group_for, size_for
from .images import guessed_word, is_image

LEAST_LOCAL = 4  # bytes


def own_binding(
    kernel: Kernel, program: Program, entry: Function, signature: Signature, names: Mapping[str, int], dtype: str
) -> tuple[Binding, Geometry]:
    """The binding of every argument, and the geometry with what was not given. Each guess is an option of the binding."""
    launch, geometry = kernel.launch, kernel.config
    assert launch is not None
    assert isinstance(geometry, Geometry)
    _check_names(entry, launch)
    found = Found(program, entry, {**names, **_macro_sizes(geometry)})
    given = dict(launch.arguments)
    _take_numbers(found, given)
    later = found.take_known(given)
    geometry = _with_sizes(kernel, program, found, given, dtype)
    _guess_numbers(found, _asked(kernel, geometry, _problem(found, dtype)))
    problem = _problem(found, dtype)
    for name in later:  # their sizes use numbers that nobody gave
        found.take(name, given[name])
    _guess_buffers(found, program, geometry.ndrange(problem))
    found.check_shared()
    _apply_contents(found, launch)
    expected = {name: expected_array(found.own_buffer(name, "--expect"), value) for name, value in launch.expect}
    problem = replace(_problem(found, dtype), expected=expected or None)
    binding = Binding(
        signature, problem, tuple(found.shared.items()), tuple(found.pointers.items()), " ".join(found.guessed)
    )
    return binding, geometry


def _asked(kernel: Kernel, geometry: Geometry, problem: OwnProblem) -> tuple[int, ...]:
    """The global size before it is rounded up. InvalidInput for a name in it that is no number of the kernel's, size or macro."""
    try:
        return geometry.asked(problem)
    except UnknownName as error:
        operands = make_problem(replace(kernel, operation="gemm"), (1,)).operands
        pairs = zip((each.name for each in problem.buffers), (each.name for each in operands), strict=False)
        example = ",".join(f"{name}={operand}" for name, operand in pairs) or "a=A,b=B,c=C"
        raise InvalidInput(
            f"{error}. {problem.entry} is no gemm by its parameters' names: --size gives M, N and K, --arg NAME=NUMBER a number, "
            f"and --bind {example} says that it is a gemm"
        ) from error


def _problem(found: Found, dtype: str) -> OwnProblem:
    return OwnProblem(found.entry.name, tuple(found.buffers.values()), dict(found.values), dict(found.names), dtype)


def _check_names(entry: Function, launch: LaunchWords) -> None:
    known = [each.name for each in entry.parameters]
    for name, _ in (*launch.arguments, *launch.init, *launch.expect):
        if name not in known:
            raise UnknownName(f"parameter of {entry.name}", name, known)


def _macro_sizes(geometry: Geometry) -> dict[str, int]:
    return {name: int(value) for name, value in geometry.defines if value.lstrip("-").isdecimal()}


def _take_numbers(found: Found, given: Mapping[str, object]) -> None:
    """Values of scalars, vectors and structs. An expression may use arguments that stand after it."""
    waiting = {
        each.name: each.type
        for each in found.entry.parameters
        if each.name in given and not isinstance(each.type, PointerType)
    }
    while waiting:
        failed: TilewrightError | None = None
        before = len(waiting)
        for name, kind in list(waiting.items()):
            try:
                value = found.value(name, kind, given[name])
            except TilewrightError as error:
                failed = failed or error
                continue
            found.values[name] = value
            if isinstance(value, int):
                found.names[name] = value
            del waiting[name]
        if failed is not None and len(waiting) == before:
            raise failed


def _with_sizes(kernel: Kernel, program: Program, found: Found, given: Mapping[str, object], dtype: str) -> Geometry:
    """The geometry with a global and a local size."""
    geometry = kernel.config
    assert isinstance(geometry, Geometry)
    whole, group = geometry.global_size, geometry.local_size
    asked = bool(whole)
    if not whole:
        dims = len(group) if group and group != AUTO else dimensions(program, found.entry)
        if not 1 <= dims <= 3:
            raise InvalidInput(f"--local {','.join(group)}: a work-group has 1 to 3 dimensions")
        whole = tuple(map(str, _sides_of_buffers(found, given, dims) or (SIDES[dims],) * dims))
        found.guessed.append(f"--global {','.join(whole)}")
    if not group:
        needed = found.entry.work_group is not None or not asked
        sides = (
            group_for(found.entry, min(len(whole), 3))
            if needed
            else likely_local(_asked(kernel, replace(geometry, local_size=AUTO), _problem(found, dtype)))
        )
        group = tuple(map(str, sides))
        found.guessed.append(f"--local {','.join(group)}")
    return replace(geometry, global_size=whole, local_size=group)


def _sides_of_buffers(found: Found, given: Mapping[str, object], dims: int) -> tuple[int, ...]:
    """The sides of the largest buffer that was given, x first, if it has as many."""
    words = {name: read_word(word) for name, word in given.items() if isinstance(word, str)}
    shapes = [
        each.shape[: len(word.sides)] if isinstance(word := words.get(name), BufferWord) else each.shape
        for name, each in found.buffers.items()
    ]
    best = max(shapes, key=prod, default=())
    if dims == 1 and best:
        return (prod(best),)
    return tuple(reversed(best)) if len(best) == dims else ()


def _guess_numbers(found: Found, global_size: tuple[int, ...]) -> None:
    for each in found.entry.parameters:
        if isinstance(each.type, PointerType) or each.name in found.values:
            continue
        whole = (
            isinstance(each.type, Scalar) and not each.type.is_float and each.type.size > 1 and not is_image(each.type)
        )
        side = size_for(each.name, global_size)
        text = str(side) if whole else default_text(each.type, global_size[0])
        if is_image(each.type):
            text = guessed_word(each.name, each.type, global_size, found.program, found.entry)
        found.values[each.name] = found.value(each.name, each.type, text)
        if whole:
            found.names[each.name] = side
        quote = "'" if set(text) & set("(){}") else ""
        found.guessed.append(f"--arg {quote}{each.name}={text}{quote}")


def _guess_buffers(found: Found, program: Program, ndrange: NDRange) -> None:
    """Buffers that nobody gave, as large as the kernel's accesses need."""
    kinds = found.pointer_types
    known = {*found.buffers, *found.shared, *found.pointers}
    unknown = {name: kind.space is Space.LOCAL for name, kind in kinds.items() if name not in known}
    if not unknown:
        return
    touched = touched_bytes(program, found.entry.name, ndrange, _arguments(found, unknown), unknown)
    indices = any(_is_index(kind) for kind in kinds.values())
    items = prod(ndrange.global_size)
    for name, local in unknown.items():
        kind, size = kinds[name], kinds[name].target.size
        elements = -(-touched.get(name, 0) // size)
        if local:
            text = f"local:{max(LEAST_LOCAL, elements * size) if name in touched else ndrange.group_items * size}"
        else:
            least = items if name not in touched or indices else 1
            text = f"{short_name(kind.target)}[{max(elements, least)}]"
        found.take(name, text)
        found.guessed.append(f"--arg {name}={text}")


def _is_index(kind: PointerType) -> bool:
    """Whether it points to integers that the kernel may use as indices: random ones stay below the smallest buffer."""
    target = kind.target.element if isinstance(kind.target, Vector) else kind.target
    if isinstance(target, Struct):
        return True
    return kind.space is not Space.LOCAL and isinstance(target, Scalar) and not target.is_float and target.size > 1


def _arguments(found: Found, unknown: Mapping[str, bool]) -> dict[str, Argument]:
    """What the interpreter binds, as far as it is known; arguments of unknown buffers get null."""
    arrays = _problem(found, "float32").typed_arrays()
    values: dict[str, Argument] = {**{name: argument_of(each) for name, each in found.values.items()}, **arrays}
    for name, pointer in found.pointers.items():
        if isinstance(pointer, Local):
            values[name] = LocalMemory(pointer.nbytes)
        elif isinstance(pointer, Part) and pointer.buffer in arrays:
            values[name] = arrays[pointer.buffer].reshape(-1).view(np.uint8)[pointer.offset :]
        else:
            values[name] = None
    values |= {name: arrays.get(other) for name, other in found.shared.items()}
    return {name: value for name, value in values.items() if name not in unknown}


def _apply_contents(found: Found, launch: LaunchWords) -> None:
    for name, given in launch.init:
        buffer = found.own_buffer(name, "--init")
        found.buffers[buffer.name] = replace(buffer, contents=contents_of(buffer, given, found.names))
