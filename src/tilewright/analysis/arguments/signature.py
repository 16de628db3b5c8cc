"""The typed signature of a kernel's entry: found after preprocessing, so that `#if`, macros and typedefs are understood."""

from collections.abc import Mapping

from ...core.includes import with_includes
from ...core.kernel import Kernel, type_macros
from ...core.source import Parameter, Signature, parse_signature, speaks_of_real, without_comments
from ...errors import InvalidInput, SourceError
from ..explain.clc import parse_program
from ..explain.clc.tree import Function, Program
from ..explain.clc.types import Pointer, Scalar, Space
from ..explain.explain import choose_entry


def parsed(kernel: Kernel, macros: Mapping[str, str | int], dtype: str) -> tuple[Program, Function]:
    """The program of a user's file, and its chosen entry.

    If the front end cannot read the file's functions, the entry's head alone is read, with an empty body. SourceError, of
    the whole file, if that cannot be read either; InvalidInput for several kernels without a chosen one.
    """
    launch = kernel.launch
    entry = launch.entry if launch is not None else None
    folders = launch.include if launch is not None else ()
    every = {**(type_macros(dtype) if speaks_of_real(kernel.text) else {}), **macros}
    text = with_includes(kernel.text, kernel.source, every, folders)
    try:
        program = parse_program(text, kernel.name, every)
        name = chosen(program, entry, str(kernel.source))
        return program, program.functions[name]
    except SourceError as refusal:
        try:
            found = parse_signature(text, str(kernel.source), entry)
            program = parse_program(head_alone(text, found.entry), kernel.name, every)
            return program, program.functions[found.entry]
        except InvalidInput as other:
            raise (refusal if isinstance(other, SourceError) else other) from None


def chosen(program: Program, entry: str | None, filename: str) -> str:
    """The entry's name. InvalidInput, with all names and the option, for several kernels without a chosen one."""
    if entry is None and len(program.kernels) > 1:
        raise InvalidInput(
            f"{filename} holds {len(program.kernels)} kernels ({', '.join(program.kernels)}); choose one, such as --entry "
            f"{program.kernels[0]}"
        )
    return choose_entry(program, entry, filename)


def head_alone(text: str, entry: str) -> str:
    """A program of the entry's head alone, with an empty body."""
    code = without_comments(text)
    at = code.index(entry + "(") if entry + "(" in code else code.index(entry)
    begin = max(code.rfind("__kernel", 0, at), code.rfind("kernel ", 0, at))
    return code[begin : code.index(")", at) + 1] + " { }\n"


def signature_of(function: Function) -> Signature:
    """The signature as plans bind it: C types by their own names, vectors and structs as bytes."""
    return Signature(function.name, tuple(_parameter(each.name, each.type) for each in function.parameters))


def _parameter(name: str, kind: object) -> Parameter:
    if isinstance(kind, Pointer):
        space = "local" if kind.space is Space.LOCAL else "global"
        return Parameter(name, str(kind.target), space, kind.constant or kind.space is Space.CONSTANT)
    return Parameter(name, str(kind), raw=not isinstance(kind, Scalar))
