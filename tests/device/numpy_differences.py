"""Which of NumPy's own tests `matmul` does not pass, and why: docs/numpy-differences.md has a heading for every kind.

A test that is listed must fail by its reason's exception, one that is not listed must pass: whichever changes is found.
Ids are those of tests/device/test_numpy_suite.py, whose classes are called as NumPy's.
"""

from dataclasses import dataclass

import numpy as np

from tilewright.dtypes import ELEMENT_TYPES
from tilewright.errors import InvalidInput, Unsupported


@dataclass(frozen=True)
class Reason:
    """Why tests fail: `kind` is a heading of the page, `raises` what they fail by."""

    kind: str
    raises: type[BaseException]


TYPES = Reason("Types without kernels are refused", Unsupported)
BYTES = Reason("int8 gives int32", AssertionError)
BYTES_INTO_BYTES = Reason("int8 gives int32", InvalidInput)
OPERATOR = Reason("An operand's own operator is not asked", Unsupported)
WORDS = Reason("Errors have other words", AssertionError)
REASONS = (TYPES, BYTES, BYTES_INTO_BYTES, OPERATOR, WORDS)

OURS = "befdFDi"  # NumPy's letters for the types that we have
NUMPYS = "?bhilqBHILQefdgFDGO"  # for all that NumPy multiplies

COMMON = (
    "test_exceptions", "test_shapes", "test_result_types", "test_scalar_output", "test_vector_vector_values",
    "test_vector_matrix_values", "test_matrix_vector_values", "test_matrix_matrix_values",
)  # fmt: skip


def _in_place(left: str, right: str) -> Reason | None:
    """What becomes of `left @= right`, given by their letters."""
    read = np.result_type(np.dtype(left), np.dtype(right)).name
    if read not in ELEMENT_TYPES:
        return TYPES
    return BYTES_INTO_BYTES if read == "int8" else None


IN_PLACE = {
    f"TestMatmulInplace::test_basic[{left}-{right}]": reason
    for left in NUMPYS
    for right in NUMPYS
    if np.can_cast(right, left) and (reason := _in_place(left, right)) is not None
}

DIFFERENCES: dict[str, Reason] = {
    **{f"{owner}::{name}": TYPES for owner in ("TestMatmul", "TestMatmulOperator") for name in COMMON},
    "TestMatmul::test_matmul_object": TYPES,
    "TestMatmul::test_matmul_object_type_scalar": TYPES,
    "TestMatmul::test_matmul_empty": TYPES,
    "TestMatmul::test_matmul_bool": TYPES,
    "TestMethods::test_matmul_out": TYPES,
    "test_matmul_axes": TYPES,
    "test_matmul": TYPES,
    **IN_PLACE,
    "TestMatmulOfBytes::test_result_types": BYTES,
    "TestMatmulOperator::test_array_priority_override": OPERATOR,
    "TestMatmul::test_out_arg": WORDS,
    "TestMatmul::test_empty_out": WORDS,
    "test_matrix_transpose": WORDS,
}
