"""Columns past the last whole panel on CPUs, where vectors run along k: ends of k and rows, strides, types, epilogues, parts."""

import numpy as np
import pytest
from thin_products import check, random_of

import tilewright
from tilewright.core.plan import Plan
from tilewright.dispatch.parts import note_on_parts
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cpu.config import FEW_COLUMNS, LAST_COLUMNS, CpuConfig
from tilewright.runtime.opencl.device import Device


def sums_last(size: tuple[int, int, int], dtype: str, device: Device, layout: str = "NN") -> bool:
    """Whether the plan is 06_production.cl and sums its last columns along k."""
    found = tilewright.plan(size, dtype=dtype, layout=layout, device=device.info.name)
    assert isinstance(found, Plan)
    step = found.steps[-1]
    return step.kernel.name == "cpu/06_production" and bool(step.config.scalars(step.problem).get("sums_last"))


def columns_of(device: Device, dtype: str, past: int) -> int:
    """Columns that are `past` more than two panels of the device's tile."""
    found = tilewright.plan((300, 500, 300), dtype=dtype, device=device.info.name)
    assert isinstance(found, Plan)
    config = found.steps[-1].config
    assert isinstance(config, CpuConfig)
    panel = config.NV * config.VW
    if past > panel // 4:
        pytest.skip(f"panels of {panel} columns have no room for {past} more")
    return 2 * panel + past


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64", "int16"])
@pytest.mark.parametrize("past", range(1, LAST_COLUMNS + 1))
def test_products_are_right(cpu: Device, dtype: str, past: int) -> None:
    n = columns_of(cpu, dtype, past) if dtype not in ("int16", "bfloat16") else 64 + past
    if dtype in ("float32", "float64"):
        assert sums_last((75, n, 301), dtype, cpu)
    for m, k in ((75, 301), (500, 128), (41, 1999), (6, 143)):
        a, b = random_of((m, k), dtype, m), random_of((k, n), dtype, k)
        for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2]):
            for right in (b, np.asfortranarray(b)):
                check(tilewright.matmul(left, right, device=cpu.info.name), a, b)


def test_epilogues_are_those_of_other_columns(cpu: Device) -> None:
    n = columns_of(cpu, "float32", 3)
    a, b = random_of((50, 700), "float32", 1), random_of((700, n), "float32", 2)
    c, bias = random_of((50, n), "float32", 3), random_of((n,), "float32", 4)
    found = tilewright.gemm(a, b, c, alpha=0.5, beta=-2.0, bias=bias, activation="relu", device=cpu.info.name)
    wanted = np.maximum(0.5 * (a.astype("f8") @ b) - 2.0 * c + bias, 0)
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    out = np.full((50, n), 7, np.float32, order="F")
    tilewright.matmul(a, b, out, device=cpu.info.name)
    check(out, a, b)


def test_infinities_and_nans_stay_in_their_rows_and_columns(cpu: Device) -> None:
    n = columns_of(cpu, "float32", 2)
    a, b = random_of((30, 333), "float32", 1), random_of((333, n), "float32", 2)
    a[4, 332], a[9, 0], b[331, n - 1] = np.nan, np.inf, np.inf
    found = tilewright.matmul(a, b, device=cpu.info.name)
    with np.errstate(all="ignore"):
        wanted = a.astype("f8") @ b.astype("f8")
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isposinf(found), np.isposinf(wanted))
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(wanted))


@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_rows_of_a_part_have_the_bits_of_the_whole(cpu: Device, orders: str) -> None:
    n = columns_of(cpu, "float32", 1)
    a = np.asarray(random_of((150, 250), "float32", 1), order=orders[0])  # type: ignore[call-overload]
    b = np.asarray(random_of((250, n), "float32", 2), order=orders[1])  # type: ignore[call-overload]
    layout = "".join("N" if order == "C" else "T" for order in orders)
    plan = tilewright.plan((150, n, 250), layout=layout, device=cpu.info.name)
    assert isinstance(plan, Plan)
    assert note_on_parts(plan) == ""
    whole = tilewright.matmul(a, b, device=cpu.info.name)
    for rows in (2, 5, 12, 13, 50, 149):
        part = tilewright.matmul(a[:rows], b, device=cpu.info.name)
        assert part.tobytes() == whole[:rows].tobytes()


def test_a_product_with_its_own_transpose_is_symmetric(cpu: Device) -> None:
    side = columns_of(cpu, "float32", 1)
    a = random_of((side, 300), "float32", 5)
    found = tilewright.matmul(a, a.T, device=cpu.info.name)
    assert found.tobytes() == np.ascontiguousarray(found.T).tobytes()
    check(found, a, a.T)


def test_other_orders_of_the_last_sums_are_told(cpu: Device) -> None:
    n = columns_of(cpu, "float32", 1)
    cases = (
        ((300, n, 300), "NN", True),
        ((300, n, 300), "TN", n > FEW_COLUMNS),
        ((300, n // 2 + 1, 300), "TN", n // 2 + 1 > FEW_COLUMNS),
        ((300, n, 100), "NN", False),
    )
    for size, layout, taken in cases:
        plan = tilewright.plan(size, layout=layout, device=cpu.info.name)
        assert isinstance(plan, Plan)
        step = plan.steps[-1]
        assert isinstance(step.config, CpuConfig)
        assert step.config.sums_alike(call_of(plan.problem)) != taken
