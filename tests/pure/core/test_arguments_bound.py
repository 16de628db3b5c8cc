"""Arguments are bound by name: what has no value is named, with what there is."""

from pathlib import Path

import pytest
from says import says

from tilewright.core.arguments import check_arguments
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Step
from tilewright.core.problem import Gemm
from tilewright.errors import InvalidInput


def step_of(parameters: str, folder: Path) -> Step:
    path = folder / "mine.cl"
    path.write_text(f"__kernel void mine({parameters}) {{ }}\n")
    kernel = custom_kernel(path, ["M"], ["1"])
    return Step(kernel, kernel.config, Gemm(8, 8, 8))


def complaint(parameters: str, folder: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_arguments(step_of(parameters, folder), ("A", "C"), ("M", "K"))
    return str(caught.value)


def test_all_names_without_a_value_are_listed_with_those_that_have_one(tmp_path: Path) -> None:
    words = complaint("__global float* a, __global float* out, const int K, int width", tmp_path)
    assert says(words, "a", "out", "width", "A, C", "M, K")
    assert "a to A" in words
    assert "'K'" not in words


def test_a_buffer_is_not_a_number(tmp_path: Path) -> None:
    assert says(complaint("int A, __global float* M", tmp_path), "'A', 'M'")


def test_a_local_pointer_is_refused_by_itself(tmp_path: Path) -> None:
    assert says(complaint("__global float* A, __local float* tile", tmp_path), "'tile'", "local memory")


def test_names_that_have_values_pass(tmp_path: Path) -> None:
    check_arguments(step_of("__global float* A, int M", tmp_path), ("A",), ("M",))
