"""8-bit floats in the portable kernels for GPUs, which any driver can run: every value is read as ml_dtypes reads it."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright.backend.opencl import Device
from tilewright.dtypes import numpy_dtype
from tilewright.errors import Unsupported
from tilewright.kernels.gemm.choice import ranked_kernels
from tilewright.plan import plan
from tilewright.problem import Gemm
from tilewright.run import solve

pytestmark = pytest.mark.device
KINDS = ("float8_e4m3fn", "float8_e5m2")


def product(problem: Gemm, arrays: dict[str, np.ndarray], device: Device) -> np.ndarray:
    info = replace(device.info, kind="gpu")
    result, _ = solve(plan(ranked_kernels(problem, info), problem, info), arrays, device)
    return result


@pytest.mark.parametrize("dtype", KINDS)
def test_every_value_is_read_right(device: Device, dtype: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(dtype))
    arrays = {"A": values.reshape(256, 1), "B": np.ones((1, 3), numpy_dtype(dtype))}
    result = product(Gemm(256, 3, 1, dtype, out_dtype="float32"), arrays, device)
    wanted = np.repeat(values.astype(np.float32)[:, None], 3, axis=1)
    assert np.array_equal(result, wanted, equal_nan=True)


@pytest.mark.parametrize("out", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("dtype", KINDS)
def test_products_are_right(device: Device, dtype: str, out: str) -> None:
    problem = Gemm(37, 50, 129, dtype, "row", "column", out_dtype=out)
    random = np.random.default_rng(8)
    arrays = {
        name: random.normal(size=shape).astype(numpy_dtype(dtype))
        for name, shape in (("A", (37, 129)), ("B", (129, 50)))
    }
    result = product(problem, arrays, device)
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}
    reference = problem.reference(wide)
    assert (np.abs(result.astype(np.float64) - reference) <= problem.error_bound(wide, reference)).all()


def test_results_in_eight_bits_are_refused(device: Device) -> None:
    problem = Gemm(8, 8, 8, "float8_e5m2")
    with pytest.raises(Unsupported, match="give bfloat16 or float16 or float32"):
        product(problem, {}, device)
