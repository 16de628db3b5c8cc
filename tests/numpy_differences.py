"""Which of NumPy's own tests `matmul` does not pass, and why: docs/reference/numpy-differences.md has a heading for every kind.

A test that is listed must fail by its reason's exception, one that is not listed must pass: whichever changes is found.
Ids are those of tests/device/library/test_numpy_suite.py, whose classes are called as NumPy's.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from tilewright.core.types import ELEMENT_TYPES
from tilewright.errors import UnsupportedType


@dataclass(frozen=True)
class Reason:
    """Why tests fail: `kind` is a heading of the page, `raises` what they fail by."""

    kind: str
    raises: type[BaseException]


TYPES = Reason("Types without kernels are refused", UnsupportedType)
BYTES = Reason("int8 gives int32", AssertionError)
OPERATOR = Reason("Operators of operands are not called", UnsupportedType)
WORDS = Reason("Error messages differ", AssertionError)

OURS = "?bhilqBHILQefdFD"  # NumPy's letters for the types that we have
NUMPYS = "?bhilqBHILQefdgFDGO"  # for all that NumPy multiplies

COMMON = (
    "test_exceptions", "test_shapes", "test_result_types", "test_scalar_output", "test_vector_vector_values",
    "test_vector_matrix_values", "test_matrix_vector_values", "test_matrix_matrix_values",
)  # fmt: skip


def _has_product(left: str, right: str) -> bool:
    """Whether we multiply two types, given by their letters."""
    return np.result_type(np.dtype(left), np.dtype(right)).name in ELEMENT_TYPES


IN_PLACE = [
    f"TestMatmulInplace::test_basic[{left}-{right}]"
    for left, right in product(NUMPYS, repeat=2)
    if np.can_cast(right, left) and not _has_product(left, right)
]

DIFFERENCES: dict[str, Reason] = {
    **{f"{owner}::{name}": TYPES for owner in ("TestMatmul", "TestMatmulOperator") for name in COMMON},
    "TestMatmul::test_matmul_object": TYPES,
    "TestMatmul::test_matmul_object_type_scalar": TYPES,
    "TestMatmul::test_matmul_empty": TYPES,
    **dict.fromkeys(("TestMatmul::test_result_types", "TestMatmulOperator::test_result_types"), BYTES),
    **dict.fromkeys(IN_PLACE, TYPES),
    "TestMatmulOfBytes::test_result_types": BYTES,
    "TestMatmulOperator::test_array_priority_override": OPERATOR,
    "TestMatmul::test_out_arg": WORDS,
    "TestMatmul::test_empty_out": WORDS,
    "test_matrix_transpose": WORDS,
}
