"""Which results a product can have: pairs of element types, and activations, that have a meaning and a kernel."""

from collections.abc import Iterator

from ...core.types import element_type, storable
from .call import GemmCall


def result_violations(call: GemmCall) -> Iterator[str]:
    """What no configuration can do: pairs of element types, and activations, that have no meaning or no kernel."""
    allowed = storable(call.dtype)
    if call.result not in allowed:
        yield f"{call.dtype} operands give {' or '.join(sorted(allowed))}, not {call.result}"
    smooth = call.activation not in ("", "relu")
    if smooth and element_type(call.dtype).exact:
        yield f"{call.activation} of integers is no integer"
    if call.activation and element_type(call.result).kind == "boolean":
        yield f"{call.activation} is not defined for bool"
    if call.activation and call.dtype.startswith("complex"):
        yield f"{call.activation} is not defined for complex numbers"
