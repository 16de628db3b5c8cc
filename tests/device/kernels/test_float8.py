"""8-bit floats on any driver: read as ml_dtypes reads them, multiplied as they are or as halves, rows and columns scaled."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pyopencl.array as cl_array
import pytest
from families import kernels_of

import tilewright
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm
from tilewright.core.types import numpy_dtype
from tilewright.dispatch.choice import plan_product
from tilewright.errors import InvalidInput, Unsupported
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.portable import search as portable
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import run_plan
from tilewright.runtime.verify import verify

pytestmark = pytest.mark.device
KINDS = ("float8_e4m3fn", "float8_e5m2")


def product(problem: Gemm, arrays: dict[str, np.ndarray], device: Device) -> np.ndarray:
    info = replace(device.info, kind="gpu")
    result, _ = run_plan(plan(kernels_of(portable, problem, info), problem, info), arrays, device)
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
    with pytest.raises(Unsupported, match=r"(?=.*bfloat16)(?=.* float16).*float32"):
        product(problem, {}, device)


def random_float8(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", KINDS)
def test_the_library_multiplies_them_on_every_device(device: Device, dtype: str) -> None:
    """By way of halves where no kernel reads them: every layout, stacks, ragged sizes, infinities and NaN."""
    for shape_a, shape_b in (((37, 129), (129, 50)), ((3, 20, 33), (33, 9)), ((1, 1), (1, 1)), ((70, 0), (0, 5))):
        a, b = random_float8(shape_a, dtype), random_float8(shape_b, dtype, 1)
        for right in (b, np.asfortranarray(b)):
            result = tilewright.matmul(a, right, queue=device.queue)
            assert result.dtype == np.float32
            assert np.allclose(result, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)
    a = random_float8((20, 24), dtype)
    a[3, 5] = np.nan
    result = tilewright.matmul(a, random_float8((24, 18), dtype, 1), queue=device.queue)
    assert np.isnan(result[3]).all()
    assert np.isfinite(np.delete(result, 3, 0)).all()


@pytest.mark.parametrize("dtype", KINDS)
def test_plans_are_right(device: Device, dtype: str) -> None:
    """Those for the device, and those for GPUs, which any can run."""
    for info in (device.info, replace(device.info, kind="gpu")):
        for m, n, k, orders in ((37, 50, 129, ("row", "column")), (130, 66, 70, ("column", "row"))):
            problem = Gemm(m, n, k, dtype, *orders, out_dtype="bfloat16", batch=2)
            verdict = verify(plan_product(problem, info), device)
            assert verdict.passed, f"{problem.title}: {verdict}"


SCALES = [("one", "one"), ("each", "one"), ("one", "each"), ("each", "each"), ("none", "each"), ("each", "none")]


def scale_of(kind: str, length: int, seed: int) -> np.ndarray | float | None:
    values = 2.0 ** np.random.default_rng(seed).integers(-9, 9, length) * 1.25
    return {"none": None, "one": float(values[0]), "each": values.astype(np.float32)}[kind]


@pytest.mark.parametrize(("kind_a", "kind_b"), SCALES)
def test_rows_and_columns_are_scaled(device: Device, kind_a: str, kind_b: str) -> None:
    """Before alpha, beta, bias and activation; by rows and by columns of C, which turns the product around."""
    m, n, k = 45, 34, 130
    a, b, c = random_float8((m, k), KINDS[0]), random_float8((k, n), KINDS[0], 1), np.ones((m, n), np.float32)
    scale_a, scale_b = scale_of(kind_a, m, 2), scale_of(kind_b, n, 3)
    bias = np.linspace(-1, 1, n, dtype=np.float32)
    rows = np.ones(m) if scale_a is None else np.broadcast_to(scale_a, m)
    columns = np.ones(n) if scale_b is None else np.broadcast_to(scale_b, n)
    weight = np.multiply.outer(rows, columns)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    total = -0.5 * weight * (wide_a @ wide_b) + 2 * c + bias
    size = 0.5 * weight * (np.abs(wide_a) @ np.abs(wide_b)) + 4
    for out in (np.full((m, n), np.nan, np.float32), np.full((m, n), np.nan, np.float32, order="F")):
        tilewright.gemm(
            a, b, c, alpha=-0.5, beta=2, bias=bias, activation="relu", scale_a=scale_a, scale_b=scale_b, out=out,
            queue=device.queue,
        )  # fmt: skip
        assert (np.abs(out - np.maximum(total, 0)) <= (k + 8) * 2.0**-23 * size).all()


def test_both_kinds_multiply_each_other(device: Device) -> None:
    a, b = random_float8((21, 34), KINDS[0]), random_float8((34, 17), KINDS[1], 1)
    columns = np.linspace(1, 2, 17, dtype=np.float32)
    for left, right in ((a, b), (b.T, a.T)):
        product = left.astype(np.float64) @ right.astype(np.float64)
        assert np.allclose(tilewright.matmul(left, right, queue=device.queue), product, atol=1e-4)
    there = [cl_array.to_device(device.queue, each) for each in (a, b)]
    with pytest.raises(Unsupported, match="float8"):
        tilewright.matmul(*there)
    result = tilewright.gemm(a, b, scale_b=columns, scale_a=0.5, queue=device.queue)
    assert np.allclose(result, 0.5 * columns * (a.astype(np.float64) @ b.astype(np.float64)), atol=1e-4)


def test_scales_of_stacks_views_and_device_arrays(device: Device) -> None:
    a, b = random_float8((4, 10, 16), KINDS[1]), random_float8((16, 6), KINDS[1], 1)
    long = np.linspace(1, 3, 30, dtype=np.float32)
    expected = long[::3, None] * (a.astype(np.float64) @ b.astype(np.float64)) * long[20:26]
    result = tilewright.gemm(a, b, scale_a=long[::3], scale_b=long[20:26], queue=device.queue)
    assert np.allclose(result, expected, rtol=1e-5, atol=1e-4)
    there = [cl_array.to_device(device.queue, each) for each in (a, b, long)]
    on_device = tilewright.gemm(there[0], there[1], scale_a=there[2][::3], scale_b=there[2][20:26])
    assert np.array_equal(on_device.get(), result)


def test_scales_that_do_not_fit_are_refused(device: Device) -> None:
    a, b = random_float8((8, 4), KINDS[0]), random_float8((4, 6), KINDS[0])
    wide = np.ones((8, 4), np.float32)
    with pytest.raises(InvalidInput, match=r"scale_a.*\(6,\).*\(8,\)"):
        tilewright.gemm(a, b, scale_a=np.ones(6), queue=device.queue)
    with pytest.raises(InvalidInput, match=r"scale_b.*\(1, 6\)"):
        tilewright.gemm(a, b, scale_b=np.ones((1, 6)), queue=device.queue)
    with pytest.raises(InvalidInput, match="scale_a=1j is a complex; pass a real number"):
        tilewright.gemm(a, b, scale_a=1j, queue=device.queue)
    with pytest.raises(InvalidInput, match="float32"):
        tilewright.gemm(wide, wide.T, scale_a=2.0, queue=device.queue)


def test_scales_are_numbers_that_float32_holds(device: Device) -> None:
    a, b = random_float8((5, 8), KINDS[0]), random_float8((8, 6), KINDS[0], 1)
    whole = tilewright.gemm(a, b, queue=device.queue)
    for number in (2, 2.0, 2**70, np.float16(0.5), np.longdouble(0.25), ml_dtypes.bfloat16(4)):
        found = tilewright.gemm(a, b, scale_a=number, casting="no", queue=device.queue)
        assert np.array_equal(found, np.float32(number) * whole)
    rows = np.arange(1, 6).astype(ml_dtypes.bfloat16)
    found = tilewright.gemm(a, b, scale_a=rows, queue=device.queue)
    assert np.array_equal(found, rows.astype(np.float32)[:, None] * whole)
    for wrong, words in (
        (1e300, "exceeds the range of float32"),
        (10**400, "does not fit float32"),
        (True, "is a bool"),
    ):
        with pytest.raises(InvalidInput, match=f"^scale_b=.*{words}"):
            tilewright.gemm(a, b, scale_b=wrong, queue=device.queue)


def test_a_kernel_that_cannot_scale_refuses(device: Device) -> None:
    call = replace(call_of(Gemm(8, 8, 8, KINDS[0], out_dtype="float32")), scale_a="one", scale_b="one")
    with pytest.raises(Unsupported, match=r"portable/main_loop.*\bscale"):
        plan(kernels_of(portable, call, device.info), call, device.info)
