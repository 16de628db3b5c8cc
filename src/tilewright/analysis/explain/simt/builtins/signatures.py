"""Which of a builtin's functions a call means: there is one for each type of elements, and Clang's rules choose among them."""

from collections.abc import Sequence

from ...clc.tree import Call
from ...clc.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    Scalar,
    Vector,
)
from ..compiled_code import Code
from ..overloads import Given, conversions, is_better
from .common import numeric

SIGNED = (CHAR, SHORT, INT, LONG)
UNSIGNED = (UCHAR, USHORT, UINT, ULONG)
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = (FLOAT, DOUBLE, HALF)
NUMBERS = (*INTEGERS, *FLOATS)

Parameters = tuple[Scalar, ...]


def meeting(codes: Sequence[Code], call: Call, elements: Sequence[Scalar]) -> Scalar | Vector:
    """The one type of all parameters, for a function that there is for each of `elements` and for vectors of them."""
    numeric(codes, call)
    vectors = [code.type for code in codes if isinstance(code.type, Vector)]
    if vectors:
        return _one_vector(vectors, call, elements)
    for each in elements:
        if all(code.type == each and not code.wide for code in codes):
            return each
    return chosen(codes, call, [(element,) * len(codes) for element in elements])[0]


def _one_vector(vectors: Sequence[Vector], call: Call, elements: Sequence[Scalar]) -> Vector:
    if any(each != vectors[0] for each in vectors):
        raise call.position.error(f"{call.name} takes vectors of one type, not {' and '.join(map(str, vectors))}")
    if vectors[0].element not in elements:
        raise call.position.error(f"{call.name} takes {_named(elements)}, not {vectors[0]}")
    return vectors[0]


def chosen(codes: Sequence[Code], call: Call, candidates: Sequence[Parameters]) -> Parameters:
    """The candidate that fits scalar arguments best; an error if none fits better than all others."""
    numeric(codes, call)
    given = [Given(code.type, False, code.wide) for code in codes]
    found = [(each, conversions(each, given)) for each in candidates]
    fitting = [(each, ways) for each, ways in found if ways is not None]
    for each, ways in fitting:
        if all(is_better(ways, other) for _, other in fitting if other is not ways):
            return each
    types = f"{call.name}({', '.join('long long' if code.wide else str(code.type) for code in codes)})"
    if not fitting:
        raise call.position.error(f"{types} does not exist in OpenCL C")
    raise call.position.error(
        f"{types} is ambiguous: there is none of these types, and several are as near; {_advice(codes)}"
    )


def _advice(codes: Sequence[Code]) -> str:
    return "cast the argument" if len(codes) == 1 else "cast the arguments to one type"


def _named(elements: Sequence[Scalar]) -> str:
    if len(elements) < 4 and elements != FLOATS:
        return " and ".join(map(str, elements))
    return "floating-point numbers" if elements == FLOATS else "signed integers" if elements == SIGNED else "integers"
