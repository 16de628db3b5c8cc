"""How precisely products are computed: what may be asked instead of a type's own arithmetic, and the bound of each error.

The bounds follow Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InvalidInput
from .types import FLOAT8, element_type

if TYPE_CHECKING:
    import numpy as np  # imported where it is called: ladders are listed without it

# The types that have each precision beside their own arithmetic. A precision is chosen only if the caller asks for it.
PRECISIONS = {
    "tf32": ("float32",),
    "fp32_split": ("float32",),
    "fp8": FLOAT8,
}
TF32_FRACTION = 10  # bits of fraction that "tf32" leaves of float32's 23
FLOAT32_NORMAL = 2.0**-126  # the smallest normal number: truncation costs a subnormal number as much as this one
# What "fp8" may lose of |A| |B|: within 128 steps of k a tensor core adds four times, and cuts each product and each of its
# own sums off 13 bits below the largest.
FP8_LOSS = (128 + 4) * 2.0**-13


def check_precision(precision: str, dtype: str) -> None:
    """InvalidInput if a type does not have a precision; "" is every type's own arithmetic."""
    if precision and dtype not in PRECISIONS.get(precision, ()):
        supported = ", ".join(("ieee", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)))
        raise InvalidInput(f"{dtype} does not support precision={precision!r}; it supports {supported}")


def product_bound(a: np.ndarray, b: np.ndarray, dtype: str, precision: str = "") -> np.ndarray:
    """How far from A B a computed product may be, element by element: (k + 2) * eps * (|A| |B|) and what a precision adds.

    The bound holds for every order of summation, fused or not. eps is twice the unit roundoff. The factor two that is left
    covers the reference, which is rounded itself where the type is float64. "tf32" adds what the truncation of both factors
    costs, "fp8" what its tensor cores lose; "fp32_split" keeps float32's own bound.
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
    """What rounding to a type adds when it is shorter than its accumulator; 0 for the others."""
    import numpy as np

    kind = element_type(dtype)
    if kind.fraction == element_type(kind.accumulator).fraction:
        return 0.0
    rounding: np.ndarray = 2.0**-kind.fraction * np.abs(reference) + kind.least
    return rounding
