"""Squares turned in place, stacks of moves, and tiles whose depth is shared out among slices of a work-group."""

from dataclasses import replace

import numpy as np
import pyopencl.array as cl_array
import pytest

from tilewright import matrix_transpose, transpose
from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.plan import plan_kernel, violations
from tilewright.core.problem import Copy, Gemm, Problem, Transpose
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import TILES
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify

DTYPES = ("int8", "float16", "float32", "float64", "complex128")
RNG = np.random.default_rng(3)


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return (RNG.random(shape) * 100).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "problem",
    [InPlaceTranspose(rows, batch=batch) for rows, batch in ((0, 1), (1, 1), (64, 1), (129, 3), (256, 1), (300, 1))]
    + [Transpose(30, 77, batch=3), Transpose(64, 80, offset=3, batch=5), Transpose(8, 8, batch=0)]
    + [Copy(30, 77, batch=3), Copy(64, 80, offset=3, batch=5)],
    ids=lambda problem: problem.title.replace(" ", "-"),
)
def test_plans_are_right_and_stay_within_their_buffers(problem: Problem, dtype: str, device: Device) -> None:
    own = replace(problem, dtype=dtype)  # type: ignore[type-var]
    verdict = verify(plan_copy(own, device.info), device)
    assert verdict.passed, verdict


def test_a_plan_in_place_needs_no_scratch_memory(device: Device) -> None:
    plan = plan_copy(InPlaceTranspose(1000), device.info)
    assert not plan.scratch
    assert len(plan.steps) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_is_turned_in_its_own_memory(order: str, dtype: str, device: Device) -> None:
    a = np.array(numbers((131, 131), dtype), order=order)  # type: ignore[call-overload]
    expected, memory = a.T.copy(), a.__array_interface__["data"][0]
    result = transpose(a, out=a, queue=device.queue)
    assert result is a
    assert a.__array_interface__["data"][0] == memory
    assert np.array_equal(a, expected)


def test_a_view_is_turned_and_what_is_around_it_stays(device: Device) -> None:
    whole = numbers((200, 210))
    expected = whole.copy()
    expected[10:140, 20:150] = whole[10:140, 20:150].T
    view = whole[10:140, 20:150]
    transpose(view, out=view, queue=device.queue)
    assert np.array_equal(whole, expected)


def test_stacks_are_turned_one_by_one(device: Device) -> None:
    a = numbers((3, 2, 40, 40), "float64")
    expected = np.swapaxes(a, -1, -2).copy()
    assert matrix_transpose(a, out=a, queue=device.queue) is a
    assert np.array_equal(a, expected)


def test_device_arrays_are_turned_where_they_are(device: Device) -> None:
    host = numbers((150, 150))
    a = cl_array.to_device(device.queue, host)
    part = a[10:110, 20:120]
    assert transpose(part, out=part) is part
    host[10:110, 20:120] = host[10:110, 20:120].T.copy()
    assert np.array_equal(a.get(), host)


def test_overlaps_that_are_no_transpose_in_place_still_work(device: Device) -> None:
    a = numbers((60, 60))
    expected = a[:40, :40].T.copy()
    transpose(a[:40, :40], out=a[5:45, 5:45], queue=device.queue)
    assert np.array_equal(a[5:45, 5:45], expected)
    cube = numbers((8, 8, 8))
    expected = cube.T.copy()
    transpose(cube, out=cube, queue=device.queue)
    assert np.array_equal(cube, expected)


def test_a_matrix_whose_elements_share_places_goes_through_a_copy(device: Device) -> None:
    row = numbers((50,))
    same = np.lib.stride_tricks.as_strided(row, (20, 20), (4, 4))  # symmetric: its transpose is itself
    before = row.copy()
    transpose(same, out=same, queue=device.queue)
    assert np.array_equal(row, before)


SLICED = (PortableConfig(32, 32, 16, 4, 4, SLICED_K=4), PortableConfig(32, 64, 16, 4, 8, SLICED_K=2, split_k=3))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int8"])
@pytest.mark.parametrize("config", SLICED, ids=lambda config: f"{config.BM}x{config.BN}x{config.SLICED_K}")
def test_slices_of_a_group_share_out_the_depth(config: PortableConfig, dtype: str, device: Device) -> None:
    out = {"int8": "int32"}.get(dtype)
    for m, n, k in ((64, 64, 96), (33, 70, 131)):
        problem = Gemm(m, n, k, dtype, b_order="column", out_dtype=out)
        verdict = verify(plan_kernel(replace(TILES, config=config), problem, device.info), device)
        assert verdict.passed, f"{problem.title}: {verdict}"


def test_slices_that_do_not_divide_the_depth_are_refused(device: Device) -> None:
    for slices in (3, 32):
        config = PortableConfig(32, 32, 16, 4, 4, SLICED_K=slices)
        reasons = list(violations(TILES, config, Gemm(64, 64, 64), device.info))
        assert any(f"SLICED_K={slices}" in reason for reason in reasons)


@pytest.mark.parametrize(
    "orders", [("row", "column", "row"), ("column", "row", "column"), ("column", "column", "column")]
)
def test_stacks_of_operands_in_columns_lie_one_matrix_behind_the_other(
    orders: tuple[str, str, str], device: Device
) -> None:
    problem = Gemm(33, 20, 47, "float32", *orders, batch=3)
    for operand in problem.operands:
        array = numbers(operand.shape)
        flat = operand.flatten(array)
        assert np.array_equal(operand.unflatten(flat), array)
        assert np.array_equal(flat[: array[0].size], array[0].ravel(order="C" if operand.order == "row" else "F"))
    verdict = verify(plan_product(problem, device.info), device)
    assert verdict.passed, verdict
