"""Thin and other special products: which kernel multiplies them, random operands, and whether a result is right."""

import numpy as np

import tilewright
from tilewright.core.plan import Plan
from tilewright.core.types import numpy_dtype
from tilewright.runtime.opencl.device import Device

TOLERANCE = {"float32": 1e-6, "float64": 1e-14, "float16": 1e-3, "bfloat16": 8e-3}


def kernel_of(size: tuple[int, int, int], dtype: str, device: Device, layout: str = "NN") -> str:
    found = tilewright.plan(size, dtype=dtype, layout=layout, device=device.info.name)
    assert isinstance(found, Plan)
    return found.steps[-1].kernel.name


def random_of(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if numpy_dtype(dtype).kind in "iu":
        return random.integers(-(2**20), 2**20, shape).astype(dtype)
    return random.normal(size=shape).astype(numpy_dtype(dtype))


def check(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    if found.dtype.kind in "iu":
        np.testing.assert_array_equal(found, a @ b)
        return
    wide_a, wide_b = a.astype("f8"), b.astype("f8")
    error = np.abs(found.astype("f8") - wide_a @ wide_b)
    assert (error <= TOLERANCE[found.dtype.name] * (np.abs(wide_a) @ np.abs(wide_b)) + 1e-30).all()
