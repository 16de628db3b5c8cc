"""Problems: their cost, operands, references against plain loops, and what the error bound means."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from says import says

from tilewright.core.operands import Operand
from tilewright.core.problem import (
    Copy,
    Gemm,
    Problem,
    StridedGemm,
    Transpose,
    compulsory_bytes,
    constant_arrays,
    has_scales,
    inputs_of,
    offset_of,
    output_of,
    precision_of,
    random_arrays,
)
from tilewright.core.types import ELEMENT_TYPES, numpy_dtype
from tilewright.errors import InvalidInput, UnknownName

SMALL = [(1, 1, 1), (2, 3, 4), (5, 1, 7), (1, 6, 3), (4, 4, 0), (0, 3, 2), (3, 0, 2)]


def product_by_loops(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C[r][c] = sum of A[r][k] * B[k][c], in Python's floats."""
    output = np.zeros((a.shape[0], b.shape[1]))
    for r, c, k in itertools.product(range(a.shape[0]), range(b.shape[1]), range(a.shape[1])):
        output[r, c] += float(a[r, k]) * float(b[k, c])
    return output


@pytest.mark.parametrize(("m", "n", "k"), SMALL)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gemm_reference_equals_three_loops(m: int, n: int, k: int, dtype: str) -> None:
    problem = Gemm(m, n, k, dtype)
    arrays = random_arrays(problem)
    reference = problem.reference(arrays)
    assert reference.shape == (m, n)
    np.testing.assert_allclose(reference, product_by_loops(arrays["A"], arrays["B"]), rtol=1e-13, atol=1e-15)


def test_gemm_reference_scales_and_adds() -> None:
    problem = Gemm(3, 2, 4, "float64", alpha=-2.0, beta=0.5)
    arrays = random_arrays(problem) | {"C": np.arange(6.0).reshape(3, 2)}
    expected = -2.0 * product_by_loops(arrays["A"], arrays["B"]) + 0.5 * arrays["C"]
    np.testing.assert_allclose(problem.reference(arrays), expected, rtol=1e-13)


def test_integer_reference_wraps_at_the_width_of_the_result() -> None:
    arrays = {"A": np.full((1, 2), 2**31 - 1, np.int32), "B": np.full((2, 1), 2, np.int32)}
    reference = Gemm(1, 1, 2, "int32").reference(arrays)
    assert reference.dtype == np.int32
    assert reference[0, 0] == -4  # 4 * (2**31 - 1) modulo 2**32


def test_int8_may_accumulate_into_int32() -> None:
    arrays = {"A": np.full((1, 300), 127, np.int8), "B": np.full((300, 1), -128, np.int8)}
    assert Gemm(1, 1, 300, "int8", out_dtype="int32").reference(arrays)[0, 0] == 300 * 127 * -128


@pytest.mark.parametrize(
    ("rows", "columns", "offset"), [(1, 1, 0), (3, 5, 0), (3, 5, 2), (4, 3, 3), (0, 2, 0), (2, 0, 0)]
)
def test_transpose_and_copy_references_equal_loops(rows: int, columns: int, offset: int) -> None:
    transpose, copy = Transpose(rows, columns, "int32", offset), Copy(rows, columns, "int32", offset)
    arrays = random_arrays(transpose)
    kept = columns - offset
    moved = np.zeros((kept, rows), np.int32)
    for row, column in itertools.product(range(rows), range(kept)):
        moved[column, row] = arrays["input"][row, column + offset]
    np.testing.assert_array_equal(transpose.reference(arrays), moved)
    np.testing.assert_array_equal(copy.reference(arrays), moved.T)
    assert transpose.reference(arrays).shape == output_of(transpose).shape
    assert copy.reference(arrays).shape == output_of(copy).shape


