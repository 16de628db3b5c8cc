"""Compares a result with its reference: a sentence about the first difference, or nothing."""

from dataclasses import replace

import numpy as np

from .references import Expected, extremes
from .types import plain_name

# What rounding to a type costs, of a number's size, and the smallest number that it holds well. 8-bit floats are not here:
# of results that are cast to them, only what happens around them is looked at.
ROUNDING = {
    "float16": (2.0**-10, 2.0**-14), "bfloat16": (2.0**-7, 2.0**-126), "float32": (2.0**-23, 2.0**-126),
    "complex64": (2.0**-23, 2.0**-126), "float64": (2.0**-52, 2.0**-1022), "complex128": (2.0**-52, 2.0**-1022),
}  # fmt: skip


def judge_product(result: np.ndarray, expected: Expected, written: str) -> str:
    """Why a product's result is wrong; "" if it is right. `written` names the product's own type; an `out` of another
    one costs one more rounding."""
    if result.shape != expected.values.shape:
        return f"the result has the shape {result.shape} instead of {expected.values.shape}"
    stored = plain_name(result.dtype)
    with np.errstate(all="ignore"):
        if stored != written:
            if stored not in ROUNDING and result.dtype.kind not in "iu":
                return ""
            expected = _cast(expected, result.dtype, stored)
        wrong = (
            _different(result, expected) if expected.bound is None else _outside(result, expected, (written, stored))
        )
    if not wrong.any():
        return ""
    first = tuple(map(int, np.argwhere(wrong)[0]))
    limit = 0.0 if expected.bound is None else float(np.broadcast_to(expected.bound, wrong.shape)[first])
    return (
        f"{int(wrong.sum())} of {wrong.size} elements are wrong; the first, {list(first)}, is {result[first]} "
        f"instead of {expected.values[first]}, which may be missed by {limit:.3g}"
    )


def _cast(expected: Expected, dtype: np.dtype, name: str) -> Expected:
    """The reference for a result that is converted once more."""
    if expected.bound is None:
        return replace(expected, values=np.asarray(expected.values.astype(dtype)))
    part, least = ROUNDING[name]
    size = np.abs(np.where(np.isfinite(expected.values), expected.values, 0))
    return replace(expected, bound=np.asarray(expected.bound + part * (size + expected.bound) + least))


def _different(result: np.ndarray, expected: Expected) -> np.ndarray:
    """Where two arrays differ; NaN is NaN."""
    return np.asarray((result != expected.values) & ~((result != result) & (expected.values != expected.values)))


def _outside(result: np.ndarray, expected: Expected, types: tuple[str, str]) -> np.ndarray:
    """Where an element is neither within its bound nor of the class that it should be."""
    values, bound = expected.values, np.broadcast_to(np.asarray(expected.bound), expected.values.shape)
    got = result.astype(np.complex128 if values.dtype.kind == "c" or result.dtype.kind == "c" else np.float64)
    most = min(extremes(name)[0] for name in types)
    near = np.abs(got - values) <= bound
    beyond = np.abs(values) + bound >= most  # rounds to an infinity, perhaps
    if got.dtype.kind == "c":
        right = near | (~np.isfinite(values) & ~np.isfinite(got)) | (beyond & ~np.isfinite(got))
    else:
        same = (got == values) | (np.isnan(got) & np.isnan(values))
        right = np.where(np.isfinite(values), near | (beyond & (got == np.sign(values) * np.inf)), same)
    if expected.loose is not None:
        unknown = np.broadcast_to(expected.loose, values.shape)
        right = right | (unknown & ~(np.isfinite(values) & np.isfinite(got)))
    return np.asarray(~right)


def judge_move(result: np.ndarray, expected: np.ndarray) -> str:
    """Why a moved array is wrong, bit by bit; "" if it is right."""
    if result.shape != expected.shape:
        return f"the result has the shape {result.shape} instead of {expected.shape}"
    one, other = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (result, expected))
    if one.dtype.itemsize and result.dtype.char in "gG":  # padding inside of elements has no value
        itemsize = 16
        one, other = (each.reshape(-1, itemsize)[:, :10] for each in (one, other))
    wrong = np.flatnonzero((one != other).reshape(-1))
    if not wrong.size:
        return ""
    each = expected.dtype.itemsize
    first = tuple(map(int, np.unravel_index(int(wrong[0]) // each, expected.shape)))
    return f"elements are wrong; the first, {list(first)}, is {result[first]!r} instead of {expected[first]!r}"
