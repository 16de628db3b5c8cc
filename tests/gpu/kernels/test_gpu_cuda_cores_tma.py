"""Exact products by TMA on a Hopper GPU: right in every layout, shape and configuration, with any epilogue and any values."""

from dataclasses import replace
from math import erf

import numpy as np
import pytest

import tilewright
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.cuda_cores_tma.config import CudaCoresConfig
from tilewright.kernels.product.cuda_cores_tma.kernels import PRODUCT
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import run_plan
from tilewright.runtime.verify import verify

pytestmark = pytest.mark.gpu

ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]
TILES = (
    CudaCoresConfig(256, 128), CudaCoresConfig(128, 256), CudaCoresConfig(128, 128, 2), CudaCoresConfig(128, 64, 4, 8),
    CudaCoresConfig(64, 128, 4, 8), CudaCoresConfig(64, 64, 8, 8), CudaCoresConfig(64, 512), CudaCoresConfig(512, 64),
)  # fmt: skip


def check(problem: Gemm, config: CudaCoresConfig, device: Device) -> None:
    verdict = verify(plan_kernel(replace(PRODUCT, config=config), problem, device.info), device)
    assert verdict.passed, f"{problem.title} {config}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("config", TILES, ids=str)
def test_every_tile_in_every_layout(config: CudaCoresConfig, a_order: str, b_order: str, hopper: Device) -> None:
    for m, n, k in ((512, 512, 256), (300, 520, 332), (4, 4, 4), (260, 132, 20)):
        problem = Gemm(m, n, k, "float32", a_order, b_order)
        if not any(config.violations(problem, hopper.info)):
            check(problem, config, hopper)


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
def test_rounds_and_tiles_that_are_shared_out(a_order: str, b_order: str, hopper: Device) -> None:
    check(Gemm(3000, 2600, 36, "float32", a_order, b_order), CudaCoresConfig(128, 256, groups=20), hopper)
    check(
        Gemm(700, 1320, 1332, "float32", a_order, b_order), CudaCoresConfig(256, 128, groups=10, stream_k=True), hopper
    )
    check(
        Gemm(700, 1320, 1332, "float32", a_order, b_order), CudaCoresConfig(128, 256, groups=132, stream_k=True), hopper
    )
    check(
        Gemm(128, 128, 40000, "float32", a_order, b_order), CudaCoresConfig(256, 128, groups=132, stream_k=True), hopper
    )
    check(
        Gemm(64, 4096, 1040, "float32", a_order, b_order), CudaCoresConfig(64, 512, groups=132, stream_k=True), hopper
    )
    check(
        Gemm(1000, 60, 2064, "float32", a_order, b_order), CudaCoresConfig(512, 64, groups=132, stream_k=True), hopper
    )
    by_columns = Gemm(1001, 777, 332, "float32", a_order, b_order, c_order="column")
    packs = (a_order, b_order) != ("row", "column")  # TMA reads lines of 332 floats where they are
    check(by_columns, CudaCoresConfig(128, 256, stream_k=True, pack=packs), hopper)


@pytest.mark.parametrize(("a_order", "b_order"), [("row", "row"), ("row", "column"), ("column", "column")])
def test_operands_that_are_turned_before(a_order: str, b_order: str, hopper: Device) -> None:
    for batch in (1, 3):
        check(
            Gemm(300, 520, 332, "float32", a_order, b_order, batch=batch),
            CudaCoresConfig(256, 128, transpose=True),
            hopper,
        )
    check(
        Gemm(700, 1320, 1332, "float32", a_order, b_order),
        CudaCoresConfig(128, 256, stream_k=True, transpose=True),
        hopper,
    )
    check(
        Gemm(301, 1320, 332, "float32", a_order, b_order),
        CudaCoresConfig(64, 512, stream_k=True, transpose=True),
        hopper,
    )


