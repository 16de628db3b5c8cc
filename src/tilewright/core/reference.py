"""Reference products: float64 by NumPy, and exact integers modulo their width."""

import numpy as np


def float64_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b in float64 (complex128 for complex operands); infinities and NaN follow IEEE 754."""
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    with np.errstate(all="ignore"):
        product: np.ndarray = np.matmul(a.astype(wide), b.astype(wide))
    return product


LIMB_BITS, WIDE_BITS = 16, 64


def exact_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of integers modulo 2**64, as int64; of bools, how many pairs are both true.

    NumPy multiplies integers without a BLAS, slowly. So each factor is split into 16-bit parts, and the parts are
    multiplied in float64. Their sums stay below 2**53 for k <= 2**20, hence exact; a longer k is split, too.
    """
    steps = range(0, max(a.shape[-1], 1), 2**20)
    return sum(
        (_exact_slice(a[..., s : s + 2**20], b[..., s : s + 2**20, :]) for s in steps),
        start=np.zeros((*a.shape[:-1], b.shape[-1]), np.int64),
    )


def _exact_slice(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    left, right = _limbs(a), _limbs(b)
    total = np.zeros((*a.shape[:-1], b.shape[-1]), np.int64)
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            shift = LIMB_BITS * (i + j)
            if shift < WIDE_BITS:
                total = total + (float64_matmul(one, other).astype(np.int64) << shift)
    return total


def _limbs(array: np.ndarray) -> list[np.ndarray]:
    """The 16-bit parts of integers, the lowest first; the last keeps the sign. Integers of 16 bits and less are one part."""
    wide = array.astype(np.int64)
    count = max(1, 8 * array.dtype.itemsize // LIMB_BITS)
    mask = (1 << LIMB_BITS) - 1
    lower = [(wide >> LIMB_BITS * place) & mask for place in range(count - 1)]
    return [*lower, wide >> LIMB_BITS * (count - 1)]


def as_int64(value: complex) -> int:
    """An integer modulo 2**64, as int64 has it."""
    half = 1 << (WIDE_BITS - 1)
    return (int(value.real) + half) % (1 << WIDE_BITS) - half