@pytest.mark.parametrize(
    ("problem", "flops", "nbytes"),
    [
        (Gemm(2, 3, 5, "float32"), 60, 4 * (10 + 15 + 6)),
        (Gemm(2, 3, 5, "float64"), 60, 8 * (10 + 15 + 6)),
        (Gemm(2, 3, 5, "complex64"), 240, 8 * (10 + 15 + 6)),
        (Gemm(2, 3, 5, "int8", out_dtype="int32"), 60, 10 + 15 + 4 * 6),
        (Gemm(2, 3, 5, "float32", batch=4), 240, 4 * 4 * (10 + 15 + 6)),
        (Gemm(0, 3, 5, "float32"), 0, 4 * 15),
        (Transpose(3, 4, "float64"), 0, 2 * 8 * 12),
        (Copy(3, 4, "float32", offset=1), 0, 4 * (12 + 9)),
    ],
)
def test_flops_and_compulsory_bytes(problem: Problem, flops: int, nbytes: int) -> None:
    assert problem.flops == flops
    assert compulsory_bytes(problem) == nbytes


def test_sizes_do_not_overflow() -> None:
    problem = Gemm(10**6, 10**6, 10**6)
    assert problem.flops == 2 * 10**18
    assert compulsory_bytes(problem) == 12 * 10**12


@pytest.mark.parametrize("order", ["row", "column"])
def test_an_operand_is_flattened_in_its_memory_order(order: str) -> None:
    operand = Operand("A", (2, 3), "int32", order)
    array = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    flat = operand.flatten(array)
    assert flat.tolist() == ([1, 2, 3, 4, 5, 6] if order == "row" else [1, 4, 2, 5, 3, 6])
    np.testing.assert_array_equal(operand.unflatten(flat), array)


def test_constant_inputs_hold_the_number_of_each() -> None:
    arrays = constant_arrays(Gemm(3, 4, 5, "int32"), (2, 3))
    assert {name: set(array.flat) for name, array in arrays.items()} == {"A": {2}, "B": {3}}
    assert constant_arrays(Transpose(2, 3), (0.5,))["input"].dtype == np.float32
    for problem, numbers, words in (
        (Gemm(3, 4, 5), (2.0,), ("A, B", "2, not 1")),
        (Gemm(3, 4, 5, "int8", out_dtype="int32"), (2.0, 200.0), ("200", "int8")),
        (Gemm(3, 4, 5, "int32"), (2.5, 1.0), ("2.5", "int32")),
    ):
        with pytest.raises(InvalidInput) as refusal:
            constant_arrays(problem, numbers)
        assert says(str(refusal.value), *words)


def test_inputs_and_output_are_told_apart() -> None:
    problem = Gemm(2, 3, 4)
    assert [each.name for each in inputs_of(problem)] == ["A", "B"]
    assert output_of(problem).name == "C"


@pytest.mark.parametrize("sizes", [(-1, 1, 1), (1, -2, 1), (1, 1, -3)])
def test_a_negative_size_is_refused_with_its_value(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidInput, match=f"={min(sizes)}"):
        Gemm(*sizes)


def test_an_unknown_dtype_names_the_near_ones() -> None:
    with pytest.raises(UnknownName, match="float32"):
        Gemm(1, 1, 1, "float23")
    with pytest.raises(UnknownName, match="float64"):
        Transpose(1, 1, "flaot64")


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_every_dtype_has_random_operands_that_hide_nothing(dtype: str) -> None:
    problem = Gemm(16, 16, 16, dtype)
    arrays = random_arrays(problem)
    for array in arrays.values():
        assert array.dtype == numpy_dtype(dtype)
        least = 1 if dtype == "bool" else 40 if dtype.startswith("float8") else 100
        assert np.unique(array).size > least, "a constant or almost constant matrix hides mistakes"
        assert not np.array_equal(array, array.T)
    assert numpy_dtype(dtype).name == dtype


def test_random_bools_have_products_of_both_values() -> None:
    for k in (16, 50, 1000):
        problem = Gemm(50, 60, k, "bool")
        found = problem.reference(random_arrays(problem))
        assert found.dtype == bool
        assert 0.02 < found.mean() < 0.98