@pytest.mark.parametrize("shape", [(301, 523, 331), (1, 1000, 7), (1000, 1, 333), (255, 257, 1)])
def test_operands_that_must_be_packed(shape: tuple[int, int, int], hopper: Device) -> None:
    check(Gemm(*shape), CudaCoresConfig(128, 128, 2, pack=True), hopper)
    problem, config = Gemm(*shape, "float32", "column", "column"), CudaCoresConfig(256, 128, pack=True, stream_k=True)
    if any(config.violations(problem, hopper.info)):  # whole rounds leave nothing to share out
        config = replace(config, stream_k=False)
    check(problem, config, hopper)


@pytest.mark.parametrize("config", TILES, ids=str)
def test_rows_of_c_that_begin_anywhere(config: CudaCoresConfig, hopper: Device) -> None:
    for m, n, k in ((301, 523, 331), (70, 1001, 33), (517, 131, 5)):
        for a_order, b_order in ORDERS:
            problem, own = Gemm(m, n, k, "float32", a_order, b_order), replace(config, pack=True)
            if not any(own.violations(problem, hopper.info)):
                check(problem, own, hopper)
    check(Gemm(131, 261, 77, "int32", batch=3), replace(config, pack=True), hopper)


@pytest.mark.parametrize("config", TILES, ids=str)
def test_complex_numbers(config: CudaCoresConfig, hopper: Device) -> None:
    """Operands across k where they are, and others packed."""
    for m, n, k in ((300, 520, 332), (4, 4, 4), (130, 66, 20), (77, 129, 41)):
        for a_order, b_order in ORDERS:
            problem = Gemm(m, n, k, "complex64", a_order, b_order, alpha=0.5 - 2j)
            for pack in (False, True):
                if not any(replace(config, pack=pack).violations(problem, hopper.info)):
                    check(problem, replace(config, pack=pack), hopper)


def test_complex_numbers_in_parts_of_tiles_stacks_and_columns(hopper: Device) -> None:
    shared = CudaCoresConfig(128, 256, groups=132, stream_k=True)
    check(Gemm(350, 660, 1332, "complex64", "column"), shared, hopper)
    check(Gemm(64, 64, 20000, "complex64", "column"), replace(shared, BM=256, BN=128), hopper)
    check(Gemm(96, 32, 2064, "complex64", "column"), CudaCoresConfig(64, 64, 8, 8, stream_k=True), hopper)
    check(Gemm(150, 260, 332, "complex64", "column", batch=7), CudaCoresConfig(256, 128, stream_k=True), hopper)
    check(Gemm(261, 150, 332, "complex64", "column", c_order="column"), CudaCoresConfig(256, 128, pack=True), hopper)
    check(Gemm(350, 661, 1332, "complex64", "column"), replace(shared, pack=True), hopper)


