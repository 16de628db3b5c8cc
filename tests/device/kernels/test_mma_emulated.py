"""mma/main_loop.cl on every driver, with NVIDIA's instructions put into plain OpenCL C: its schedule, copies, edges and sums."""

from dataclasses import replace
from pathlib import Path

import pytest
from emulation import MMA, emulated_text
from promised_bits import EPILOGUES, kernel_has_promised_bits

from tilewright.core.kernel import Kernel
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm
from tilewright.kernels.product.chain import chained
from tilewright.kernels.product.config import FUSED
from tilewright.kernels.product.mma.config import MmaFp64Config
from tilewright.kernels.product.mma.kernels import FP64
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


@pytest.fixture
def emulated(tmp_path: Path) -> Kernel:
    """The kernel in a file of its own, that needs no feature."""
    path = tmp_path / FP64.source.name
    path.write_text(emulated_text(FP64, MMA, EDITS, {"FRAGMENTS": "fragments_f64.cl"}))
    # Optimised, barriers in its loops are more than Intel's compiler can take: results are wrong, or it crashes.
    return replace(FP64, source=path, requires=(), options=("-cl-opt-disable",))


def check(kernel: Kernel, config: MmaFp64Config, problem: Gemm, device: Device) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    found = plan([replace(kernel, config=config)], problem, device.info)
    verdict = verify(found, device)
    assert verdict.passed, (
        f"{config} {problem.title} {problem.a_order} {problem.b_order} on {device.info.label}: {verdict}"
    )


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
