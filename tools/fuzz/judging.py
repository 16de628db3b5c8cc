"""Compares what came with what should have come: one sentence about the first difference, or nothing."""

import numpy as np

from .references import Expected, extremes


def judge_product(result: np.ndarray, expected: Expected, written: str) -> str:
    """Why a product's result is wrong; "" if it is right."""
    if result.shape != expected.values.shape:
        return f"the result has the shape {result.shape} instead of {expected.values.shape}"
    if result.size == 0:
        return ""
    if expected.bound is None:
        wrong = np.asarray(result != expected.values)
    else:
        with np.errstate(all="ignore"):
            wrong = _outside(np.asarray(result), expected, written)
    if not wrong.any():
        return ""
    first = tuple(map(int, np.argwhere(wrong)[0]))
    limit = 0.0 if expected.bound is None else float(np.broadcast_to(expected.bound, wrong.shape)[first])
    return (
        f"{int(wrong.sum())} of {wrong.size} elements are wrong; the first, {list(first)}, is {result[first]} "
        f"instead of {expected.values[first]}, which may be missed by {limit:.3g}"
    )


def _outside(result: np.ndarray, expected: Expected, written: str) -> np.ndarray:
    """Where an element is neither within its bound nor of the class that it should be."""
    values, bound = expected.values, np.broadcast_to(np.asarray(expected.bound), expected.values.shape)
    got = result.astype(np.complex128 if values.dtype.kind == "c" or result.dtype.kind == "c" else np.float64)
    most = extremes(written)[0]
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
