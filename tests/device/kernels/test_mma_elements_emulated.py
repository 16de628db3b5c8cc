"""mma/main_loop_elements.cl on every driver, with NVIDIA's instructions put into plain OpenCL C: loads, edges, splits, stores."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulation import MMA_ELEMENTS, emulated_text
from strided_products import check_strided, filled, run_on, view

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, Problem, StridedGemm
from tilewright.kernels.product.mma.config_elements import MmaElementsConfig
from tilewright.kernels.product.mma.kernels import ELEMENTS
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify

# Local memory by which work-items exchange what they hold.
HALVES = (
    ("(uint* fragment, const local STORED* panel", "(uint* fragment, local int* held, const local STORED* panel"),
    ("ldmatrix_x4(fragment, ", "ldmatrix_x4(held, panel, fragment, "),
    ("ldmatrix_x4_trans(fragment, ", "ldmatrix_x4_trans(held, panel, fragment, "),
    ("[TILES_N][4], const local STORED* panel,", "[TILES_N][4], local int* held, const local STORED* panel,"),
    ("read_a(a[i], ", "read_a(a[i], held, "),
    ("read_b(b[j], ", "read_b(b[j], held, "),
    ("MMA(sum[i][j], ", "exchange_words(held, sum[i][j], "),
    ("multiply(sum, panels", "multiply(sum, held, panels"),
    ("    __local uchar local_bytes[", "    __local int held[ITEMS * 8];\n    __local uchar local_bytes["),
)
DOUBLES = (
    (
        "[TILES_N * PARTS][4], const local double* panel,",
        "[TILES_N * PARTS][4], local double* held, const local double* panel,",
    ),
    ("multiply_tile(double sum", "multiply_tile(local double* held, double sum"),
    ("mma_sync_m16n8k8_f64(", "exchange_and_multiply(held, "),
    ("multiply_tile(sum[i]", "multiply_tile(held, sum[i]"),
    ("multiply(sum, panels", "multiply(sum, held, panels"),
    ("    __local uchar local_bytes[", "    __local double held[ITEMS * 6];\n    __local uchar local_bytes["),
)
SMALL = MmaElementsConfig(32, 32, 32, 1, 1, GROUP_M=2)


def emulated_kernel(dtype: str, folder: Path) -> Kernel:
    """The kernel of a type in a file of its own, that needs no feature."""
    own = next(each for each in ELEMENTS if each.dtypes == (dtype,))
    edits, fragments = (HALVES, "elements_words.cl") if dtype == "float16" else (DOUBLES, "elements_f64.cl")
    path = folder / f"{dtype}_{own.source.name}"
    path.write_text(emulated_text(own, MMA_ELEMENTS, edits, {"FRAGMENTS": fragments}))
    # Optimised, barriers in its loops are more than Intel's compiler can take: results are wrong, or it crashes.
    return replace(own, source=path, requires=(), options=("-cl-opt-disable",))


@pytest.fixture
def emulated(tmp_path: Path) -> Kernel:
    return emulated_kernel("float16", tmp_path)


@pytest.fixture(params=["float64", "complex128"])
def of_doubles(request: pytest.FixtureRequest, tmp_path: Path, device: Device) -> Kernel:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    return emulated_kernel(request.param, tmp_path)


def check(kernel: Kernel, config: MmaElementsConfig, problem: Problem, device: Device) -> None:
    found = plan([replace(kernel, config=config)], problem, device.info)
    verdict = verify(found, device)
    assert verdict.passed, f"{config} {problem.title} on {device.info.label}: {verdict}"


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
def test_layouts_and_edges(a_order: str, b_order: str, emulated: Kernel, device: Device) -> None:
    """Odd lines, and lines of which 2, 4 and 8 elements are loaded at a time."""
    for m, n, k in ((45, 33, 67), (34, 66, 46), (36, 60, 20), (40, 64, 72)):
        check(emulated, SMALL, Gemm(m, n, k, "float16", a_order, b_order, batch=2), device)


def test_tiles_and_warps(emulated: Kernel, device: Device) -> None:
    """Fewer work-items than a line has loads, and more."""
    for config in (
        MmaElementsConfig(64, 16, 64, 1, 1), MmaElementsConfig(16, 64, 16, 1, 4), MmaElementsConfig(64, 32, 16, 4, 2),
        MmaElementsConfig(16, 32, 64, 1, 1, WARPS_K=4), MmaElementsConfig(32, 32, 32, 1, 2, WARPS_K=2),
    ):  # fmt: skip
        check(emulated, config, Gemm(67, 37, 81, "float16"), device)
        check(emulated, config, Gemm(67, 37, 81, "float16", "column", "column"), device)


def test_parts_of_k(emulated: Kernel, device: Device) -> None:
    check(emulated, replace(SMALL, split_k=3), Gemm(45, 33, 167, "float16", batch=2), device)


def test_any_strides_and_an_epilogue(emulated: Kernel, device: Device) -> None:
    """NaN lies around A and B, and what lies around C stays."""
    kernel = replace(emulated, config=SMALL)
    views = (Layout(3, 2, 151, 5), Layout(1, 67, 3, 4000), Layout(5, 77, 2, 5000))
    problem = StridedGemm(
        45, 21, 33, "float16", alpha=0.5, beta=-2.0, batch=2, views=views, bias="row", activation="relu"
    )
    check_strided(problem, kernel, device)
    check_strided(replace(problem, out_dtype="float32", bias="column", activation=""), kernel, device)
    aligned = (Layout(8, 40, 1), Layout(16, 1, 40), Layout(24, 48, 1))
    check_strided(replace(problem, n=24, k=40, batch=1, views=aligned), kernel, device)


def test_nothing_to_add_up_is_zero(emulated: Kernel, device: Device) -> None:
    check(emulated, SMALL, Gemm(40, 33, 0, "float16"), device)


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
def test_doubles(a_order: str, b_order: str, of_doubles: Kernel, device: Device) -> None:
    (dtype,) = of_doubles.dtypes
    for config in (MmaElementsConfig(32, 16, 16, 2, 1), MmaElementsConfig(16, 32, 32, 1, 1, WARPS_K=2)):
        check(of_doubles, config, Gemm(37, 35, 51, dtype, a_order, b_order, batch=2), device)
        check(of_doubles, config, Gemm(36, 34, 48, dtype, a_order, b_order), device)


def test_doubles_in_parts_of_k_with_an_epilogue(of_doubles: Kernel, device: Device) -> None:
    (dtype,) = of_doubles.dtypes
    config = MmaElementsConfig(32, 16, 16, 2, 1)
    check(of_doubles, replace(config, split_k=3), Gemm(45, 33, 107, dtype, batch=2), device)
    views = (Layout(3, 2, 151, 5), Layout(1, 67, 3, 4000), Layout(5, 77, 2, 5000))
    problem = StridedGemm(45, 21, 33, dtype, alpha=0.5, beta=-2.0, batch=2, views=views, bias="row")
    check_strided(problem, replace(of_doubles, config=config), device)


def test_conjugates(device: Device, tmp_path: Path) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    kernel = replace(emulated_kernel("complex128", tmp_path), config=MmaElementsConfig(32, 16, 16, 2, 1))
    views = (Layout(0, 33, 1), Layout(0, 21, 1), Layout(0, 22, 1))
    for conjugate_a, conjugate_b in ((True, False), (False, True), (True, True)):
        problem = StridedGemm(45, 21, 33, "complex128", views=views, conjugate_a=conjugate_a, conjugate_b=conjugate_b)
        flat = filled(problem)
        a, b = (view(flat[name], layout, problem) for name, layout in zip("AB", views, strict=False))
        wanted = (a.conj() if conjugate_a else a) @ (b.conj() if conjugate_b else b)
        found = view(run_on(flat, problem, kernel, device), views[2], problem)
        assert np.abs(found - wanted).max() < 1e-12
