"""mma/main_loop.cl on every driver, with NVIDIA's instructions put into plain OpenCL C: its schedule, copies, edges and sums."""

from dataclasses import replace
from pathlib import Path

import pytest
from emulation import MMA, emulated_text
from promised_bits import EPILOGUES, kernel_has_promised_bits
from strided_products import check_strided

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.kernels.product.chain import chained
from tilewright.kernels.product.config import FUSED
from tilewright.kernels.product.mma.config import MmaConfig, MmaFp64Config
from tilewright.kernels.product.mma.kernels import COMPLEX128, FP64
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify

# Local memory, by which work-items exchange operands, and addresses there as pointers.
EDITS = (
    ("const uint panel,", "__local uchar* panel,"),
    ("const uint to =", "__local uchar* to ="),
    ("multiply(sum[i][j], a_fragments", "exchange_and_multiply(held, sum[i][j], a_fragments"),
    ("    __local uchar panels[", "    __local double held[ITEMS * 6];\n    __local uchar panels["),
)
PARALLEL = MmaFp64Config(32, 32, 1, 2, 2, GROUP_M=2, groups=3)
COMPLEX = MmaConfig(32, 32, 1, 2, 2, GROUP_M=2, groups=3)


@pytest.fixture
def emulated(tmp_path: Path) -> Kernel:
    """The kernel in a file of its own, that needs no feature."""
    path = tmp_path / FP64.source.name
    path.write_text(emulated_text(FP64, MMA, EDITS, {"FRAGMENTS": "fragments_f64.cl"}))
    # Optimised, barriers in its loops are more than Intel's compiler can take: results are wrong, or it crashes.
    return replace(FP64, source=path, requires=(), options=("-cl-opt-disable",))


@pytest.fixture
def emulated_complex(tmp_path: Path) -> Kernel:
    """The same for complex128."""
    path = tmp_path / COMPLEX128.source.name
    path.write_text(emulated_text(COMPLEX128, MMA, EDITS, {"FRAGMENTS": "fragments_c128.cl"}))
    return replace(COMPLEX128, source=path, requires=(), options=("-cl-opt-disable",))


def check(kernel: Kernel, config: MmaConfig, problem: Gemm, device: Device) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    found = plan([replace(kernel, config=config)], problem, device.info)
    verdict = verify(found, device)
    assert verdict.passed, f"{config} {problem} on {device.info.label}: {verdict}"


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
def test_layouts_and_edges(a_order: str, b_order: str, emulated: Kernel, device: Device) -> None:
    for m, n, k in ((70, 40, 33), (34, 66, 48)):
        check(emulated, PARALLEL, Gemm(m, n, k, "float64", a_order, b_order, batch=2), device)


def test_tiles_that_are_shared_out(emulated: Kernel, device: Device) -> None:
    for m, n, k, groups in ((32, 32, 500, 7), (100, 40, 50, 5)):
        config = replace(PARALLEL, groups=groups, stream_k=True)
        check(emulated, config, Gemm(m, n, k, "float64"), device)


def test_packed_operands_and_deeper_panels(emulated: Kernel, device: Device) -> None:
    check(emulated, replace(PARALLEL, pack=True), Gemm(70, 41, 33, "float64"), device)
    check(emulated, replace(PARALLEL, lines=2, STAGES=2), Gemm(70, 42, 75, "float64", b_order="column"), device)
    check(emulated, replace(PARALLEL, BM=64, STAGES=3), Gemm(70, 42, 100, "float64"), device)


def test_warps_that_share_out_the_depth(emulated: Kernel, device: Device) -> None:
    """Also several tiles for a work-group, tiles that are shared out, and work-items enough for more than the rows of a panel."""
    parts = replace(PARALLEL, lines=2, WARPS_K=2)
    for a_order, b_order in (("row", "row"), ("column", "column")):
        check(emulated, parts, Gemm(70, 42, 75, "float64", a_order, b_order, batch=2), device)
    check(emulated, replace(parts, groups=5, stream_k=True), Gemm(100, 40, 150, "float64"), device)
    for a_order, b_order in (("row", "column"), ("column", "row")):
        many = replace(PARALLEL, BN=16, WARPS_N=1, lines=8, WARPS_K=8)
        check(emulated, many, Gemm(70, 42, 300, "float64", a_order, b_order), device)


def test_nothing_to_add_up_is_zero(emulated: Kernel, device: Device) -> None:
    check(emulated, PARALLEL, Gemm(40, 33, 0, "float64"), device)
    check(emulated, PARALLEL, Gemm(0, 33, 5, "float64"), device)


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
def test_complex_numbers(a_order: str, b_order: str, emulated_complex: Kernel, device: Device) -> None:
    for m, n, k in ((70, 40, 33), (34, 66, 48)):
        check(emulated_complex, COMPLEX, Gemm(m, n, k, "complex128", a_order, b_order, batch=2), device)
    shared = replace(COMPLEX, groups=5, stream_k=True)
    check(emulated_complex, shared, Gemm(100, 40, 50, "complex128", a_order, b_order), device)
    sliced = replace(COMPLEX, BN=16, WARPS_N=1, lines=4, WARPS_K=4)
    check(emulated_complex, sliced, Gemm(70, 42, 75, "complex128", a_order, b_order), device)
    check(emulated_complex, sliced, Gemm(33, 17, 0, "complex128", a_order, b_order), device)


@pytest.mark.parametrize(("conjugate_a", "conjugate_b"), [(True, False), (False, True), (True, True)])
def test_conjugates_and_strides(conjugate_a: bool, conjugate_b: bool, emulated_complex: Kernel, device: Device) -> None:
    """Neighbours that are neighbours in no direction, too: each element is a copy of its own."""
    m, n, k = 37, 21, 30
    views = (Layout(3, 2 * k + 5, 2), Layout(1, 3 * n, 3), Layout(2, n + 1, 1))
    problem = StridedGemm(
        m, n, k, "complex128", alpha=0.5, beta=1.5, views=views, conjugate_a=conjugate_a, conjugate_b=conjugate_b
    )
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    check_strided(problem, replace(emulated_complex, config=COMPLEX), device)


@pytest.mark.parametrize(("alpha", "beta"), EPILOGUES)
def test_reproducible_products_are_one_chain(alpha: float, beta: float, device: Device, tmp_path: Path) -> None:
    """If the instruction adds its products one by one, as the emulated one does: of a GPU's the probe mma_f64_chain asks it."""
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    path = tmp_path / FP64.source.name
    path.write_text(emulated_text(FP64, MMA, EDITS, {"FRAGMENTS": "fragments_f64.cl", **FUSED}))
    own = replace(chained(FP64), config=PARALLEL, source=path, requires=(), options=("-cl-opt-disable",))
    for m, n, k in ((70, 40, 33), (34, 66, 148)):
        problem = Gemm(m, n, k, "float64", alpha=alpha, beta=beta, precision="reproducible")
        assert kernel_has_promised_bits(own, problem, device.info, device), problem.title
