"""Tiles of wgmma that are not whole lines wide, without a device: where they are offered and chosen, and what they load."""

from dataclasses import replace

import pytest
from devices import HOPPER
from says import says

from tilewright.core.operands import Layout
from tilewright.core.plan import violations
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.maps import loaded_rows
from tilewright.kernels.product.wgmma.search import ONE_WAVE_SPACE, configurations, shapes

FP16 = next(each for each in KERNELS if each.dtypes == ("float16",))


def reasons(problem: Gemm, config: WgmmaConfig) -> str:
    return "; ".join(violations(replace(FP16, config=config), config, problem, HOPPER))


@pytest.mark.parametrize("b_order", ["row", "column"])
def test_tiles_of_parts_of_lines_are_for_one_wave_and_load_no_more_than_they_multiply(b_order: str) -> None:
    one_wave, two = Gemm(1536, 1536, 1536, "float16", b_order=b_order), Gemm(1728, 1728, 64, "float16", b_order=b_order)
    for bm, bn, stages, rows, columns in ONE_WAVE_SPACE:
        config = WgmmaConfig(bm, bn, stages, rows, columns)
        assert not reasons(one_wave, config)
        assert says(reasons(two, config), bn, 64)
        call = call_of(one_wave)
        assert config.local_bytes(call) <= HOPPER.static_local_bytes
        assert loaded_rows(call, "B", bn) == bn
        loaded = config.tensor_maps(call)["map_b"]
        assert (loaded.box, loaded.swizzle) == (((32, 64, 1), 64) if b_order == "row" else ((64, bn, 1), 128))
        assert config.macros(call)["B_LINE"] == loaded.swizzle
        side = Layout(0, 512, 1)
        symmetric = StridedGemm(512, 512, 512, "float16", views=(side, side.swapped, side), symmetric=True)
        assert says(reasons(symmetric, config), bn, 64)


def test_tiles_of_parts_of_lines_are_chosen_where_they_fill_the_gpu() -> None:
    for n, tile in ((1536, (192, 96)), (2048, (128, 256))):
        config = plan_product(Gemm(n, n, n, "float16"), HOPPER).steps[-1].config
        assert isinstance(config, WgmmaConfig)
        assert tile == (config.BM, config.BN)
    assert not any(shape.BN % 64 for shape in shapes("int8"))
    narrow = configurations(call_of(Gemm(4096, 64, 4096, "float16")), HOPPER)
    assert not any(config.BN % 64 for config in narrow)


def test_narrow_tiles_are_offered_where_b_is_multiplied_from_registers() -> None:
    """Their sums are transposed: 32 are the rows of C, and B is not cut there."""
    offered = configurations(call_of(Gemm(24, 4096, 4096, precision="tf32")), HOPPER)
    assert (32, 256) in {(each.BM, each.BN) for each in offered}
