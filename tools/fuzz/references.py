"""The expected product, element by element, and the bound of its rounding errors.

The bound is `(k + 2) eps (|A| |B|)` (see `tilewright.core.problem.Gemm.error_bound`), with what an epilogue and the result's type
add. Infinities and NaN are counted, not computed: BLAS libraries differ in what they make of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.core.precision import FP8_LOSS
from tilewright.core.reference import exact_matmul
from tilewright.core.types import element_type

from .cases import NUMBERS, Case
from .oracle import Expectation
from .types import dtype_of

Arrays = Mapping[str, np.ndarray]
EXTREMES = {"bfloat16": (3.3895e38, 2.0**-133), "float16": (65504.0, 2.0**-24)}


@dataclass(frozen=True)
class Expected:
    """A result in a wide type, its bound, and where anything may come: sums beyond the type's range on the way."""

    values: np.ndarray
    bound: np.ndarray | None  # None: every bit must be right
    loose: np.ndarray | None = None


def extremes(name: str) -> tuple[float, float]:
    """The largest number and the smallest above 0 of a type of real or complex floats."""
    if name in EXTREMES:
        return EXTREMES[name]
    info = np.finfo(dtype_of(name))
    return float(info.max), float(info.smallest_subnormal)


def product(case: Case, arrays: Arrays, types: Expectation, flushes: bool) -> Expected:
    """The reference for a matmul or gemm of these arrays; `flushes` tells that the device loses subnormal numbers."""
    read = dtype_of(types.read)
    with np.errstate(all="ignore"):
        a, b = turned(arrays["a"], case.trans_a).astype(read), turned(arrays["b"], case.trans_b).astype(read)
        if element_type(types.read).exact:
            return _exact(case, a, b, arrays, types)
        return _rounded(case, a, b, arrays, types, flushes)


def turned(array: np.ndarray, how: str) -> np.ndarray:
    if how == "N":
        return array
    swapped = np.swapaxes(array, -1, -2)
    return swapped.conj() if how == "C" else swapped


def _exact(case: Case, a: np.ndarray, b: np.ndarray, arrays: Arrays, types: Expectation) -> Expected:
    """Integers modulo the width of the result; bools."""
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    whole = int(NUMBERS[case.alpha]) * exact_matmul(left, right)
    whole = whole.reshape(case.result_shape)
    written = dtype_of(types.written)
    if NUMBERS[case.beta] != 0:
        whole = whole + int(NUMBERS[case.beta]) * arrays["c"].astype(written).astype(np.int64)
    if "bias" in arrays:
        whole = whole + arrays["bias"].astype(written).astype(np.int64)
    if case.activation == "relu":
        whole = np.maximum(whole.astype(written), 0)
    return Expected(np.asarray(whole).astype(written), None)


def _rounded(case: Case, a: np.ndarray, b: np.ndarray, arrays: Arrays, types: Expectation, flushes: bool) -> Expected:
    alpha, beta = NUMBERS[case.alpha], NUMBERS[case.beta]
    accumulator, written = element_type(types.read).accumulator, dtype_of(types.written)
    eps, (most, least) = element_type(types.read).epsilon, extremes(accumulator)
    wide = np.complex128 if written.kind == "c" or a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    if alpha == 0:  # neither is read then
        a, b = np.zeros_like(a), np.zeros_like(b)
    k = a.shape[-1]
    total, size = classified_product(a, b), np.matmul(_finite(np.abs(a)), _finite(np.abs(b)))
    lost = _lost(a, b, types, case.precision, flushes)
    scale, stretch = _scales(case, arrays)
    total, size, lost = total * scale * alpha, size * stretch, lost * stretch
    reach = size * max(1.0, abs(alpha))
    bound = abs(alpha) * ((k + 2) * eps * size + lost + (4 * eps * size if stretch is not ONE else 0))
    added = np.abs(_finite(total))
    for factor, name in ((beta, "c"), (1, "bias")):
        if name in arrays and factor != 0:
            term = factor * arrays[name].astype(written).astype(wide)
            total = total + term
            added = added + np.abs(_finite(term))
    floor = np.finfo(accumulator).smallest_normal if flushes else least
    underflow = (k + 8) * float(floor) * max(1.0, abs(alpha), abs(beta), float(np.max(stretch, initial=1)))
    bound = bound + 8 * eps * added + underflow
    reach = np.maximum(reach, added) * (4 if case.activation else 1)
    loose = np.asarray(~(reach < 0.9 * most))
    if case.activation:
        total, bound, loose = _activated(case.activation, total, bound, loose, eps)
    return Expected(np.asarray(total), np.asarray(bound + _stored(types, np.abs(total), eps, flushes)), loose)