def test_random_integers_cover_their_whole_range() -> None:
    array = random_arrays(Copy(500, 500, "int32"))["input"]
    assert array.min() < -(2**31) * 0.999
    assert array.max() > 2**31 * 0.999


def test_random_operands_depend_on_the_seed_alone() -> None:
    problem = Gemm(4, 4, 4)
    np.testing.assert_array_equal(random_arrays(problem, 1)["A"], random_arrays(problem, 1)["A"])
    assert not np.array_equal(random_arrays(problem, 1)["A"], random_arrays(problem, 2)["A"])


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_the_bound_holds_for_every_order_of_summation(k: int, seed: int) -> None:
    problem = Gemm(1, 1, k, "float32")
    arrays = random_arrays(problem, seed)
    reference = problem.reference(arrays)
    bound = np.asarray(problem.error_bound(arrays, reference))[0, 0]
    products = arrays["A"][0] * arrays["B"][:, 0]  # rounded to float32
    for order in (slice(None), slice(None, None, -1)):
        total = np.float32(0)
        for product in products[order]:
            total = np.float32(total + product)
        assert abs(float(total) - reference[0, 0]) <= bound


def test_the_bound_is_of_the_size_of_rounding() -> None:
    problem = Gemm(8, 8, 100, "float32")
    arrays = random_arrays(problem)
    bound = np.asarray(problem.error_bound(arrays, problem.reference(arrays)))
    size = np.abs(arrays["A"]).astype(float) @ np.abs(arrays["B"]).astype(float)
    np.testing.assert_allclose(bound, 102 * 2.0**-23 * size)


def test_exact_problems_have_no_bound() -> None:
    problem = Gemm(2, 2, 2, "int32")
    assert problem.error_bound(random_arrays(problem), np.zeros((2, 2))) == 0.0
    assert Copy(2, 2).error_bound({}, np.zeros((2, 2))) == 0.0


def test_fp8_is_allowed_what_tensor_cores_cut_off_within_128_steps_however_long_the_sum() -> None:
    own = Gemm(4, 4, 1000, "float8_e4m3fn", out_dtype="float32")
    arrays = random_arrays(own)
    size = np.abs(arrays["A"].astype(float)) @ np.abs(arrays["B"].astype(float))
    bounds = [
        np.asarray(each.error_bound(arrays, own.reference(arrays))) for each in (own, replace(own, precision="fp8"))
    ]
    assert np.allclose(bounds[0], 1002 * 2.0**-23 * size)
    assert np.allclose(bounds[1] - bounds[0], (128 + 4) * 2.0**-13 * size)
    with pytest.raises(InvalidInput, match=r"(?=.*'tf32')(?=.*float8_e4m3fn).*\bfp8\b"):
        replace(own, precision="tf32")


def test_what_a_problem_asks_for_beyond_its_operands_is_known_of_every_kind_of_problem() -> None:
    scaled = StridedGemm(2, 2, 2, "float8_e5m2", precision="fp8", scale_a="one", scale_b="one")
    problems: tuple[Problem, ...] = (Gemm(2, 2, 2, precision="tf32"), scaled, Copy(3, 4, offset=1), Transpose(3, 4))
    assert [precision_of(each) for each in problems] == ["tf32", "fp8", "", ""]
    assert [has_scales(each) for each in problems] == [False, True, False, False]
    assert [offset_of(each) for each in problems] == [0, 0, 1, 0]


def test_a_half_precision_result_is_allowed_its_own_rounding() -> None:
    problem = Gemm(4, 4, 16, "float16")
    arrays = random_arrays(problem)
    reference = problem.reference(arrays)
    bound = np.asarray(problem.error_bound(arrays, reference))
    assert (np.abs(reference.astype(np.float16).astype(float) - reference) <= bound).all()
