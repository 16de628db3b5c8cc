"""`precision="reproducible"`: the bits of one chain of fused multiply-adds, however a product is cut and placed."""

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from promised_bits import has_promised_bits, plain

import tilewright
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import plan_product
from tilewright.errors import InvalidInput
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import run_plan
from tools.reproducible.cases import make_case
from tools.reproducible.oracle import bits, expected
from tools.reproducible.ways import pieces

pytestmark = pytest.mark.device


@pytest.mark.parametrize("seeds", [range(10), range(10, 20), range(20, 30)], ids=str)
def test_each_way_to_compute_a_product_gives_the_promised_bits(seeds: range, device: Device) -> None:
    gemm = functools.partial(tilewright.gemm, queue=device.queue)
    for seed in seeds:
        case = make_case(seed)
        right = expected(case, device.queue)
        for way, found, (rows, columns) in pieces(case, gemm):
            assert bits(found) == bits(right[rows][:, columns]), f"{case}, {way}"


def test_the_promise_is_exact_fused_arithmetic(device: Device) -> None:
    """The kernel that states the promise beside Python's exact fractions, which round once where a fused multiply-add does."""
    random = np.random.default_rng(3)
    a, b = random.normal(size=(3, 40)), random.normal(size=(40, 4))
    found = tilewright.gemm(a, b, np.ones((3, 4)), alpha=0.3, beta=-0.7, precision="reproducible", queue=device.queue)
    case = replace(plain(a, b), alpha=0.3, beta=-0.7, c=np.ones((3, 4)))
    assert bits(expected(case, device.queue)) == bits(found)
    for i, j in np.ndindex(3, 4):
        total = 0.0
        for k in range(40):
            total = float(Fraction(a[i, k]) * Fraction(b[k, j]) + Fraction(total))
        scaled = float(Fraction(0.3) * Fraction(total))
        assert found[i, j] == float(Fraction(-0.7) + Fraction(scaled))


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("units", [1, 128])
def test_other_processors_get_the_same_bits(units: int, vector_bytes: int, device: Device) -> None:
    """Processors with shorter vectors have other tiles, and those with more cores other blocks."""
    if "cpu" not in device.info.features:
        pytest.skip("for the kernels of CPUs")
    widths = {"float32": vector_bytes // 4, "float64": vector_bytes // 8}
    info = replace(device.info, compute_units=units, native_widths=device.info.native_widths | widths)
    for seed, (m, n, k) in enumerate(((50, 130, 1100), (1, 70, 700), (70, 1, 700))):
        for dtype in ("float32", "float64"):
            problem = Gemm(m, n, k, dtype, precision="reproducible")
            assert has_promised_bits(plan_product(problem, info), device, seed), problem.title


def test_the_kernels_of_gpus_get_them_too(device: Device) -> None:
    """The portable kernel, which runs on every driver, as some GPU would have it."""
    info = replace(
        device.info, kind="gpu", features=frozenset({"gpu"}), local_bytes=min(device.info.local_bytes, 49152)
    )
    for seed, shape in enumerate(((70, 65, 301), (1, 40, 129), (33, 200, 64))):
        for dtype in ("float32", "float64"):
            problem = Gemm(*shape, dtype, precision="reproducible")
            assert has_promised_bits(plan_product(problem, info), device, seed), problem.title


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_subnormals_infinities_and_nans(dtype: str, device: Device) -> None:
    kind = np.finfo(dtype)
    odd = np.array([0.0, -0.0, kind.smallest_subnormal, -kind.tiny / 2, kind.max, np.inf, np.nan, 1.0, -1.0], dtype)
    random = np.random.default_rng(5)
    for k in (1, 3, 700):
        a, b = (random.choice(odd[:5] if k > 3 else odd, size=shape).astype(dtype) for shape in ((30, k), (k, 40)))
        with np.errstate(all="ignore"):
            found = tilewright.matmul(a, b, precision="reproducible", queue=device.queue)
        assert bits(found) == bits(expected(plain(a, b), device.queue)), k
    nothing = tilewright.matmul(
        np.zeros((2, 0), dtype), np.zeros((0, 3), dtype), precision="reproducible", queue=device.queue
    )
    assert bits(nothing) == bits(np.zeros((2, 3), dtype))


def test_activations_do_not_depend_on_the_place(device: Device) -> None:
    """exp and erfc are the driver's own, so that only this device promises these bits."""
    random = np.random.default_rng(6)
    a, b = (random.normal(size=shape).astype(np.float32) for shape in ((90, 600), (600, 70)))
    for name in ("gelu", "gelu_tanh", "silu"):
        whole, few, one = (
            tilewright.gemm(part, b, activation=name, precision="reproducible", queue=device.queue)
            for part in (a, a[5:20], a[7:8])
        )
        assert bits(whole[5:20]) == bits(few)
        assert bits(whole[7:8]) == bits(one), name


def test_large_results_that_go_around_the_caches(device: Device) -> None:
    random = np.random.default_rng(7)
    a, b = (random.normal(size=shape).astype(np.float32) for shape in ((3000, 600), (600, 2208)))
    found = tilewright.matmul(a, b, precision="reproducible", queue=device.queue)
    part = expected(plain(a[1000:1040], b), device.queue)
    assert bits(found[1000:1040]) == bits(part)


def test_integers_are_reproducible_as_they_are(device: Device) -> None:
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    found = tilewright.matmul(a, a.T, precision="reproducible", queue=device.queue)
    np.testing.assert_array_equal(found, a @ a.T)


def test_types_without_it_are_refused(device: Device) -> None:
    a = np.ones((2, 2), np.complex64)
    with pytest.raises(InvalidInput, match="complex64"):
        tilewright.matmul(a, a, precision="reproducible", queue=device.queue)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_of_shallow_products_have_the_bits_of_the_whole_anyway(dtype: str, device: Device) -> None:
    """Where `plan` does not say that they may differ."""
    if "cpu" not in device.info.features:
        pytest.skip("GPUs have other kernels for other sizes")
    random = np.random.default_rng(8)
    k = 256 if dtype == "float32" else 128
    found = tilewright.plan((900, 700, k), dtype=dtype, device=device.info.name)
    assert isinstance(found, Plan)
    assert not any("other bits" in note for note in found.notes)
    a, b = (random.normal(size=shape).astype(dtype) for shape in ((900, k), (k, 700)))
    whole = tilewright.matmul(a, b, queue=device.queue)
    for rows in (2, 5, 64, 333):
        assert bits(tilewright.matmul(a[:rows], b, queue=device.queue)) == bits(whole[:rows]), rows


def test_a_strided_problem_in_a_batch(device: Device) -> None:
    problem = StridedGemm(40, 30, 700, batch=3, views=Gemm(40, 30, 700, batch=3).layouts, precision="reproducible")
    random = np.random.default_rng(9)
    arrays = {
        "A": random.normal(size=(3, 40, 700)).astype(np.float32),
        "B": random.normal(size=(3, 700, 30)).astype(np.float32),
    }
    found, _ = run_plan(plan_product(problem, device.info), arrays, device)
    for place in range(3):
        one = plain(arrays["A"][place], arrays["B"][place])
        assert bits(found[place]) == bits(expected(one, device.queue))
