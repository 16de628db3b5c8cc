"""Products of 8-bit floats without a device: what is launched around other kernels, where widened operands lie."""

from dataclasses import replace

from devices import CPU, GPU

from tilewright.core.operands import Layout
from tilewright.core.problem import Gemm
from tilewright.core.types import FLOAT8
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.fp8.config import conversion, converted_layout

PROBLEM = Gemm(100, 200, 300, FLOAT8[0], out_dtype="bfloat16", b_order="column")


def test_processors_multiply_halves_and_others_the_bytes_themselves() -> None:
    on_cpu, on_gpu = (plan_product(PROBLEM, info) for info in (CPU, GPU))
    assert [step.kernel.name for step in on_cpu.steps] == ["fp8/convert", "fp8/convert", "cpu/06_production"]
    assert on_cpu.steps[-1].problem.dtype == "float16"
    assert {step.problem.dtype for step in on_gpu.steps} == {FLOAT8[0]}


def test_a_scaled_product_without_scales_of_its_own_is_scaled_last() -> None:
    problem = replace(call_of(PROBLEM), scale_a="each", scale_b="each", beta=3, bias="row", activation="relu")
    for info in (CPU, GPU):
        *before, last = plan_product(problem, info).steps
        assert last.kernel.name == "product/reduce"
        assert last.config.macros(last.problem)["SCALED"] == 1
        assert all(step.config.macros(step.problem).get("SCALED", 0) == 0 for step in before)
        assert not any(step.problem.scalars.get("beta", 0) for step in before)


def test_lines_of_widened_operands_begin_on_cache_lines() -> None:
    assert converted_layout(Layout(7, 300, 1), 100, 300, 1) == Layout(0, 320, 1, 0)
    assert converted_layout(Layout(0, 1, 100), 100, 300, 1) == Layout(0, 1, 128, 0)
    assert converted_layout(Layout(0, 300, 1, 30000), 100, 300, 4) == Layout(0, 320, 1, 32000)


def test_a_matrix_that_a_stack_shares_is_widened_once() -> None:
    shared = replace(call_of(replace(PROBLEM, batch=5)), views=(Layout(0, 300, 1, 0), *call_of(PROBLEM).views[1:]))
    move = conversion(shared, "A")
    assert (move.batch, move.target.batch, move.reserve) == (1, 0, 100 * 320)
