"""What is no array of numbers is refused by a sentence that names the argument. Text and dates may still be copied."""

from typing import Any

import numpy as np
import pytest

from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.library.result_types import product_types
from tilewright.library.views import as_host_array

FLOAT = np.dtype(np.float32)


@pytest.mark.parametrize("value", [None, "x" * 100, b"x", object(), {1: 2}, [None], [[1, 2], [3]], np.ma.ones(3)])
def test_what_is_no_array_is_refused_with_the_name_of_the_argument(value: object) -> None:
    with pytest.raises((UnsupportedType, InvalidInput)) as caught:
        as_host_array(value, "scale_a")
    assert str(caught.value).startswith("scale_a is ")
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("value", [3, [[1.0, 2.0]], ["abcd"], np.float32(1), np.zeros((0, 3)), range(4)])
def test_what_numpy_converts_is_an_array(value: Any) -> None:
    assert np.array_equal(as_host_array(value, "a"), np.asarray(value))


@pytest.mark.parametrize("other", ["O", "U4", "S3", "M8[D]", "m8[s]"])
def test_elements_that_are_no_numbers_are_refused_with_the_name_of_the_operand(other: str) -> None:
    for name, types in (
        ("a", (np.dtype(other), FLOAT)),
        ("b", (FLOAT, np.dtype(other))),
        ("a", (np.dtype(other),) * 2),
    ):
        with pytest.raises(UnsupportedType, match=f"^{name} has elements of "):
            product_types(*types, None)
