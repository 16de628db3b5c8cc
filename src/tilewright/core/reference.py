"""Reference products: float64 by NumPy, and exact integers modulo their width."""

import numpy as np


def float64_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b in float64 (complex128 for complex operands); infinities and NaN follow IEEE 754."""
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        product: np.ndarray = np.matmul(a.astype(wide), b.astype(wide))
    return product


def exact_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of integers modulo 2**64, as int64.

    NumPy multiplies integers without a BLAS, slowly. So each factor is split into two 16-bit parts, and the parts are
    multiplied in float64. Their sums stay below 2**53 for k <= 2**20, hence exact; a longer k is split, too.
    """
    steps = range(0, max(a.shape[-1], 1), 2**20)
    return sum(
        (_exact_slice(a[..., s : s + 2**20], b[..., s : s + 2**20, :]) for s in steps),
        start=np.zeros((*a.shape[:-1], b.shape[-1]), np.int64),
    )


def _exact_slice(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide_a, wide_b = a.astype(np.int64), b.astype(np.int64)
    if a.dtype.itemsize <= 2:
        return float64_matmul(wide_a, wide_b).astype(np.int64)
    low_a, high_a = wide_a & 0xFFFF, wide_a >> 16
    low_b, high_b = wide_b & 0xFFFF, wide_b >> 16
    low = float64_matmul(low_a, low_b).astype(np.int64)
    middle = (float64_matmul(low_a, high_b) + float64_matmul(high_a, low_b)).astype(np.int64)
    high = float64_matmul(high_a, high_b).astype(np.int64)
    total: np.ndarray = low + (middle << 16) + (high << 32)
    return total