ONE = np.ones(())


def _scales(case: Case, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """What rows and columns are multiplied by, and the sizes of that."""
    if "scale_a" not in arrays and "scale_b" not in arrays:
        return ONE, ONE
    a, b = (
        arrays[name].astype(np.float32).astype(np.float64) if name in arrays else ONE for name in ("scale_a", "scale_b")
    )
    both = (a[:, None] if a.shape == (case.m,) and case.scales[0] == "each" else a) * b
    return both, np.abs(both)


def _finite(array: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(array), array, 0)


def classified_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, where NaN and infinities are found by counting the terms that make them. Complex: NaN for any of them."""
    finite: np.ndarray = np.asarray(np.matmul(_finite(a), _finite(b)))
    odd_a, odd_b = ~np.isfinite(a), ~np.isfinite(b)
    if not odd_a.any() and not odd_b.any():
        return finite
    ones = np.ones
    if a.dtype.kind == "c":
        counted = _count(odd_a, ones(b.shape, bool)) + _count(ones(a.shape, bool), odd_b)
        return np.where(counted > 0, np.nan, finite)
    nan = _count(np.isnan(a), ones(b.shape, bool)) + _count(ones(a.shape, bool), np.isnan(b))
    nan = nan + _count(np.isinf(a), b == 0) + _count(a == 0, np.isinf(b))
    up, down = a == np.inf, a == -np.inf
    up_b, down_b = b == np.inf, b == -np.inf
    plus = _count(up, b > 0) + _count(down, b < 0) + _count(a > 0, up_b) + _count(a < 0, down_b)
    minus = _count(up, b < 0) + _count(down, b > 0) + _count(a > 0, down_b) + _count(a < 0, up_b)
    infinite = np.where(plus > 0, np.inf, -np.inf)
    found = np.where((plus > 0) | (minus > 0), infinite, finite)
    return np.where((nan > 0) | ((plus > 0) & (minus > 0)), np.nan, found)


def _count(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(np.matmul(one.astype(np.float64), other.astype(np.float64)))


def _lost(a: np.ndarray, b: np.ndarray, types: Expectation, precision: str, flushes: bool) -> np.ndarray:
    """What a precision that was asked for, and a device without subnormal numbers, may lose of |A| |B|."""
    a, b = _finite(np.abs(a)), _finite(np.abs(b))
    lost = np.zeros(())
    if precision == "tf32" and types.read == "float32":
        normal = [np.where(each == 0, 0, np.maximum(each, 2.0**-126)) for each in (a, b)]
        lost = lost + 2 * 2.0**-10 * np.matmul(*normal)
    if precision == "fp8":
        lost = lost + FP8_LOSS * np.matmul(a, b)
    if flushes:
        least = float(np.finfo(element_type(types.read).accumulator).smallest_normal)
        small = [np.where(each < least, each, 0) for each in (a, b)]
        lost = lost + np.matmul(small[0], b) + np.matmul(a, small[1])
    return np.asarray(lost)


def _stored(types: Expectation, size: np.ndarray, eps: float, flushes: bool) -> np.ndarray:
    """What rounding to the result's type may cost."""
    name = types.written
    digits = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(name, 0.0)
    if not digits:
        return np.zeros(())
    least = 2.0**-14 if flushes and name == "float16" else extremes(name)[1]
    return np.asarray(digits * (1 + 4 * eps) * _finite(size) + least)


def _activated(
    name: str, x: np.ndarray, bound: np.ndarray, loose: np.ndarray, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An activation of the sums; their errors are stretched by at most 1.13."""
    x = np.where(loose, np.nan, x)  # a sum that went beyond the range on its way may have any sign
    if name == "relu":
        return np.where(x < 0, 0, x), bound, loose
    odd = ~np.isfinite(x)
    x = _finite(x)
    if name == "silu":
        y = x / (1 + np.exp(-x))
    elif name == "gelu":
        y = 0.5 * x * np.vectorize(math.erfc, otypes=[float])(-x / math.sqrt(2))
    else:
        y = x / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return np.where(odd, np.nan, y), 1.2 * bound + 32 * eps * np.abs(y), loose | odd
