"""Sums that wait between blocks of K: wherever a CPU product has more than one block and C's type is too short, there is
a scratch matrix for them, however short the blocks are."""

from dataclasses import replace
from itertools import product

import pytest
from devices import CPU

from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm
from tilewright.core.types import element_type
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cpu.config import CpuConfig

UNITS = (1, 2, 8, 64)
SHORT = ("float16", "bfloat16")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
# Beyond 512, the most steps of a block, and below, where blocks are sometimes shorter.
DEPTHS = (40, 260, 300, 384, 400, 440, 512, 513, 900)
SIDES = (36, 130, 256, 320, 400, 403, 513, 768, 4096)


def product_step(plan: Plan) -> tuple[CpuConfig, int]:
    """The configuration of the step that multiplies, and how many blocks its K is cut into."""
    (step,) = (each for each in plan.steps if isinstance(each.config, CpuConfig))
    config = step.config
    assert isinstance(config, CpuConfig)
    call = call_of(step.problem).row_major
    return config, -(-call.k // config.blocks(call).kb)


def check(problem: Gemm, units: int) -> int:
    """Assert that the sums have where to wait, in floats; the number of blocks of K."""
    made = plan_product(problem, replace(CPU, compute_units=units))
    _, blocks = product_step(made)
    result = problem.out_dtype or problem.dtype
    waits = blocks > 1 and result in SHORT
    needed = {"sums": 4 * problem.batch * problem.m * problem.n} if waits else {}
    found = {name: nbytes for name, nbytes in made.scratch.items() if not name.startswith("converted_")}
    assert found == needed, f"{problem.title} in {blocks} blocks of K on {units} cores has the scratch memory {found}"
    return blocks


@pytest.mark.parametrize("units", UNITS)
def test_halves_have_a_scratch_matrix_wherever_k_is_cut(units: int) -> None:
    cut_early = 0
    for m, n, k in product(SIDES, SIDES, DEPTHS):
        for dtype in SHORT:
            blocks = check(Gemm(m, n, k, dtype), units)
            cut_early += blocks > 1 and k <= 512
    assert cut_early > 0  # else this shows nothing that K > KC would not


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("dtype", FLOAT8)
def test_so_do_8_bit_floats_with_results_of_halves(dtype: str, units: int) -> None:
    for (m, n, k), result in product(((400, 400, 400), (403, 513, 440), (4096, 4096, 320), (64, 64, 900)), SHORT):
        check(Gemm(m, n, k, dtype, out_dtype=result), units)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("batch", [2, 3, 70])
def test_so_do_stacks(batch: int, units: int) -> None:
    for m, n, k in product((40, 256, 400, 403), (130, 400, 513), (300, 400, 440, 513)):
        check(Gemm(m, n, k, "float16", batch=batch), units)


def test_the_shapes_that_went_wrong_are_cut() -> None:
    """On two cores these had two blocks of K and nowhere to keep the first one's sums."""
    for m, n, k in ((400, 400, 400), (403, 513, 440)):
        assert check(Gemm(m, n, k, "float16"), 2) == 2
        assert (
            element_type("float16").itemsize * m * n
            < plan_product(Gemm(m, n, k, "float16"), replace(CPU, compute_units=2)).scratch["sums"]
        )


def test_longer_results_need_none() -> None:
    for dtype, result in (("float32", None), ("float16", "float32"), ("int8", "int32"), ("complex64", None)):
        assert plan_product(Gemm(400, 400, 900, dtype, out_dtype=result), replace(CPU, compute_units=2)).scratch == {}