@pytest.mark.parametrize("conjugated", ["", "a", "b", "ab"])
def test_complex_epilogue_from_the_library(conjugated: str, hopper: Device) -> None:
    generator, columns = np.random.default_rng(6), 1101 if "a" in conjugated else 1100
    a, b, c, bias = (
        (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(np.complex64)
        for shape in ((1030, 700), (700, columns), (1030, columns), (columns,))
    )
    problem = Gemm(1030, columns, 700, "complex64")
    assert plan_product(problem, hopper.info).steps[-1].kernel.source == PRODUCT.source
    left, right = a.conj() if "a" in conjugated else a, b.conj() if "b" in conjugated else b
    found = tilewright.gemm(left, right, c, alpha=0.5 + 1j, beta=2 - 1j, bias=bias, device="gpu")
    wanted = (0.5 + 1j) * (left.astype(complex) @ right) + (2 - 1j) * c + bias
    assert np.abs(found - wanted).max() <= 1e-3
    own = tilewright.matmul(np.conj(a.T), a, device="gpu")
    assert np.abs(own - np.conj(a.T).astype(complex) @ a).max() <= 2e-3


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
def test_integers_are_exact(a_order: str, b_order: str, hopper: Device) -> None:
    check(Gemm(300, 520, 332, "int32", a_order, b_order), CudaCoresConfig(256, 128), hopper)
    check(Gemm(300, 520, 3332, "int32", a_order, b_order), CudaCoresConfig(128, 256, stream_k=True), hopper)


def test_batches_and_columns_of_c(hopper: Device) -> None:
    check(Gemm(300, 520, 332, batch=3), CudaCoresConfig(128, 128, 2), hopper)
    check(Gemm(300, 520, 332, batch=7), CudaCoresConfig(256, 128, stream_k=True), hopper)
    check(Gemm(300, 520, 332, c_order="column"), CudaCoresConfig(128, 256), hopper)
    check(Gemm(300, 523, 332, b_order="column", c_order="column", alpha=-0.5), CudaCoresConfig(256, 128), hopper)


def result(config: CudaCoresConfig, problem: Gemm, arrays: dict[str, np.ndarray], device: Device) -> np.ndarray:
    return run_plan(plan_kernel(replace(PRODUCT, config=config), problem, device.info), arrays, device)[0]


@pytest.mark.parametrize(
    "config",
    [CudaCoresConfig(256, 128), CudaCoresConfig(128, 128, 2), CudaCoresConfig(128, 256, stream_k=True)],
    ids=str,
)
def test_what_is_no_number_stays_where_it_belongs(config: CudaCoresConfig, hopper: Device) -> None:
    generator = np.random.default_rng(3)
    a, b = (generator.standard_normal(shape, dtype=np.float32) for shape in ((300, 332), (332, 520)))
    a[17, 5], a[200, 331], b[11, 400] = np.nan, np.inf, -np.inf
    found = result(config, Gemm(300, 520, 332), {"A": a, "B": b}, hopper)
    with np.errstate(invalid="ignore"):
        wanted = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(np.isposinf(found), np.isposinf(wanted))
    assert np.array_equal(np.isneginf(found), np.isneginf(wanted))


def test_the_same_every_time(hopper: Device) -> None:
    generator = np.random.default_rng(4)
    arrays = {
        name: generator.standard_normal(shape, dtype=np.float32)
        for name, shape in (("A", (700, 1332)), ("B", (1332, 1320)))
    }
    config, problem = CudaCoresConfig(256, 128, groups=132, stream_k=True), Gemm(700, 1320, 1332)
    first = result(config, problem, arrays, hopper)
    for _ in range(3):
        assert np.array_equal(first, result(config, problem, arrays, hopper))


@pytest.mark.parametrize("columns", [1280, 1279])
@pytest.mark.parametrize("activation", ["", "relu", "gelu", "gelu_tanh", "silu"])
def test_the_epilogue_from_the_library(activation: str, columns: int, hopper: Device) -> None:
    generator = np.random.default_rng(5)
    a, b, c = (
        generator.standard_normal(shape, dtype=np.float32) for shape in ((1536, 512), (512, columns), (1536, columns))
    )
    a /= 16
    bias = generator.standard_normal(columns, dtype=np.float32)
    found = tilewright.gemm(a, b, c, alpha=0.5, beta=2, bias=bias, activation=activation or None, device="gpu")
    plain = tilewright.gemm(a, b, c, alpha=0.5, beta=2, bias=bias, device="gpu")
    wanted = 0.5 * (a.astype(np.float64) @ b) + 2.0 * c + bias
    assert np.abs(plain - wanted).max() <= 1e-4
    curves = {"": lambda x: x, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x / (1 + np.exp(-x))}
    curves["gelu_tanh"] = lambda x: x / (1 + np.exp(-1.5957691216057308 * (x + 0.044715 * x**3)))
    curves["gelu"] = lambda x: 0.5 * x * np.array([1 + erf(each / 2**0.5) for each in x.ravel()]).reshape(x.shape)
    rows = slice(0, 1536, 97)
    assert np.abs(found[rows] - curves[activation](wanted[rows])).max() <= 1e-4


def test_nothing_to_multiply(hopper: Device) -> None:
    assert not tilewright.matmul(np.zeros((512, 0), np.float32), np.zeros((0, 512), np.float32), device="gpu").any()
