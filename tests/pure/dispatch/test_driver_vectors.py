"""Which CPU devices get the kernels for CPUs: those whose drivers leave vectors to the kernels."""

from dataclasses import replace

import pytest
from devices import CPU

from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.problem import Copy, Gemm, Transpose
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.kernels.product.cpu.elements import takes_vectors

INTEL = replace(CPU, platform="Intel(R) OpenCL")
RUSTICL = replace(
    INTEL, platform="rusticl", max_work_group_size=1024, max_work_item_sizes=(1024,) * 3, native_widths={"float32": 1}
)


@pytest.mark.parametrize(
    "problem", [Gemm(70, 80, 90), Gemm(70, 1, 90), Gemm(9, 8, 7, "float8_e5m2", out_dtype="float16")], ids=str
)
def test_products(problem: Gemm) -> None:
    assert any(step.kernel.source.parent.name == "cpu" for step in plan_product(problem, INTEL).steps)
    folders = {step.kernel.source.parent.name for step in plan_product(problem, RUSTICL).steps}
    assert "cpu" not in folders
    assert "portable" in folders or "gemv" in folders


@pytest.mark.parametrize("problem", [Transpose(70, 80), Copy(70, 80), InPlaceTranspose(70)], ids=str)
def test_moves(problem: Transpose) -> None:
    assert {step.kernel.source.parent.name for step in plan_copy(problem, INTEL).steps} == {"cpu"}
    assert {step.kernel.source.parent.name for step in plan_copy(problem, RUSTICL).steps} == {"copy"}


def test_a_driver_that_does_not_say_is_taken_for_one_with_vectors() -> None:
    assert takes_vectors(replace(INTEL, native_widths={}))
    assert not takes_vectors(replace(INTEL, kind="gpu"))
