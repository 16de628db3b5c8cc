"""Plans for NVIDIA's GPUs, compiled by NVRTC without a GPU: every launch, for Hopper."""

from dataclasses import replace

import pytest
from devices import HOPPER, NVIDIA

from tilewright.core.kernel import Dialect, render
from tilewright.core.operands import Layout
from tilewright.core.problem import Gemm, StridedGemm, Transpose
from tilewright.core.types import FLOAT8
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.fp8.kernels import CONVERT, wrapped
from tilewright.kernels.product.portable.kernels import TILES
from tilewright.runtime.cuda.nvrtc import find_nvrtc

EIGHT_BITS = Gemm(100, 200, 300, FLOAT8[0], out_dtype="bfloat16", b_order="column")


@pytest.mark.parametrize("dtype", FLOAT8)
def test_products_of_8_bit_floats_compile(dtype: str) -> None:
    compiler = find_nvrtc("sm_90")
    if compiler is None:
        pytest.skip("no NVRTC is installed")
    problem = replace(call_of(replace(EIGHT_BITS, dtype=dtype)), scale_a="each", scale_b="each")
    kernel = wrapped(TILES, converts=True)
    steps = kernel.steps(kernel, kernel.config, problem)
    assert {step.kernel.name for step in steps} == {CONVERT.name, TILES.name, "product/reduce"}
    for step in steps:
        built = compiler.compile(
            render(step.kernel, step.config, step.problem, Dialect.CUDA), step.kernel.name, "sm_90"
        )
        assert not built.log


def test_what_the_library_plans_for_a_gpu_compiles() -> None:
    compiler = find_nvrtc("sm_90") or pytest.skip("NVRTC is not here")
    assert compiler is not None
    problems = (Gemm(33, 20, 17), Gemm(70, 1, 40, "complex64"), Gemm(1, 70, 40, "float16"), Transpose(70, 33, "int8"))
    plans = [
        plan_copy(each, NVIDIA) if isinstance(each, Transpose) else plan_product(each, NVIDIA) for each in problems
    ]
    for plan in plans:
        for step in plan.steps:
            built = compiler.compile(
                render(step.kernel, step.config, step.problem, Dialect.CUDA), step.kernel.name, "sm_90"
            )
            assert built.cubin.startswith(b"\x7fELF")
            assert not built.log


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_symmetric_products_on_hopper_compile(dtype: str) -> None:
    """The tile schedulers of triangles: as PTX, since machine code would lack what stands there as comments."""
    compiler = find_nvrtc("sm_90a") or pytest.skip("NVRTC is not here")
    assert compiler is not None
    a = Layout(0, 4096, 1)
    problem = StridedGemm(4096, 4096, 4096, dtype, views=(a, a.swapped, a), symmetric=True)
    plan = plan_product(problem, replace(HOPPER, compute_units=132))
    for step in plan.steps:
        source = render(step.kernel, step.config, step.problem, Dialect.CUDA)
        built = compiler.compile_ptx(source, step.kernel.name, step.kernel.target or "sm_90a")
        assert not built.log
