"""Integers of every width, and bools: exact modulo the width, as NumPy's and Python's are, on any device."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest
from families import kernels_of

import tilewright
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, random_array
from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.kernels.product.gemv import search as gemv
from tilewright.kernels.product.portable import search as portable
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import run_plan

SHORT = ("int8", "uint8", "int16", "uint16")
INTEGERS = (*SHORT, "int32", "uint32", "int64", "uint64")
TYPES = (*INTEGERS, "bool")
# Below a vector, ragged, more than a block of K of each kernel, and single rows and columns.
SHAPES = (
    (1, 1, 1),
    (3, 5, 7),
    (37, 41, 31),
    (65, 47, 1200),
    (40, 33, 2600),
    (1, 70, 300),
    (300, 1, 700),
    (5, 6, 0),
    (0, 3, 4),
)
RNG = np.random.default_rng(12)


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of the whole range, a fifth of them its ends; bools so sparse that products have both values."""
    found = random_array(RNG, shape, dtype)
    if dtype != "bool":
        limits = np.iinfo(dtype)
        found[RNG.random(shape) < 0.1], found[RNG.random(shape) < 0.1] = limits.min, limits.max
    return found


def result_of(dtype: str) -> str:
    return "int32" if dtype == "int8" else dtype


def check(call: Callable[..., Any], a: np.ndarray, b: np.ndarray, result: str) -> None:
    """NumPy's product in that type."""
    found = call(a, b)
    expected = np.matmul(a, b, dtype=result)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, err_msg=f"{a.shape} {a.strides} {b.shape} {b.strides} {a.dtype}")


