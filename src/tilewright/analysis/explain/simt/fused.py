"""Exactly rounded a*b + c, built from operations that round once (Boldo and Melquiond, 2008: rounding to odd)."""

from fractions import Fraction
from typing import Any

import numpy as np

_SPLIT = np.float64(134217729.0)  # 2**27 + 1, Veltkamp's constant for 53 bits
_LARGE, _SMALL = 2.0**480, 2.0**-480


def fused_multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a*b + c rounded once, for float16, float32 and float64 values or arrays of one type."""
    dtype = np.result_type(a, b, c)
    if dtype.itemsize < 8:
        product = np.multiply(a, b, dtype=np.float64)
        return _odd_sum(product, np.asarray(c).astype(np.float64)).astype(dtype)
    return _fused_double(np.asarray(a), np.asarray(b), np.asarray(c))


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _odd_sum(a: Any, b: Any) -> Any:
    """a + b in double precision, rounded to odd: rounding it again to fewer bits gives the exactly rounded sum."""
    total, error = _two_sum(a, b)
    bits = np.asarray(total).view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & (bits & 1 == 0)
    if not np.any(inexact):
        return total
    away = (error > 0) == (total > 0)
    odd = np.where(inexact, np.where(away, bits + 1, bits - 1), bits)
    return odd.view(np.float64)


def _split(a: Any) -> tuple[Any, Any]:
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _fused_double(a: Any, b: Any, c: Any) -> Any:
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    high, low = _two_sum(c, error)
    top, rest = _two_sum(product, high)
    result = np.asarray(top + _odd_sum(rest, low))
    plain = product + c
    sizes = [np.abs(each) for each in (a, b, c, product)]
    risky = np.zeros(result.shape, bool)
    for size in sizes:
        risky |= (size > _LARGE) | ((size < _SMALL) & (size != 0))
    risky |= (product == 0) & (a != 0) & (b != 0)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result = np.where(finite & (product != 0), result, plain)
    for index in np.argwhere(risky & finite):
        at = tuple(index)
        result[at] = _exact(float(a[at]), float(b[at]), float(c[at]))
    return result[()]


def _exact(a: float, b: float, c: float) -> float:
    """By rational numbers, for operands so large or small that the fast way would overflow or lose bits."""
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")
