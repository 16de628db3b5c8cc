"""On an NVIDIA GPU: the products by mma.sync, every element type, tile, layout and size, against float64."""

from dataclasses import replace

import numpy as np
import pytest
from families import fitting_mma, kernels_of
from strided_products import check_strided, run_on

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.precision import REPRODUCIBLE
from tilewright.core.problem import Arrays, Gemm, StridedGemm, random_arrays
from tilewright.core.types import DOUBLES, EXACT
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.mma import search as mma
from tilewright.kernels.product.mma.config import MmaConfig
from tilewright.kernels.product.mma.kernels import COMPLEX128_TMA, FP64_TMA, KERNELS
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify, verify_execution

RESULTS = {"int8": "int32"}
SHAPES = ((1, 1, 1), (257, 130, 333), (5, 7, 1104), (515, 260, 258))
ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]


def problem_of(kernel: Kernel, m: int, n: int, k: int, **more: object) -> Gemm:
    dtype = kernel.dtypes[0]
    own: dict[str, object] = {"out_dtype": RESULTS.get(dtype), "precision": kernel.precision, **more}
    return Gemm(m, n, k, dtype, **own)  # type: ignore[arg-type]


def usable(kernel: Kernel, device: Device) -> None:
    missing = [feature for feature, _ in kernel.requires if feature not in device.info.features]
    if missing:
        pytest.skip(f"{device.info.label} has no {', '.join(missing)}")


def named(kernel: Kernel) -> str:
    return kernel.name


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_every_layout_and_size(kernel: Kernel, a_order: str, b_order: str, nvidia: Device) -> None:
    usable(kernel, nvidia)
    for number, (m, n, k) in enumerate(SHAPES):
        problem = problem_of(kernel, m, n, k, a_order=a_order, b_order=b_order)
        tried = list(fitting_mma(kernel, call_of(problem), nvidia.info))
        assert tried, f"no configuration of {kernel.name} takes {problem.title}, {a_order} and {b_order}"
        own = replace(kernel, config=tried[number % len(tried)])  # another one for each shape
        verdict = verify(plan([own], problem, nvidia.info), nvidia)
        assert verdict.passed, f"{kernel.name} {own.config} {problem.title} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("kernel", [each for each in KERNELS if each.precision != REPRODUCIBLE], ids=named)
def test_every_tile(kernel: Kernel, b_order: str, nvidia: Device) -> None:
    usable(kernel, nvidia)
    problem = problem_of(kernel, 650, 530, 640, b_order=b_order)
    for config in [each for each in fitting_mma(kernel, call_of(problem), nvidia.info) if not each.pack]:
        few = replace(config, groups=min(config.groups, 13))  # so that each has several tiles, and some are shared out
        for each in (config, few):
            if not any(each.violations(problem, nvidia.info)):
                own = replace(kernel, config=each)
                verdict = verify(plan([own], problem, nvidia.info), nvidia)
                assert verdict.passed, f"{kernel.name} {each}: {verdict}"


@pytest.mark.parametrize("n", [1, 8, 16, 24, 33])
@pytest.mark.parametrize("kernel", [each for each in KERNELS if each.dtypes[0] not in DOUBLES], ids=named)
def test_thin_tiles(kernel: Kernel, n: int, nvidia: Device) -> None:
    """Copies of columns beyond the last one are left out: what their places hold must not reach the others."""
    usable(kernel, nvidia)
    tried = 0
    for b_order in ("row", "column"):
        problem = problem_of(kernel, 70, n, 1104, b_order=b_order)
        for config in fitting_mma(kernel, call_of(problem), nvidia.info):
            if config.WARPS_K > 1:
                verdict = verify(plan([replace(kernel, config=config)], problem, nvidia.info), nvidia)
                assert verdict.passed, f"{kernel.name} {config} {problem.title} {b_order}: {verdict}"
                tried += 1
    assert tried


def check_repeats(execution: Execution, arrays: Arrays, times: int) -> None:
    """The result is right, and has the same bits when it is computed again."""
    execution.write(arrays)
    execution.launch()
    first = execution.read()
    assert Reference(execution.plan.problem, arrays).judge(first).passed
    for _ in range(times):
        execution.launch()
        assert (execution.read() == first).all()


@pytest.mark.parametrize("kernel", [each for each in KERNELS if each.precision != REPRODUCIBLE], ids=named)
def test_shared_tiles_add_up_the_same_at_every_run(kernel: Kernel, nvidia: Device) -> None:
    usable(kernel, nvidia)
    problem = problem_of(kernel, 300, 300, 5000, b_order="column")
    shared = [each for each in fitting_mma(kernel, call_of(problem), nvidia.info) if each.stream_k]
    assert shared
    arrays = random_arrays(problem)
    execution = Execution(plan([replace(kernel, config=shared[0])], problem, nvidia.info), nvidia)
    check_repeats(execution, arrays, 5)


IEEE = [each for each in KERNELS if each.dtypes[0] not in (*EXACT, "complex128")]


