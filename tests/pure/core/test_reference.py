"""The products that kernels are judged by, against Python's own integers and loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.core.reference import exact_matmul, float64_matmul

INT32 = np.iinfo(np.int32)


def product_of_big_integers(a: np.ndarray, b: np.ndarray) -> list[list[int]]:
    """a @ b in Python's integers, which never wrap."""
    rows, columns = a.tolist(), b.T.tolist()
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in rows]


def wrapped(value: int, bits: int) -> int:
    """What is left of an integer in two's complement of so many bits."""
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integer_product_equals_big_integers_modulo_64_bits(dtype: str) -> None:
    limits = np.iinfo(np.int32 if dtype == "int64" else dtype)
    generator = np.random.default_rng(3)
    a = generator.integers(limits.min, limits.max, (7, 33), dtype=np.int64, endpoint=True).astype(dtype)
    b = generator.integers(limits.min, limits.max, (33, 5), dtype=np.int64, endpoint=True).astype(dtype)
    expected = [[wrapped(each, 64) for each in row] for row in product_of_big_integers(a, b)]
    assert exact_matmul(a, b).tolist() == expected


@pytest.mark.parametrize("extreme", [INT32.min, INT32.max, -1, 0])
def test_extreme_operands_wrap_as_32_bit_arithmetic_does(extreme: int) -> None:
    a, b = np.full((3, 9), extreme, np.int32), np.full((9, 2), INT32.min, np.int32)
    expected = wrapped(9 * int(extreme) * int(INT32.min), 32)
    assert (exact_matmul(a, b).astype(np.int32) == expected).all()


@given(st.lists(st.tuples(st.integers(INT32.min, INT32.max), st.integers(INT32.min, INT32.max)), max_size=40))
def test_any_integer_inner_product_is_exact(pairs: list[tuple[int, int]]) -> None:
    a = np.array([[x for x, _ in pairs]], np.int32).reshape(1, len(pairs))
    b = np.array([[y] for _, y in pairs], np.int32).reshape(len(pairs), 1)
    assert int(exact_matmul(a, b)[0, 0]) == wrapped(sum(x * y for x, y in pairs), 64)


def test_long_integer_sums_are_cut_into_slices_that_stay_exact() -> None:
    length = 2**20 + 5
    a, b = np.full((1, length), INT32.min, np.int32), np.full((length, 1), INT32.max, np.int32)
    assert int(exact_matmul(a, b)[0, 0]) == wrapped(length * INT32.min * INT32.max, 64)


def test_batches_are_multiplied_one_by_one() -> None:
    generator = np.random.default_rng(4)
    a = generator.integers(-9, 9, (3, 4, 5)).astype(np.int32)
    b = generator.integers(-9, 9, (3, 5, 2)).astype(np.int32)
    expected = [product_of_big_integers(each, other) for each, other in zip(a, b, strict=True)]
    assert exact_matmul(a, b).tolist() == expected


def test_floats_are_multiplied_in_double_precision() -> None:
    a = np.array([[1.0, 2.0**-30]], np.float32)
    product = float64_matmul(a, np.array([[1.0], [1.0]], np.float32))
    assert product.dtype == np.float64
    assert product[0, 0] == 1.0 + 2.0**-30


def test_complex_operands_stay_complex() -> None:
    product = float64_matmul(np.array([[1j]], np.complex64), np.array([[1j]], np.complex64))
    assert product.dtype == np.complex128
    assert product[0, 0] == -1


def test_infinities_give_nan_without_a_warning() -> None:
    product = float64_matmul(np.array([[np.inf, -np.inf]]), np.ones((2, 1)))
    assert np.isnan(product[0, 0])
