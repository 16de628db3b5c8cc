"""The programs that take any layout, on every driver: each tile, however A, B and C lie, with K whole and in splits."""

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.core import kernel as kernels
from tilewright.core.kernel import Kernel, render
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.gemv.config import GemvConfig
from tilewright.kernels.product.gemv.kernels import ANY_COLUMNS, ANY_ROWS
from tilewright.kernels.product.portable.config_any_layout import AnyLayoutConfig
from tilewright.kernels.product.portable.kernels import ANY_LAYOUT
from tilewright.kernels.product.portable.search import FEW_TILES
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify

pytestmark = pytest.mark.device
FENCES = Path(__file__).parents[2] / "data" / "plain_fences.cl"
LAYOUTS = (("row", "row"), ("row", "column"), ("column", "row"), ("column", "column"))
SMALL = FEW_TILES[0]


@pytest.fixture(autouse=True)
def plain_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kernels.FEATURE_PRELUDES, "nvidia", (str(FENCES),))


def check(problem: Gemm, config: AnyLayoutConfig, device: Device) -> None:
    swizzled = replace(config, LANE_SWIZZLE=0)
    steps = ANY_LAYOUT.steps(ANY_LAYOUT, swizzled, problem)
    verdict = verify(Plan(problem, steps), device)
    assert verdict.passed, verdict


@pytest.mark.parametrize("tile", FEW_TILES, ids=lambda tile: f"{tile.BM}x{tile.BN}")
def test_every_tile_reads_every_layout(tile: AnyLayoutConfig, device: Device) -> None:
    for a_order, b_order in LAYOUTS:
        for m, n, k in (
            (tile.BM + 4, tile.BN + 8, 2 * tile.BK + 4),
            (tile.BM + 3, tile.BN - 5, tile.BK + 3),
            (3, 2, 1),
        ):
            check(Gemm(m, n, k, "float32", a_order, b_order), tile, device)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "complex64"])
def test_every_type(dtype: str, device: Device) -> None:
    if dtype == "float64" and not device.info.fp64:
        pytest.skip("no double precision")
    result = "int32" if dtype == "int8" else dtype
    for a_order, b_order in LAYOUTS:
        for m, n, k in ((32, 48, 64), (19, 31, 33)):
            check(Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result), SMALL, device)


@pytest.mark.parametrize(("n", "dtype"), [(1, "float32"), (3, "float32"), (2, "float16"), (2, "complex64")])
def test_few_columns(n: int, dtype: str, device: Device) -> None:
    for kernel in (ANY_ROWS, ANY_COLUMNS):
        for m, k, split_k in ((64, 256, 1), (37, 251, 1), (70, 512, 4)):
            for a_order, b_order in LAYOUTS:
                problem = Gemm(m, n, k, dtype, a_order, b_order)
                assert isinstance(kernel.config, GemvConfig)
                steps = kernel.steps(kernel, replace(kernel.config, split_k=split_k), problem)
                verdict = verify(Plan(problem, steps), device)
                assert verdict.passed, (problem, verdict)


@pytest.mark.parametrize("kernel", [ANY_ROWS, ANY_COLUMNS], ids=lambda kernel: kernel.name)
def test_few_columns_have_a_text_for_each_class(kernel: Kernel) -> None:
    calls = [call_of(Gemm(m, n, 64, a_order=a, b_order=b)) for m in (64, 63) for n in range(1, 9) for a, b in LAYOUTS]
    assert len({render(kernel, kernel.config, call) for call in calls}) == 4


def test_splits_of_k_are_added_up(device: Device) -> None:
    if "Portable" in device.info.platform:
        pytest.skip("PoCL 3.1 loses sums across a barrier that stands below a condition, which all work-items share")
    for k in (512, 509):
        check(Gemm(40, 70, k, "float32", "row", "column"), replace(SMALL, split_k=4), device)


def test_strides_offsets_epilogues_and_batches(device: Device) -> None:
    views = (Layout(5, 41, 1, 1000), Layout(0, 1, 40, 2000), Layout(3, 1, 30, 1500))
    check(StridedGemm(29, 37, 40, batch=3, views=views, alpha=2), SMALL, device)
    check(Gemm(64, 64, 64, batch=3), SMALL, device)


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES))
def test_one_text_for_all_layouts(dtype: str) -> None:
    result = dtype if dtype in storable(dtype) else "float32"
    calls = [
        call_of(Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result))
        for m, n, k in ((64, 64, 64), (63, 61, 67))
        for a_order, b_order in LAYOUTS
    ]
    for tile in FEW_TILES:
        assert len({render(ANY_LAYOUT, tile, call) for call in calls}) == 1
