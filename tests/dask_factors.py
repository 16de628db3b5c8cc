"""Factors for tests of chunks and sums on a device, and whether their product is close."""

from typing import Any

import numpy as np
from dask_cases import numbers

from tilewright.dask.arithmetic import Arithmetic, Factor

ALL = (slice(None), slice(None))
SINGLE = Arithmetic("float32", "float32", None)


def factor(shape: tuple[int, int], seed: int = 0) -> Factor:
    return Factor(numbers(shape, np.float32, seed), ALL)


def close(found: Any, a: np.ndarray, b: np.ndarray, loss: float = 2.0**-44) -> bool:
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    left, right = a.astype(wide), b.astype(wide)
    return bool(np.all(np.abs(np.asarray(found).astype(wide) - left @ right) <= loss * (np.abs(left) @ np.abs(right))))
