"""On a Hopper GPU by CUDA: products by wgmma in clusters of two work-groups, which load for each other, against float64."""

from dataclasses import replace

import pytest

from tilewright.core.plan import plan
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.errors import NoDevice
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.search import CLUSTERS, ONE_WAVE_SPACE, configurations
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.cuda.opening import library_device
from tilewright.runtime.verify import verify

RESULTS = {"int8": "int32", "float8_e4m3fn": "bfloat16", "float8_e5m2": "float32"}
ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]
SHAPES = ((648, 520, 656), (1288, 264, 72), (136, 3000, 4104))
FP16 = next(each for each in KERNELS if each.dtypes == ("float16",))


@pytest.fixture(scope="module")
def clusters() -> Device:
    """The GPU as the library opens it for CUDA arrays, if it launches clusters."""
    try:
        device = library_device(0)
    except NoDevice as missing:
        pytest.skip(str(missing))
    if not {"clusters", "wgmma"} <= device.info.features:
        pytest.skip(f"{device.info.label} launches no clusters, or has no wgmma")
    return device


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
def test_every_tile_and_layout_in_clusters(a_order: str, b_order: str, clusters: Device) -> None:
    """One tile for each work-group, several, and tiles whose k is split: also where one work-group's tile lies outside of C."""
    for place, (m, n, k) in enumerate(SHAPES):
        problem = Gemm(m, n, k, "float16", a_order, b_order)
        offered = [each for each in configurations(call_of(problem), clusters.info) if each.cluster == 2]
        assert offered, problem.title
        tried = offered[place :: len(offered) // 3]
        several = [replace(each, groups=4, tail_split=1) for each in offered if each.consumers > 1][:1]
        for each in (*tried, *several):
            verdict = verify(plan([replace(FP16, config=each)], problem, clusters.info), clusters)
            assert verdict.passed, f"{each} {problem.title} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("tile", [WgmmaConfig(*each) for each in ONE_WAVE_SPACE], ids=str)
def test_tiles_of_parts_of_lines_in_clusters(tile: WgmmaConfig, a_order: str, b_order: str, clusters: Device) -> None:
    """Two work-groups load boxes of B for each other: of 96 columns across k these are three."""
    problem = Gemm(648, 520, 656, "float16", a_order, b_order)
    for down, across in CLUSTERS:
        config = replace(tile, CLUSTER_M=down, CLUSTER_N=across)
        verdict = verify(plan([replace(FP16, config=config)], problem, clusters.info), clusters)
        assert verdict.passed, f"{config} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.name)
def test_every_type_in_clusters(kernel: object, clusters: Device) -> None:
    own = next(each for each in KERNELS if each is kernel)
    dtype = own.dtypes[0]
    for b_order in ("row", "column"):
        problem = Gemm(
            650, 528, 1040, dtype, "row", b_order, out_dtype=RESULTS.get(dtype), precision=own.precision, batch=2, alpha=2
        )  # fmt: skip
        offered = [each for each in configurations(call_of(problem), clusters.info) if each.cluster == 2]
        for config in offered[:: max(1, len(offered) // 3)]:
            verdict = verify(plan([replace(own, config=config)], problem, clusters.info), clusters)
            assert verdict.passed, f"{config} {problem.title} {b_order}: {verdict}"


def test_unaligned_products_are_planned_in_clusters_and_right(clusters: Device) -> None:
    for n in (1000, 2056):
        problem = Gemm(n, n, n, "float16")
        chosen = plan_product(problem, clusters.info)
        assert chosen.steps[-1].config.ndrange(chosen.steps[-1].problem).cluster, problem.title
        verdict = verify(chosen, clusters)
        assert verdict.passed, f"{problem.title}: {verdict}"
