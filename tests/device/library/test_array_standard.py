"""What the Python array API standard says of `matmul` and `matrix_transpose`, by hypothesis's strategies for it.

Standard: https://data-apis.org/array-api/latest/API_specification/linear_algebra_functions.html
"""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from says import says

import tilewright
from tilewright.core.types import ELEMENT_TYPES
from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.runtime.opencl.device import Device

xps = make_strategies_namespace(np)
examples = settings(max_examples=150, derandomize=True, deadline=None)
numeric = xps.numeric_dtypes()
stacks = mutually_broadcastable_shapes(signature="(m,k),(k,n)->(m,n)", max_dims=3, min_side=0, max_side=4)


class Namespace:
    """An array namespace whose two functions are ours, as a caller of the standard meets them."""

    def __init__(self, device: Device) -> None:
        self.queue = device.queue

    def matmul(self, x1: np.ndarray, x2: np.ndarray, /) -> Any:
        return tilewright.matmul(x1, x2, queue=self.queue)

    def matrix_transpose(self, x: np.ndarray, /) -> Any:
        return tilewright.matrix_transpose(x, queue=self.queue)


def filled(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Numbers from 0 to 3, in order, and again."""
    return (np.arange(np.prod(shape, dtype=int)) % 4).reshape(shape).astype(dtype)


def promoted(one: np.dtype, other: np.dtype) -> np.dtype | None:
    """The standard's common type of two numeric types, None for the pairs that it leaves open: integers with floats."""
    if (one.kind in "iu") != (other.kind in "iu"):
        return None
    common = np.result_type(one, other)
    return None if common.kind == "f" and one.kind in "iu" else common


@examples
@given(one=numeric, other=numeric, shapes=stacks)
def test_types_are_promoted_or_refused(one: Any, other: Any, shapes: Any, one_device: Device) -> None:
    left, right = (filled(shape, dtype) for shape, dtype in zip(shapes.input_shapes, (one, other), strict=True))
    common = promoted(left.dtype, right.dtype)
    if common is None:
        return
    if common.name not in ELEMENT_TYPES:
        with pytest.raises(UnsupportedType, match=common.name):
            Namespace(one_device).matmul(left, right)
        return
    result = Namespace(one_device).matmul(left, right)
    assert result.dtype == ("int32" if common == np.int8 else common), "int8 is the one that gives another type"
    assert result.shape == shapes.result_shape
    assert np.array_equal(result, np.einsum("...mk,...kn->...mn", left.astype(complex), right.astype(complex)))


@examples
@given(
    batch=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), sides=st.tuples(*[st.integers(1, 4)] * 4)
)
def test_inner_sides_must_be_equal(batch: Any, sides: tuple[int, int, int, int], one_device: Device) -> None:
    left = filled((*batch.input_shapes[0], *sides[:2]), np.float32)
    right = filled((*batch.input_shapes[1], *sides[2:]), np.float32)
    if sides[1] == sides[2]:
        expected = (*batch.result_shape, sides[0], sides[3])
        assert Namespace(one_device).matmul(left, right).shape == expected
    else:
        with pytest.raises(InvalidInput, match=f"{sides[1]}.*{sides[2]}"):
            Namespace(one_device).matmul(left, right)


@examples
@given(stack=st.lists(st.integers(0, 3), max_size=3), m=st.integers(1, 4), k=st.integers(1, 4), same=st.booleans())
def test_vectors_lose_their_side_again(stack: list[int], m: int, k: int, same: bool, one_device: Device) -> None:
    """(k) (..., k, m) gives (..., m); (..., m, k) (k) gives (..., m); two vectors give no dimension, but a value."""
    namespace = Namespace(one_device)
    vector = filled((k if same else k + 1,), np.float64)
    right, left = filled((*stack, k, m), np.float64), filled((*stack, m, k), np.float64)
    if not same:
        for operands in ((vector, right), (left, vector), (vector, filled((k,), np.float64))):
            with pytest.raises(InvalidInput, match=rf"\b({k}\b.*\b{k + 1}|{k + 1}\b.*\b{k})\b"):
                namespace.matmul(*operands)
        return
    assert np.array_equal(namespace.matmul(vector, right), np.einsum("k,...km->...m", vector, right))
    assert np.array_equal(namespace.matmul(left, vector), np.einsum("...mk,k->...m", left, vector))
    inner = namespace.matmul(vector, vector)
    assert inner.shape == ()
    assert inner == (vector * vector).sum()


def test_no_operand_is_without_dimensions(one_device: Device) -> None:
    scalar, vector = np.float32(2), np.ones(3, np.float32)
    for operands in ((scalar, vector), (vector, scalar), (scalar, scalar)):
        with pytest.raises(InvalidInput) as refused:
            Namespace(one_device).matmul(*operands)
        assert says(str(refused.value), *(each.shape for each in operands))


@examples
@given(
    array=xps.arrays(dtype=xps.scalar_dtypes(), shape=xps.array_shapes(min_dims=2, max_dims=5, min_side=0, max_side=5))
)
def test_matrices_are_transposed_whatever_their_type(array: np.ndarray, one_device: Device) -> None:
    result = Namespace(one_device).matrix_transpose(array)
    assert result.dtype == array.dtype
    assert result.shape == (*array.shape[:-2], array.shape[-1], array.shape[-2])
    swapped = np.ascontiguousarray(np.moveaxis(array, -1, -2))
    assert result.tobytes() == swapped.tobytes(), "bit by bit, NaNs too"


@pytest.mark.parametrize("shape", [(), (3,)])
def test_less_than_a_matrix_is_not_transposed(shape: tuple[int, ...], one_device: Device) -> None:
    with pytest.raises(InvalidInput, match=re.escape(str(shape))):
        Namespace(one_device).matrix_transpose(np.zeros(shape))
