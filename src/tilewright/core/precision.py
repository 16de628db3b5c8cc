"""How precisely products are computed: the modes that a caller may ask for, and the error bound of each.

The bounds follow Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InvalidInput, quoted
from .types import FLOAT8, element_type

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

# The types that offer each mode in addition to their own arithmetic. A mode is used only if the caller asks for it.
PRECISIONS = {
    "tf32": ("float32",),
    "fp32_split": ("float32",),
    "fp8": FLOAT8,
    "reproducible": ("float32", "float64", "float16", "bfloat16"),
}
# The mode in which an element is one chain of fused multiply-adds in ascending k, on every device. Nothing else may stand for it.
REPRODUCIBLE = "reproducible"
TF32_FRACTION = 10  # bits of float32's 23-bit fraction that "tf32" keeps
FLOAT32_NORMAL = 2.0**-126  # the smallest normal number: truncation loses as much of a subnormal number as of this one
# The part of |A| |B| that "fp8" may lose. In 128 steps of k a tensor core adds four times. It truncates each product and
# each of its sums 13 bits below the largest.
FP8_LOSS = (128 + 4) * 2.0**-13


def check_precision(precision: str, dtype: str) -> None:
    """InvalidInput if a type does not offer a precision mode; "" stands for the type's own arithmetic."""
    if not isinstance(precision, str) or (precision and dtype not in PRECISIONS.get(precision, ())):
        supported = ", ".join(("ieee", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)))
        raise InvalidInput(f"{dtype} does not support precision={quoted(precision)}; it supports {supported}")


def product_bound(a: np.ndarray, b: np.ndarray, dtype: str, precision: str = "") -> np.ndarray:
    """The largest error of a computed A B, for each element: (k + 2) * eps * (|A| |B|), plus what a precision mode adds.

    The bound holds for every order of summation, fused or not. eps is twice the unit roundoff. This factor of two covers
    the reference, too, which is itself rounded for float64. "tf32" adds the error of truncating both factors, "fp8" the loss
    of its tensor cores. "fp32_split" keeps the bound of float32.
    """
    import numpy as np

    from .reference import float64_matmul

    size = float64_matmul(np.abs(a), np.abs(b))
    bound: np.ndarray = (a.shape[-1] + 2) * element_type(dtype).epsilon * size
    if precision == "tf32":
        normal = (np.where(x == 0, 0, np.maximum(np.abs(x), FLOAT32_NORMAL)) for x in (a, b))
        bound = bound + 2 * 2.0**-TF32_FRACTION * float64_matmul(*normal)
    if precision == "fp8":
        bound = bound + FP8_LOSS * size
    return bound


def storing_bound(dtype: str, reference: np.ndarray) -> np.ndarray | float:
    """The error of rounding sums to a type that is shorter than its accumulator; 0 for other types."""
    import numpy as np

    kind = element_type(dtype)
    if kind.fraction == element_type(kind.accumulator).fraction:
        return 0.0
    rounding: np.ndarray = 2.0**-kind.fraction * np.abs(reference) + kind.least
    return rounding
