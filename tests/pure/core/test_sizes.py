"""Sizes and geometries as callers write them."""

from typing import Any

import numpy as np
import pytest

from tilewright.core.problems import make_problem
from tilewright.core.sizes import Sides, Size, Sizes, as_size, as_sizes, sides
from tilewright.errors import InvalidInput
from tilewright.kernels import find_kernel


@pytest.mark.parametrize(
    ("size", "numbers"),
    [(512, (512,)), ("512", (512,)), ("3x4X5", (3, 4, 5)), ([3, 4], (3, 4)), ((7,), (7,)), (np.int64(9), (9,))],
)
def test_a_size_is_a_number_a_text_or_numbers(size: Size, numbers: tuple[int, ...]) -> None:
    assert as_size(size) == numbers


@pytest.mark.parametrize(
    ("sizes", "several"),
    [
        (512, [(512,)]),
        ("3x4x5", [(3, 4, 5)]),
        ([512, 1024], [(512,), (1024,)]),
        ([(3, 4, 5), "6x7x8"], [(3, 4, 5), (6, 7, 8)]),
        ((), []),
    ],
)
def test_sizes_are_one_or_several(sizes: Sizes, several: list[tuple[int, ...]]) -> None:
    assert as_sizes(sizes) == several


@pytest.mark.parametrize("geometry", ["16,M/4", ("16", "M/4"), [16, "M/4"]])
def test_sides_are_expressions(geometry: Sides) -> None:
    assert sides(geometry) == ("16", "M/4")


@pytest.mark.parametrize("size", [64, "64", (64,), "64x64x64", [64, 64, 64]])
def test_a_problem_takes_each_form(size: Size) -> None:
    assert make_problem(find_kernel("tiles/2"), size).title == "gemm 64x64x64 float32"


@pytest.mark.parametrize("size", ["64x", 64.5, None, {1: 2}, (64, 1.5)])
def test_what_is_no_size_is_said(size: Any) -> None:
    with pytest.raises(InvalidInput, match="512x256x128"):
        make_problem(find_kernel("tiles/2"), size)
    with pytest.raises(InvalidInput, match="512x256x128"):
        as_sizes([size])
