"""Products that NumPy multiplies by `numpy.dot`: a column times a row, where `@` loops, and others with a small result."""

import warnings
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright import gemm, matmul
from tilewright.dispatch.numpys_own import BLAS_TYPES
from tilewright.library import engine, numpy_first

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def on_a_cpu(numpys: None) -> None:
    if engine.default_device().info.kind != "cpu":
        pytest.skip("the default device is no CPU, so NumPy's own product is never called")


def random(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = RNG.standard_normal(shape)
    return (values + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def check(a: Any, b: Any, expected: np.ndarray, **named: Any) -> None:
    for _ in range(3):  # the general way, a ready call, and NumPy called at once
        found = matmul(a, b, **named)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", BLAS_TYPES)
def test_layouts(dtype: str) -> None:
    column, row = random((9, 1), dtype), random((1, 13), dtype)
    expected = column * row
    check(column, row, expected)
    check(random((1, 9), dtype).T * 0 + column, row, expected)
    check(np.repeat(column, 3, axis=1)[:, ::3], np.repeat(row, 2, axis=1)[:, ::2], expected)
    check(column[::-1], row[:, ::-1], expected[::-1, ::-1])
    check(np.broadcast_to(column[:1], (9, 1)), row, np.broadcast_to(expected[:1], (9, 13)))
    check(column.astype(np.dtype(dtype).newbyteorder()), row, expected)
    check(column[None, None], row[None], expected[None, None])
    loose = np.frombuffer(b"x" + column.tobytes(), np.uint8)[1:].view(dtype).reshape(9, 1)
    check(loose, row, expected)


def test_two_types_and_what_is_asked() -> None:
    column, row = random((9, 1), "float32"), random((1, 13), "float64")
    check(column, row, column * row)
    check(column, row, np.multiply(column, row, dtype="float32", casting="same_kind"), dtype="float32")
    whole = RNG.integers(-9, 9, (9, 1)).astype(np.int8)
    check(whole, row.astype(np.float32), whole * row.astype(np.float32))


def test_results_go_where_the_caller_says() -> None:
    column, row = random((9, 1), "float32"), random((1, 13), "float32")
    expected = column * row
    for out in (
        np.empty((9, 13), np.float32),
        np.empty((9, 13), np.float64),
        np.empty((13, 9), np.float32).T,
        np.empty((9, 26), np.float32)[:, ::2],
        np.zeros(9 * 13 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(9, 13),
    ):
        for _ in range(3):
            out[...] = np.nan
            assert matmul(column, row, out) is out
            np.testing.assert_allclose(out, expected, rtol=1e-6)
    shared = np.zeros((9, 13), np.float32)
    for _ in range(3):
        shared[:, :1], shared[:1] = column, row
        left, right = shared[:, :1].copy(), shared[:1].copy()
        np.testing.assert_array_equal(matmul(shared[:, :1], shared[:1], shared), left * right)


@pytest.mark.parametrize("dtype", BLAS_TYPES)
def test_gemm(dtype: str) -> None:
    column, row, c = random((9, 1), dtype), random((1, 13), dtype), random((9, 13), dtype)
    bias = random((13,), dtype)
    for _ in range(3):
        found = gemm(column, row, c, alpha=2, beta=-3, bias=bias)
        np.testing.assert_allclose(found, 2 * column * row - 3 * c + bias, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(gemm(column[None], row[None], alpha=0.5), 0.5 * (column * row)[None], rtol=1e-6)


def test_numbers_that_are_none() -> None:
    column = np.array([[np.inf], [np.nan], [0], [-2]], np.float32)
    row = np.array([[0, np.inf, 1, np.nan]], np.float32)
    with np.errstate(invalid="ignore"):
        for _ in range(3):
            np.testing.assert_array_equal(matmul(column, row), column * row)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(matmul(column[3:], row[:, 2:3] * 5), [[-10]])


@pytest.mark.parametrize("dtype", BLAS_TYPES)
@pytest.mark.parametrize("length", [1, 3, 5000])
def test_a_single_element_is_no_number_by_which_a_vector_is_scaled(dtype: str, length: int) -> None:
    """0 times NaN is NaN. `numpy.dot` takes an operand of one element for a number, by which its BLAS scales: by 0 to 0."""
    zero, values = np.zeros((1, 1), dtype), np.resize(np.array([np.nan, np.inf, 1], dtype), (1, length))
    ones = np.ones((1, length), dtype)
    with np.errstate(invalid="ignore"):
        expected = np.matmul(zero, values)
        for _ in range(3):
            for found in (
                matmul(zero, values), matmul(values.T, zero).T, matmul(zero[0], values)[None], matmul(values.T, zero[0])[None],
                tilewright.prepare(zero, values)(zero, values), gemm(zero, values, ones, beta=1) - ones,
                matmul(zero, values, device="cpu"),
            ):  # fmt: skip
                np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
                np.testing.assert_array_equal(found[~np.isnan(found)], 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_column_times_itself_is_symmetric(dtype: str) -> None:
    column = random((31, 1), dtype)
    for _ in range(3):
        found = matmul(column, column.T)
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, column * column.T, rtol=1e-6)


def test_the_plan_and_the_kept_call_name_dot() -> None:
    assert "calls numpy.dot" in str(tilewright.plan((9, 13, 1)))
    assert "calls numpy.matmul" in str(tilewright.plan((9, 13, 1), batch=3))
    column, row = random((9, 1), "float32"), random((1, 13), "float32")
    for _ in range(3):
        matmul(column, row)
        matmul(column[None], row[None])
    assert list(numpy_first.NUMPYS.values()) == [np.dot]


def test_a_kept_call_takes_usual_options_and_refuses_unknown_ones() -> None:
    a, b = random((4, 5), "float32"), random((5, 3), "float32")
    usual: dict[str, Any] = {"axes": None, "casting": "same_kind", "dtype": None, "device": None, "progress": False}
    for _ in range(3):
        np.testing.assert_array_equal(matmul(a, b, **usual), matmul(a, b))
    (key,) = numpy_first.NUMPYS
    numpy_first.NUMPYS[key] = lambda left, right: np.zeros(0)
    assert matmul(a, b, **usual).size == 0
    assert matmul(a, b, dtype="float64").dtype == np.float64
    assert matmul(a, b, device="cpu").size == 12
    with pytest.raises(TypeError, match="foo"):
        matmul(a, b, foo=None)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="'b'"):
        matmul(a)  # type: ignore[call-overload]


def test_a_prepared_product_calls_dot() -> None:
    column, row = random((9, 1), "float32"), random((1, 13), "float32")
    product = tilewright.prepare(column, row)
    assert "numpy.dot" in repr(product)
    for _ in range(3):
        np.testing.assert_allclose(product(column, row), column * row, rtol=1e-6)
    stacked = tilewright.prepare(column[None], row)
    assert stacked(column[None], row).shape == (1, 9, 13)


def test_small_results_in_one_piece_are_by_dot() -> None:
    """`numpy.dot` copies operands that lie in pieces, and fills its result first."""
    wide, long = random((20, 90), "float64"), random((20, 4000), "float64")
    whole, vector = wide[:, :40].copy(), random((40,), "float64")
    for a, b, by_dot in (
        (whole, whole.T.copy(), True),
        (whole, random((20, 40), "float64").T, True),
        (whole, vector, True),
        (wide, wide.T, True),
        (whole, wide.T[:40], False),
        (wide[:, :40], vector, False),
        (long.T, wide[:, :20].copy(), False),
    ):
        numpy_first.NUMPYS.clear()
        for _ in range(3):
            np.testing.assert_allclose(matmul(a, b), gemm(a, b, device="cpu"), rtol=1e-12, atol=1e-12)
        assert list(numpy_first.NUMPYS.values()) == [np.dot if by_dot else np.matmul]


def test_a_call_by_shapes_is_not_one_of_pieces() -> None:
    whole, wide, b = random((9, 7), "float32"), random((9, 20), "float32"), random((7, 5), "float32")
    for a in (whole, wide[:, 3:10], whole.T.copy().T, wide[:, :14:2], wide[:, 10:3:-1]):
        expected = gemm(a, b, device="cpu")
        for _ in range(3):
            np.testing.assert_allclose(matmul(a, b), expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(matmul(a, b, np.full((9, 5), np.nan, "f4")), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("right", [(9,), (9, 5)])
def test_gemm_of_a_result_with_more_or_fewer_dimensions(right: tuple[int, ...]) -> None:
    for left in ((9,), (7, 9), (1, 7, 9), (1, 1, 7, 9)):
        a, b = random(left, "float32"), random(right, "float32")
        c = random(np.shape(np.matmul(a, b)), "float32")
        named: dict[str, Any]
        for named in ({"alpha": 2.0}, {"alpha": 2.0, "beta": -1.0, "c": c}, {"beta": 1.0, "c": c}):
            for _ in range(3):
                found = gemm(a, b, **named)
                np.testing.assert_allclose(found, gemm(a, b, device="cpu", **named), rtol=1e-5, atol=1e-5)
