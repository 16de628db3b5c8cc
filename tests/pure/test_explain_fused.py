"""The exactly rounded multiply-add against rational arithmetic."""

import struct
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.analysis.explain.simt.fused import fused_multiply_add

doubles = st.floats(allow_nan=False, allow_infinity=False, width=64)
floats = st.floats(allow_nan=False, allow_infinity=False, width=32)


def bits(value: float) -> bytes:
    return struct.pack("d", value)


def exact(a: float, b: float, c: float) -> float:
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return a * b + c
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return float("inf") if total > 0 else float("-inf")


@given(doubles, doubles, doubles)
def test_doubles_are_rounded_once(a: float, b: float, c: float) -> None:
    with np.errstate(all="ignore"):
        found = fused_multiply_add(np.float64(a), np.float64(b), np.float64(c))
    assert bits(float(found)) == bits(exact(a, b, c))


@given(doubles, doubles, st.integers(-3, 3))
def test_cancellation_keeps_the_low_bits(a: float, b: float, steps: int) -> None:
    with np.errstate(all="ignore"):
        c = np.float64(-(a * b))
        for _ in range(abs(steps)):
            c = np.nextafter(c, np.inf if steps > 0 else -np.inf)
        if not np.isfinite(c):
            return
        found = fused_multiply_add(np.float64(a), np.float64(b), c)
    assert bits(float(found)) == bits(exact(a, b, float(c)))


@given(floats, floats, floats)
def test_floats_are_rounded_once(a: float, b: float, c: float) -> None:
    with np.errstate(all="ignore"):
        found = fused_multiply_add(np.float32(a), np.float32(b), np.float32(c))
        total = Fraction(a) * Fraction(b) + Fraction(c)
        low, high = np.float32(np.nextafter(found, np.float32(-np.inf))), np.nextafter(found, np.float32(np.inf))
    assert found.dtype == np.float32
    if not np.isfinite(found) or not (np.isfinite(low) and np.isfinite(high)):
        assert abs(total) > Fraction(float(np.finfo(np.float32).max)) - Fraction(2) ** 103
        return
    distance = abs(total - Fraction(float(found)))
    assert distance <= abs(total - Fraction(float(low)))
    assert distance <= abs(total - Fraction(float(high)))


def test_infinities_nans_and_arrays() -> None:
    a = np.array([np.inf, np.nan, 0.0, -0.0, 1.0])
    with np.errstate(all="ignore"):
        found = fused_multiply_add(a, np.full(5, 2.0), np.array([1.0, 1.0, -0.0, -0.0, -2.0]))
    assert found[0] == np.inf
    assert np.isnan(found[1])
    assert [bits(each) for each in found[2:]] == [bits(0.0), bits(-0.0), bits(0.0)]
