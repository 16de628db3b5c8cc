"""Checks the arguments of a launch, which are bound by name: each has a value, and a user's pointers have the right type."""

from collections.abc import Collection, Iterable, Sequence

from ..errors import InvalidInput
from .kernel import Step
from .own_problem import OWN
from .source import Parameter


def check_arguments(step: Step, buffers: Collection[str], scalars: Collection[str], maps: Collection[str] = ()) -> None:
    """InvalidInput names all arguments of a step's kernel without a value, the names that have one, and what to do.

    `buffers`, `scalars` and `maps` (tensor maps) are the names that have values.
    """
    if step.kernel.launch is not None and step.problem.operation != OWN:
        check_types(step)
    missing = [
        each
        for each in step.kernel.signature.parameters
        if each.name not in maps
        and step.pointer_of(each.name) is None
        and (step.buffer_of(each.name) not in buffers if each.pointer else each.name not in scalars)
    ]
    if not missing:
        return
    local = [each.name for each in missing if each.pointer == "local"]
    if local:
        raise InvalidInput(
            f"{step.kernel.name}: the argument {local[0]!r} points to local memory, which cannot be given from outside; "
            "declare the array inside of the kernel"
        )
    raise InvalidInput(
        f"{step.kernel.name}: no value for {_quoted(missing)}. Arguments are bound by name: buffers are "
        f"{', '.join(buffers)}, numbers are {', '.join(scalars)}. Rename the arguments in the kernel"
        f"{_advice(missing, buffers, scalars)}"
    )


# The types of elements that a user's pointer to each type of OpenCL C may get.
ELEMENTS_OF = {
    "float": ("float32", "complex64"), "double": ("float64", "complex128"), "half": ("float16",),
    "char": ("int8", "uint8"), "uchar": ("uint8", "int8", "bool", "float8_e4m3fn", "float8_e5m2"),
    "short": ("int16", "uint16", "float16", "bfloat16"), "ushort": ("uint16", "int16", "float16", "bfloat16"),
    "int": ("int32", "uint32"), "uint": ("uint32", "int32"), "long": ("int64", "uint64"), "ulong": ("uint64", "int64"),
}  # fmt: skip


def check_types(step: Step) -> None:
    """InvalidInput for a pointer to elements of another type than its buffer's: an `int *` never gets floats."""
    dtypes = {each.name: each.dtype for each in step.problem.operands}
    for each in step.kernel.signature.parameters:
        kind = ELEMENTS_OF.get(each.ctype.rstrip("0123456789"))
        dtype = dtypes.get(step.buffer_of(each.name), "")
        if not each.pointer or kind is None or not dtype or dtype in kind:
            continue
        advice = f"give --dtype {kind[0]}, or make it a pointer to REAL" if kind else "use another type of elements"
        raise InvalidInput(
            f"{step.kernel.name}: {each.name} is a {each.ctype} *, and the elements of {step.buffer_of(each.name)} are {dtype}: "
            f"{advice}"
        )


def _quoted(missing: Sequence[Parameter]) -> str:
    word = "argument" if len(missing) == 1 else "arguments"
    return f"the {word} {', '.join(repr(each.name) for each in missing)}"


def _advice(missing: Iterable[Parameter], buffers: Iterable[str], scalars: Iterable[str]) -> str:
    """Names that differ in nothing but capitals."""
    known = {False: {each.lower(): each for each in scalars}, True: {each.lower(): each for each in buffers}}
    pairs = [(each.name, known[bool(each.pointer)].get(each.name.lower(), "")) for each in missing]
    same = [f"{name} to {other}" for name, other in pairs if other]
    return f", such as {', '.join(same)}" if same else ""
