"""Which results a product can have: pairs of element types, and activations, that have a meaning and a kernel."""

from collections.abc import Iterator

from ...dtypes import element_type
from .call import GemmCall


def result_violations(call: GemmCall) -> Iterator[str]:
    """What no configuration can do: pairs of element types, and activations, that have no meaning or no kernel."""
    short = {"float32", "float16", "bfloat16"}
    brief = call.dtype in short or call.dtype.startswith("float8")
    allowed = short if brief else {call.dtype, element_type(call.dtype).accumulator}
    if call.result not in allowed:
        yield f"{call.dtype} operands give {' or '.join(sorted(allowed))}, not {call.result}"
    smooth = call.activation not in ("", "relu")
    if smooth and element_type(call.dtype).exact:
        yield f"{call.activation} of integers is no integer"
    if call.activation and call.dtype.startswith("complex"):
        yield f"{call.activation} is not defined for complex numbers"
