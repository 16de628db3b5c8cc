"""fp32_split on a Hopper GPU: right within its bound and no less accurate than float32's own product, whatever the data."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from says import says

import tilewright
from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.fp16x3.config import Fp16x3Config
from tilewright.kernels.product.fp16x3.kernels import PRODUCT
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import run_plan

pytestmark = pytest.mark.gpu
Array = np.ndarray


def normal(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.normal(size=shape)


def uniform(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.random(shape)


def wide(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.normal(size=shape) * 2.0 ** random.integers(-40, 40, shape)


def rows_apart(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.normal(size=shape) * 2.0 ** random.integers(-45, 45, (shape[0], 1))


def cancelling(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    values = random.normal(size=shape)
    values[:, 1::2] = -values[:, : values[:, 1::2].shape[1] * 2 : 2] * (1 + 2.0**-20)
    return values


def subnormal(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return random.normal(size=shape) * 1e-39


def sparse(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.maximum(random.normal(size=shape), 0)


def growing(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    """The last elements are 2^14 as large as the first: every vector is cut twice, if it is longer than a chunk."""
    return random.normal(size=shape) * 2.0 ** np.linspace(0, 14, shape[1])


def few_odd_rows(random: np.random.Generator, shape: tuple[int, int]) -> Array:
    """A few vectors that halves cannot hold, so that a few tiles have elements left."""
    values = random.normal(size=shape)
    values[[5, shape[0] // 2]] *= 2.0 ** random.integers(-40, 40, (2, shape[1]))
    values[7] *= 1e-39
    return values


Kind = Callable[[np.random.Generator, tuple[int, int]], Array]
KINDS: tuple[Kind, ...] = (
    normal, uniform, wide, rows_apart, cancelling, subnormal, sparse, growing, few_odd_rows,
)  # fmt: skip


def split_plan(problem: Gemm, device: Device) -> Plan:
    """The plan by halves, however small the problem is."""
    config = Fp16x3Config(groups=device.info.compute_units, only_if_faster=False)
    return plan_kernel(replace(PRODUCT, config=config), problem, device.info)


def errors(problem: Gemm, arrays: dict[str, Array], device: Device) -> tuple[float, float]:
    """The largest error in units of the bound, and the norm-wise relative one."""
    plan = split_plan(problem, device)
    result, _ = run_plan(plan, arrays, device)
    reference = problem.reference(arrays)
    bound = problem.error_bound(arrays, reference) + 2.0**-149
    distance = np.abs(result.astype(np.float64) - reference)
    return float((distance / bound).max()), float(np.linalg.norm(distance) / np.linalg.norm(reference))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("shape", [(256, 384, 512), (333, 777, 1001), (130, 129, 4096)])
def test_right_within_the_bound_for_all_data(hopper: Device, kind: Kind, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    random = np.random.default_rng(3)
    arrays = {"A": kind(random, (m, k)).astype(np.float32), "B": kind(random, (n, k)).T.astype(np.float32)}
    worst, split = errors(Gemm(m, n, k, precision="fp32_split"), arrays, hopper)
    assert worst <= 1
    plain, _ = run_plan(plan_product(Gemm(m, n, k), hopper.info), arrays, hopper)
    reference = Gemm(m, n, k).reference(arrays)
    # Sums of one sign drift by what a tensor core cuts off within a stage, and by a rounding for each stage.
    assert split <= max(2 * float(np.linalg.norm(plain - reference) / np.linalg.norm(reference)), 2.0**-21)


@pytest.mark.parametrize("orders", [("row", "row"), ("row", "column"), ("column", "row"), ("column", "column")])
@pytest.mark.parametrize("c_order", ["row", "column"])
def test_all_layouts(hopper: Device, orders: tuple[str, str], c_order: str) -> None:
    problem = Gemm(300, 260, 515, a_order=orders[0], b_order=orders[1], c_order=c_order, precision="fp32_split")
    random = np.random.default_rng(4)
    arrays = {"A": normal(random, (300, 515)).astype(np.float32), "B": normal(random, (515, 260)).astype(np.float32)}
    assert errors(problem, arrays, hopper)[0] <= 1


def by_halves(m: int, n: int, k: int, device: Device, batch: int = 1) -> bool:
    """Whether the library multiplies that by halves."""
    plan = plan_product(StridedGemm(m, n, k, batch=batch, precision="fp32_split"), device.info)
    return any(step.kernel.precision == "fp32_split" for step in plan.steps)


def test_batches_and_the_epilogue_from_the_library(hopper: Device) -> None:
    random = np.random.default_rng(6)
    a, b, c = (random.normal(size=shape).astype(np.float32) for shape in ((3, 1000, 768), (768, 1064), (3, 1000, 1064)))
    bias = random.normal(size=1064).astype(np.float32)
    assert by_halves(1000, 1064, 768, hopper, batch=3)
    result = tilewright.gemm(
        a, b, c, alpha=0.5, beta=2, bias=bias, activation="relu", precision="fp32_split", device="gpu"
    )
    reference = np.maximum(0.5 * (a.astype(np.float64) @ b) + 2.0 * c + bias, 0)
    assert np.abs(result - reference).max() <= 1e-4


def test_infinities_and_nans_are_where_numpy_has_them(hopper: Device) -> None:
    random = np.random.default_rng(7)
    size = 1024
    a, b = (random.normal(size=(size, size)).astype(np.float32) for _ in range(2))
    a[3, 5], a[200, 7], b[9, 250], b[1023, 800] = np.inf, np.nan, -np.inf, np.nan
    assert by_halves(size, size, size, hopper)
    result = tilewright.matmul(a, b, precision="fp32_split", device="gpu")
    with np.errstate(invalid="ignore"):
        reference = a @ b
    assert (np.isnan(result) == np.isnan(reference)).all()
    assert (np.isinf(result) == np.isinf(reference)).all()
    finite = np.isfinite(reference)
    assert np.allclose(result[finite], reference[finite], rtol=1e-3, atol=1e-3)


def test_vectors_longer_than_a_chunk_may_grow(hopper: Device) -> None:
    """K is many chunks, in both memory orders; the largest element is the last."""
    random = np.random.default_rng(8)
    for a_order, b_order in (("row", "row"), ("column", "column")):
        problem = Gemm(300, 280, 5000, a_order=a_order, b_order=b_order, precision="fp32_split")
        arrays = {"A": growing(random, (300, 5000)), "B": growing(random, (280, 5000)).T}
        assert errors(problem, {name: array.astype(np.float32) for name, array in arrays.items()}, hopper)[0] <= 1


def test_small_products_are_computed_as_floats_and_say_so(hopper: Device) -> None:
    plan = plan_product(StridedGemm(256, 256, 256, precision="fp32_split"), hopper.info)
    assert any(says(note, "float32") for note in plan.notes)
    assert any(says(each.reason, "fp16", "float32") for each in plan.rejected)


def test_shallow_and_thin_products_are_computed_exactly_and_say_so(hopper: Device) -> None:
    for m, n, k in ((256, 256, 64), (8, 256, 256)):
        plan = plan_product(StridedGemm(m, n, k, precision="fp32_split"), hopper.info)
        assert any(says(note, "float32") for note in plan.notes)
