"""A column times a row on CPUs: ends of rows, strides, types, results that are added to, large results, infinities, zeros."""

from math import prod

import numpy as np
import pytest
from thin_products import kernel_of, random_of

import tilewright
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.dispatch.tuned import NO_TABLES
from tilewright.kernels.product.cpu.config_outer import GROUP_BYTES, CpuOuterConfig
from tilewright.runtime.opencl.device import Device

NAME = "cpu/outer"
TYPES = ("float32", "float64", "float16", "int32", "uint32", "int64", "uint64")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [(2, 2), (3, 5), (7, 16), (37, 17), (300, 129), (5, 9000), (4100, 3)], ids=str)
def test_every_end_of_a_row(size: tuple[int, int], dtype: str, cpu: Device) -> None:
    m, n = size
    assert kernel_of((m, n, 1), dtype, cpu) == NAME
    a, b = random_of((2 * m, 3), dtype, 1), random_of((1, 2 * n), dtype, 2)
    for left, right in ((a[:m, :1], b[:, :n]), (a[::-2, 1:2], b[:, ::2]), (a[m:, 2:], b[:, ::-1][:, :n])):
        frame = np.full((m + 2, n + 3), 7, dtype)  # what lies around the result stays
        found = tilewright.matmul(left, right, out=frame[1:-1, 1:-2], queue=cpu.queue)
        np.testing.assert_array_equal(found, left * right)  # each element is one product, rounded once
        frame[1:-1, 1:-2] = 7
        assert (frame == 7).all()


def test_results_by_columns_and_stacks(cpu: Device) -> None:
    a, b = random_of((5, 40, 1), "float32", 3), random_of((1, 70), "float32", 4)
    out = np.empty((5, 70, 40), np.float32)
    found = tilewright.matmul(a, b, out=out.transpose(0, 2, 1), queue=cpu.queue)
    np.testing.assert_array_equal(found, a * b)
    np.testing.assert_array_equal(tilewright.matmul(a, b, queue=cpu.queue), a * b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_what_is_added_to(dtype: str, cpu: Device) -> None:
    for n in (3, 70):
        a, b, c = (random_of(shape, dtype, 5) for shape in ((41, 1), (1, n), (41, n)))
        found = tilewright.gemm(a, b, c, alpha=2, beta=-3, queue=cpu.queue)
        np.testing.assert_allclose(found, 2 * (a * b) - 3 * c, rtol=1e-5, atol=1e-5)
        target = c.copy()
        assert tilewright.gemm(a, b, target, alpha=2, beta=-3, out=target, queue=cpu.queue) is target
        np.testing.assert_array_equal(target, found)


def test_a_result_larger_than_caches(cpu: Device) -> None:
    """It is written around them where vectors lie at their boundaries, and through them elsewhere."""
    a, b = random_of((3500, 1), "float32", 6), random_of((1, 2064), "float32", 7)
    whole = np.zeros(3500 * 2064 + 64, np.float32)
    begin = -(whole.ctypes.data // 4) % 16
    for first in (begin, begin + 1):
        out = whole[first : first + 3500 * 2064].reshape(3500, 2064)
        tilewright.matmul(a, b, out=out, queue=cpu.queue)
        np.testing.assert_array_equal(out, a * b)
    ragged = tilewright.matmul(a, b[:, :2051], queue=cpu.queue)
    np.testing.assert_array_equal(ragged, a * b[:, :2051])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_the_bits_of_the_kernel_for_any_k(dtype: str, cpu: Device) -> None:
    """Minus zero becomes zero, as in any sum that begins with zero; infinities and NaN go where they belong."""
    a, b = random_of((50, 1), dtype, 8), random_of((1, 37), dtype, 9)
    a[3], a[4], a[5], b[0, 6], b[0, 7], b[0, 36] = 0, np.inf, np.nan, -np.inf, 0, -1e-3
    with np.errstate(invalid="ignore", over="ignore"):
        found = tilewright.matmul(a, b, queue=cpu.queue)
        wanted = a * b + np.zeros(1, dtype)
    np.testing.assert_array_equal(found, wanted)
    assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()
    deeper = tilewright.matmul(np.pad(a, ((0, 0), (0, 1))), np.pad(b, ((0, 1), (0, 0))), queue=cpu.queue)
    finite = np.isfinite(wanted)
    assert (found[finite] == deeper[finite]).all()


def test_others_refuse_nothing_that_it_takes(cpu: Device) -> None:
    """Deeper products, epilogues and complex numbers have other kernels."""
    assert kernel_of((50, 50, 2), "float32", cpu) != NAME
    assert kernel_of((50, 50, 1), "complex64", cpu) != NAME
    assert kernel_of((50, 50, 1), "int8", cpu) != NAME
    a, b = random_of((50, 1), "float32", 10), random_of((1, 60), "float32", 11)
    bias = random_of((60,), "float32", 12)
    found = tilewright.gemm(a, b, bias=bias, activation="relu", queue=cpu.queue)
    np.testing.assert_allclose(found, np.maximum(a * b + bias, 0), rtol=1e-6)


def test_small_results_are_one_group_and_large_ones_several_for_each_core(cpu: Device) -> None:
    for problem, least in ((Gemm(100, 100, 1), 1), (Gemm(6000, 6000, 1), 2 * cpu.info.compute_units)):
        step = plan_product(problem, cpu.info, NO_TABLES).steps[0]
        assert isinstance(step.config, CpuOuterConfig)
        groups = prod(step.config.ndrange(step.problem).global_size)
        assert groups >= least
        assert least > 1 or groups == 1
        line = min(problem.n, step.config.WIDTH) * 4
        assert groups == 1 or step.config.group_rows(step.config.oriented(step.problem)) * line >= GROUP_BYTES - line
