"""mma/main_loop_elements.cl on an NVIDIA GPU: every tile, layouts, splits of K, views with an epilogue, NaN and infinity."""

from dataclasses import replace

import numpy as np
import pytest
from strided_products import check_strided

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, StridedGemm, random_arrays
from tilewright.kernels.product.mma.config_elements import MmaElementsConfig
from tilewright.kernels.product.mma.kernels import ELEMENTS
from tilewright.kernels.product.mma.search_elements import FP64_SPACE, SPACE
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify, verify_execution

ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]
SHAPES = ((1, 1, 1), (257, 131, 333), (5, 7, 1103), (132, 68, 84), (160, 96, 128))  # lines of 1, 2, 4 and 8 elements


@pytest.fixture(params=ELEMENTS, ids=lambda kernel: kernel.name)
def kernel(request: pytest.FixtureRequest, nvidia: Device) -> Kernel:
    own: Kernel = request.param
    missing = [feature for feature, _ in own.requires if feature not in nvidia.info.features]
    if missing:
        pytest.skip(f"{nvidia.info.label} has no {', '.join(missing)}")
    return own


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
def test_every_tile_and_layout(kernel: Kernel, a_order: str, b_order: str, nvidia: Device) -> None:
    (dtype,) = kernel.dtypes
    for number, config in enumerate(SPACE if dtype in ("float16", "bfloat16") else FP64_SPACE):
        m, n, k = SHAPES[number % len(SHAPES)]
        problem = Gemm(m, n, k, dtype, a_order, b_order, batch=2)
        verdict = verify(plan([replace(kernel, config=config)], problem, nvidia.info), nvidia)
        assert verdict.passed, f"{kernel.name} {config} {problem.title} {a_order} {b_order}: {verdict}"


def test_parts_of_k(kernel: Kernel, nvidia: Device) -> None:
    (dtype,) = kernel.dtypes
    assert isinstance(kernel.config, MmaElementsConfig)
    for split_k in (2, 5):
        own = replace(kernel, config=replace(kernel.config, split_k=split_k))
        verdict = verify(plan([own], Gemm(97, 61, 1001, dtype, batch=3), nvidia.info), nvidia)
        assert verdict.passed, f"{own.config}: {verdict}"


def test_views_and_the_epilogue(kernel: Kernel, nvidia: Device) -> None:
    (dtype,) = kernel.dtypes
    views = (Layout(3, 2, 151, 5), Layout(1, 67, 3, 4000), Layout(5, 77, 2, 5000))
    relu = "" if dtype == "complex128" else "relu"
    for bias, activation in (("", ""), ("row", relu), ("column", relu)):
        problem = StridedGemm(
            45, 21, 33, dtype, alpha=2, beta=3, batch=2, views=views, bias=bias, activation=activation
        )
        check_strided(problem, kernel, nvidia)


def test_nan_and_infinity_stay_where_they_belong(kernel: Kernel, nvidia: Device) -> None:
    (dtype,) = kernel.dtypes
    problem = Gemm(71, 91, 51, dtype)
    arrays = random_arrays(problem)
    arrays["A"][17, 0] = np.nan
    if dtype != "complex128":  # of whose infinities BLAS, the reference, makes NaN when it multiplies them by alpha
        arrays["A"][3, 5], arrays["B"][9, 11] = np.inf, -np.inf
    verdict = verify_execution(Execution(plan([kernel], problem, nvidia.info), nvidia), Reference(problem, arrays))
    assert verdict.passed, f"{kernel.name}: {verdict}"
