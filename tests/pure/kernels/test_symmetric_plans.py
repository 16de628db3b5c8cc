"""Symmetric products: which tiles and blocks are computed, what plans say of it, and that other products are as they were."""

from dataclasses import replace

import pytest
from devices import CPU, GPU, HOPPER

from tilewright.core.kernel import render
from tilewright.core.operands import Layout
from tilewright.core.problem import StridedGemm
from tilewright.dispatch.choice import plan_product, product_candidates
from tilewright.dispatch.symmetric import HALVED
from tilewright.dispatch.tuned import key_of
from tilewright.errors import InvalidInput
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.config import ProductConfig
from tilewright.kernels.product.cpu.config_symmetric import blocks_of_triangle, triangle_blocking
from tilewright.kernels.product.cpu.cost import register_tile
from tilewright.kernels.product.symmetric import MIRROR, tiles_of_triangle
from tilewright.kernels.product.wgmma.config import WgmmaConfig

H200 = replace(HOPPER, compute_units=132)
TYPES = ("float32", "float64", "float16", "complex64", "complex128", "int32")


def symmetric(n: int, k: int, dtype: str = "float32", **more: object) -> StridedGemm:
    a = Layout(0, k, 1)
    return StridedGemm(n, n, k, dtype, views=(a, a.swapped, Layout(0, n, 1)), symmetric=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("bm", [16, 32, 64, 128, 192, 256, 512])
@pytest.mark.parametrize("bn", [16, 64, 128, 192, 256, 512])
def test_the_tiles_of_a_triangle_are_those_that_touch_it(bm: int, bn: int) -> None:
    for n in (1, 15, 64, 65, 300, 511, 512, 1000, 1537, 4097):
        tiles_m, tiles_n = -(-n // bm), -(-n // bn)
        touching = sum(min((i + 1) * bm, n) > j * bn for i in range(tiles_m) for j in range(tiles_n))
        assert tiles_of_triangle(tiles_m, tiles_n, bm, bn) == touching


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("gpu", [H200, GPU], ids=lambda gpu: gpu.name)
def test_large_products_are_halved_on_gpus(dtype: str, gpu: object) -> None:
    plan = plan_product(symmetric(4096, 4096, dtype), gpu)  # type: ignore[arg-type]
    completed = 0 if gpu is H200 and dtype == "float16" else 1
    product = plan.steps[-1 - completed]
    assert (plan.steps[-1].kernel is MIRROR) is (completed == 1)
    assert HALVED in plan.notes
    assert isinstance(product.config, ProductConfig)
    whole = replace(product, problem=replace(product.problem, symmetric=False))  # type: ignore[type-var]
    computed, all_of_it = (render(each.kernel, each.config, each.problem) for each in (product, whole))
    assert "tile_of_triangle" in computed
    assert "tile_of_triangle" not in all_of_it


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_wgmma_mirrors_16_bit_results_itself_where_tma_stores_them(dtype: str) -> None:
    for n in (1000, 2048, 4096):  # rows of multiples of 16 bytes
        (step,) = plan_product(symmetric(n, 4096, dtype), H200).steps
        assert "store_with_mirror" in render(step.kernel, step.config, step.problem)
    assert plan_product(symmetric(1001, 4096, dtype), H200).steps[-1].kernel is MIRROR
    for config, alone in ((WgmmaConfig(128, 256, 4), True), (WgmmaConfig(128, 256, 4, tail_split=2), False)):
        assert config.mirrors(call_of(symmetric(4096, 4096, dtype))) is alone
        assert not config.mirrors(call_of(symmetric(4096, 4096, dtype, out_dtype="float32")))


def test_what_is_too_small_is_computed_whole_and_the_note_says_why() -> None:
    plan = plan_product(symmetric(64, 64), H200)
    assert len(plan.steps) == 1
    assert "B is A transposed, but all of C is computed: about" in plan.notes[0]


def test_what_is_computed_whole_is_summed_alike_everywhere() -> None:
    for n in range(100, 2600, 275):
        for dtype in TYPES:  # complex numbers are always halved
            plan = plan_product(symmetric(n, 300, dtype), H200)
            (step, *mirror) = [each for each in plan.steps if isinstance(each.config, ProductConfig)]
            assert not mirror
            itself = isinstance(step.config, WgmmaConfig) and step.config.mirrors(call_of(step.problem))
            if plan.steps[-1].kernel is not MIRROR and not itself:
                assert not dtype.startswith("complex")
                assert step.config.sums_alike(step.problem), f"{n} {dtype} {step.config}"  # type: ignore[attr-defined]


def test_a_cpu_halves_everything_by_one_launch() -> None:
    for dtype in (*TYPES, "bfloat16", "int8"):
        plan = plan_product(symmetric(300, 200, dtype, out_dtype="int32" if dtype == "int8" else None), CPU)
        (step,) = plan.steps
        assert step.kernel.name.startswith("cpu/symmetric")
        assert plan.notes[-1] == HALVED


def test_a_conjugate_or_a_beta_is_not_symmetric() -> None:
    for more in ({"beta": 1.0}, {"bias": "row"}, {"dtype": "complex64", "conjugate_b": True}):
        with pytest.raises(InvalidInput, match="is not symmetric"):
            symmetric(8, 8, **more)
    with pytest.raises(InvalidInput, match="other views"):
        replace(symmetric(8, 8), views=(Layout(0, 8, 1), Layout(0, 8, 1), Layout(0, 8, 1)))
    symmetric(8, 8, conjugate_b=True)  # of real numbers it says nothing


def test_tables_know_them_by_another_name() -> None:
    problem = symmetric(512, 512)
    assert key_of(problem) != key_of(replace(problem, symmetric=False))


def test_even_and_odd_rows_are_refused_with_a_sentence() -> None:
    call = call_of(symmetric(4096, 4100, "float16"))
    found = WgmmaConfig(128, 256, 4, even_odd_rows=True).even_odd_violations(call)
    assert "the even and the odd rows of a symmetric product are not symmetric" in found


def test_one_copy_serves_both_operands() -> None:
    """Rows of A that begin anywhere are packed for TMA."""
    call = call_of(symmetric(4099, 4097))
    plan = plan_product(call, H200)
    copies = [each for each in plan.steps if each.kernel.name.startswith("copy/")]
    assert len(copies) == 1
    product = plan.steps[-2]
    assert {product.buffer_of("A"), product.buffer_of("B")} == {"packed_A"}
    assert "packed_B" not in plan.scratch


def test_every_candidate_computes_about_half() -> None:
    call = call_of(symmetric(8192, 1024))
    whole = replace(call, symmetric=False)
    for count, kernel in enumerate(product_candidates(call, H200)):
        tiles = getattr(kernel.config, "tiles", None)
        if tiles is not None:
            assert 0.5 < tiles(call) / tiles(whole) < 0.6
        if count == 20:
            return


@pytest.mark.parametrize("units", [1, 2, 8, 64])
def test_blocks_on_cpus_cover_the_triangle(units: int) -> None:
    tile = register_tile(64, 4, False)
    for n in (1, 13, 100, 300, 1000, 4096):
        for k in (1, 100, 4000):
            blocks = triangle_blocking(n, k, 1, tile, units, 4, k)
            assert blocks.nb * blocks.kb <= tile.capacity
            touching = sum(min(n, i + blocks.mb) > j for i in range(0, n, blocks.mb) for j in range(0, n, blocks.nb))
            assert blocks_of_triangle(n, blocks.mb, blocks.nb) == touching