@pytest.mark.parametrize("kernel", IEEE, ids=named)
def test_infinities_and_nan_go_where_ieee_arithmetic_sends_them(kernel: Kernel, nvidia: Device) -> None:
    usable(kernel, nvidia)
    for a_order, b_order in ORDERS:
        problem = problem_of(kernel, 70, 90, 50, a_order=a_order, b_order=b_order)
        arrays = random_arrays(problem)
        arrays["A"][3, 5], arrays["A"][17, 0], arrays["B"][9, 11] = np.inf, np.nan, -np.inf
        reference = Reference(problem, arrays)
        chosen = kernels_of(mma, problem, nvidia.info) or (kernel,)
        verdict = verify_execution(Execution(plan(chosen[:1], problem, nvidia.info), nvidia), reference)
        assert verdict.passed, f"{kernel.name} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_batches_views_and_the_epilogue(kernel: Kernel, nvidia: Device) -> None:
    """Two matrices of a stack, with gaps between rows, alpha and beta, a bias along rows, and relu."""
    usable(kernel, nvidia)
    m, n, k, gap = 150, 70, 48, 16
    dtype, result = kernel.dtypes[0], RESULTS.get(kernel.dtypes[0], kernel.dtypes[0])
    a = Layout(gap, k + gap, 1, m * (k + gap))
    b = Layout(2 * gap, 1, k + gap, n * (k + gap))
    c = Layout(6, n + 2, 1, m * (n + 2) + 4)
    relu = "" if dtype == "complex128" else "relu"
    for bias, activation in (("", ""), ("row", relu), ("column", relu)):
        problem = StridedGemm(
            m, n, k, dtype, alpha=2, beta=3, batch=3, out_dtype=result, views=(a, b, c), bias=bias, activation=activation,
            precision=kernel.precision,
        )  # fmt: skip
        assert isinstance(kernel.config, MmaConfig)
        check_strided(problem, replace(kernel, config=replace(kernel.config, groups=4)), nvidia)


def test_what_the_library_plans_for_doubles(nvidia: Device) -> None:
    if "mma_f64" not in nvidia.info.features:
        pytest.skip("needs mma.sync of doubles")
    for problem in (
        Gemm(1024, 1024, 1024, "float64"),
        Gemm(999, 1001, 1003, "float64"),
        Gemm(64, 64, 64, "float64", batch=40),
        Gemm(128, 128, 128, "float64", "column", "column"),
        Gemm(250, 260, 270, "float64"),
        Gemm(511, 513, 515, "float64", "column"),
        Gemm(4096, 16, 1000, "float64", b_order="column"),
    ):
        found = plan(kernels_of(mma, problem, nvidia.info), problem, nvidia.info)
        assert found.steps[-1].kernel.name in ("mma/main_loop_tma[float64]", "mma/main_loop[float64]")
        verdict = verify(found, nvidia)
        assert verdict.passed, f"{problem.title}: {verdict}"


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_large_products_are_fetched_by_the_copy_engine(dtype: str, nvidia: Device) -> None:
    usable(FP64_TMA, nvidia)
    for a_order, b_order in ORDERS:
        problem = Gemm(1024, 1030, 1026, dtype, a_order, b_order)
        found = plan(kernels_of(mma, problem, nvidia.info), problem, nvidia.info)
        assert found.steps[-1].kernel.name == f"mma/main_loop_tma[{dtype}]"
        verdict = verify(found, nvidia)
        assert verdict.passed, f"{problem.title} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("kernel", [FP64_TMA, COMPLEX128_TMA], ids=named)
def test_fetched_panels_are_not_overwritten_while_they_are_read(
    kernel: Kernel, a_order: str, b_order: str, nvidia: Device
) -> None:
    """Such a race shows in one launch of a few, where stores of other tiles hold up reads: as a difference between runs."""
    usable(kernel, nvidia)
    problem = Gemm(1088, 1920, 1040, kernel.dtypes[0], a_order, b_order)
    arrays = random_arrays(problem)
    assert isinstance(kernel.config, MmaConfig)
    own = replace(kernel, config=replace(kernel.config, stream_k=True, groups=100))
    execution = Execution(plan([own], problem, nvidia.info), nvidia)
    check_repeats(execution, arrays, 40)


def test_complex_conjugates(nvidia: Device) -> None:
    usable(COMPLEX128_TMA, nvidia)
    m, n, k = 70, 50, 90
    views = (Layout(0, 1, m), Layout(0, n, 1), Layout(0, n, 1))
    plain = Gemm(m, n, k, "complex128")
    arrays = random_arrays(plain)
    flat = {
        "A": arrays["A"].T.reshape(-1).copy(),
        "B": arrays["B"].reshape(-1).copy(),
        "C": np.zeros(m * n, np.complex128),
    }
    for conjugate_a in (False, True):
        for conjugate_b in (False, True):
            call = replace(call_of(plain), views=views, conjugate_a=conjugate_a, conjugate_b=conjugate_b)
            result = run_on(flat, call, COMPLEX128_TMA, nvidia, m * n).reshape(m, n)
            a = arrays["A"].conj() if conjugate_a else arrays["A"]
            b = arrays["B"].conj() if conjugate_b else arrays["B"]
            assert np.abs(result - a @ b).max() < 1e-12, (conjugate_a, conjugate_b)