@pytest.mark.parametrize("dtype", TYPES)
def test_products_are_numpys_in_every_layout(dtype: str, device: Device) -> None:
    for (m, n, k), a_turned, b_turned in product(SHAPES, (False, True), (False, True)):
        a = values((k, m), dtype).T if a_turned else values((m, k), dtype)
        b = values((n, k), dtype).T if b_turned else values((k, n), dtype)
        check(lambda a, b: tilewright.matmul(a, b, queue=device.queue), a, b, result_of(dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_stacks_and_strides(dtype: str, device: Device) -> None:
    a, b = values((3, 1, 20, 66), dtype)[..., ::2], values((2, 33, 14), dtype)[:, :, ::-1]
    check(lambda a, b: tilewright.matmul(a, b, queue=device.queue), a, b, result_of(dtype))
    check(lambda a, b: tilewright.matmul(a, b, queue=device.queue), a[0, 0, 3], b, result_of(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_wrap_as_pythons_integers_do_modulo_the_width(dtype: str, device: Device) -> None:
    a, b = values((4, 9), dtype), values((9, 5), dtype)
    kind = np.dtype(result_of(dtype))
    whole = a.astype(object) @ b.astype(object)
    bits, least = 8 * kind.itemsize, int(np.iinfo(kind).min)
    expected = [[(each - least) % 2**bits + least for each in row] for row in whole.tolist()]
    assert tilewright.matmul(a, b, queue=device.queue).tolist() == expected


@pytest.mark.parametrize("dtype", [*SHORT, "bool"])
@pytest.mark.parametrize("asked", ["int32", "int64"])
def test_a_wider_type_keeps_more(dtype: str, asked: str, device: Device) -> None:
    for m, n, k in ((37, 41, 1300), (1, 30, 500), (200, 1, 300)):
        a, b = values((m, k), dtype), values((k, n), dtype)
        check(lambda a, b: tilewright.matmul(a, b, dtype=asked, queue=device.queue), a, b, asked)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ("uint8", "int8", "int16"), ("uint8", "uint16", "uint16"), ("bool", "uint8", "uint8"), ("bool", "int8", "int32"),
        ("int32", "uint32", "int64"), ("int16", "float16", "float32"), ("int64", "uint64", "float64"),
        ("uint8", "float32", "float32"),
    ],
)  # fmt: skip
def test_pairs_are_promoted_as_numpys(left: str, right: str, result: str, device: Device) -> None:
    a, b = np.arange(6).reshape(2, 3).astype(left), np.arange(12).reshape(3, 4).astype(right)
    check(lambda a, b: tilewright.matmul(a, b, queue=device.queue), a, b, result)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_alpha_beta_and_a_bias_wrap_too(dtype: str, device: Device) -> None:
    kind = np.dtype(result_of(dtype))
    for m, n, k in ((50, 40, 700), (1, 40, 300), (70, 1, 90)):
        a, b, c, bias = values((m, k), dtype), values((k, n), dtype), values((m, n), kind.name), values((n,), kind.name)
        for alpha, beta in ((3, 2), (0, 1), (int(np.iinfo(kind).max), int(np.iinfo(kind).min))):
            expected = np.matmul(a, b, dtype=kind) * kind.type(alpha) + c * kind.type(beta) + bias
            found = tilewright.gemm(a, b, c, alpha=alpha, beta=beta, bias=bias, queue=device.queue)
            assert found.dtype == kind
            np.testing.assert_array_equal(found, expected)


def test_types_that_share_a_program_take_their_own_numbers(device: Device) -> None:
    """Programs of int64 and uint64 may be one: it was given -1 as an unsigned number."""
    for dtypes in (("uint64", "int64"), ("uint32", "int32")):
        for dtype in dtypes:
            ones = np.ones((3, 3), dtype)
            factor = -1 if dtype.startswith("int") else 2
            assert (tilewright.gemm(ones, ones, alpha=factor, queue=device.queue) == 3 * factor).all()


@pytest.mark.parametrize(
    ("dtype", "alpha"),
    [("uint8", -1), ("uint8", 256), ("int16", 2**15), ("uint64", 2**64), ("bool", 2), ("int64", 0.5)],
)
def test_numbers_that_a_type_does_not_hold_are_refused(dtype: str, alpha: float, one_device: Device) -> None:
    ones = np.ones((3, 3), dtype)
    with pytest.raises(InvalidInput, match=f"alpha={alpha}.*{dtype}"):
        tilewright.gemm(ones, ones, alpha=alpha, queue=one_device.queue)


def test_activations_of_integers_are_refused(one_device: Device) -> None:
    for dtype in ("uint8", "int64", "bool"):
        with pytest.raises(UnsupportedType, match=dtype):
            tilewright.gemm(np.ones((3, 3), dtype), np.ones((3, 3), dtype), activation="relu", queue=one_device.queue)


def test_bools_are_or_and(device: Device) -> None:
    a, b, c = (values(shape, "bool") for shape in ((60, 900), (900, 50), (60, 50)))
    expected = (a[:, :, None] & b[None]).any(axis=1)
    assert 0.1 < expected.mean() < 0.9
    np.testing.assert_array_equal(tilewright.matmul(a, b, queue=device.queue), expected)
    np.testing.assert_array_equal(tilewright.gemm(a, b, c, beta=1, queue=device.queue), expected | c)
    np.testing.assert_array_equal(tilewright.gemm(a, b, c, alpha=0, beta=True, queue=device.queue), c)


@pytest.mark.parametrize("shape", [(70, 90, 200), (1, 90, 200), (90, 1, 200)])
def test_any_byte_but_0_is_true(shape: tuple[int, int, int], device: Device) -> None:
    m, n, k = shape
    a, b, c = (values(sides, "bool") for sides in ((m, k), (k, n), (m, n)))
    odd = [(each * RNG.integers(1, 256, each.shape)).astype(np.uint8).view(bool) for each in (a, b, c)]
    for turned in (lambda each: each, lambda each: np.asfortranarray(each.view(np.uint8)).view(bool)):
        left, right = turned(odd[0]), turned(odd[1])
        np.testing.assert_array_equal(tilewright.matmul(left, right, queue=device.queue), a @ b)
        counted = tilewright.matmul(left, right, dtype="int32", queue=device.queue)
        np.testing.assert_array_equal(counted, a.astype(np.int32) @ b.astype(np.int32))
        added = tilewright.gemm(left, right, odd[2], beta=1, queue=device.queue)
        np.testing.assert_array_equal(added.view(np.uint8), ((a @ b) | c).view(np.uint8))


@pytest.mark.parametrize("dtype", TYPES)
def test_device_arrays(dtype: str, device: Device) -> None:
    a, b = values((30, 200), dtype), values((200, 20), dtype)
    on_device = [cl_array.to_device(device.queue, each) for each in (a, b)]
    check(lambda a, b: tilewright.matmul(*on_device).get(), a, b, result_of(dtype))
    check(lambda a, b: tilewright.matmul(*on_device, dtype="int64").get(), a, b, "int64")


GPU_CASES = (
    (portable, (37, 41, 70), "row", ""), (portable, (64, 64, 1000), "column", ""), (gemv, (50, 1, 700), "row", ""),
    (gemv, (3, 300, 257), "column", ""), (portable, (37, 41, 70), "row", "int32"),
)  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_the_kernels_for_gpus(dtype: str, device: Device) -> None:
    info = replace(device.info, kind="gpu")
    for family, (m, n, k), order, asked in GPU_CASES:
        if asked and np.dtype(dtype).itemsize > 2:
            continue  # stored as it is
        result = asked or result_of(dtype)
        problem = Gemm(m, n, k, dtype, order, out_dtype=result)
        a, b = values((m, k), dtype), values((k, n), dtype)
        found, _ = run_plan(plan(kernels_of(family, problem, info), problem, info), {"A": a, "B": b}, device)
        np.testing.assert_array_equal(found, np.matmul(a, b, dtype=result))
