"""What calls keep between them is bounded by bytes, and calls of many dimensions by launches."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from tilewright import Gemm, copy, matmul, matrix_transpose, transpose
from tilewright.dispatch.choice import plan_product
from tilewright.library import engine
from tilewright.library.copy_calls import MOST_LAUNCHES, strided_copy
from tilewright.library.engine import Call, Kept, default_device, kept_on
from tilewright.library.shapes import View, launches
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(3)


def test_calls_on_one_queue_share_their_scratch_memory(one_device: Device) -> None:
    """D17: every shape kept scratch memory of its own, megabytes each."""
    kept = Kept()
    small = kept.scratch(one_device.queue, {"sums": 1000}, one_device)["sums"]
    large = kept.scratch(one_device.queue, {"partial": 5000}, one_device)["partial"]
    assert large.size >= 5000
    assert small is not large
    assert kept.scratch(one_device.queue, {"sums": 1000, "other": 10}, one_device)["sums"] is large
    assert kept.scratch(one_device.plain_queue, {"sums": 1000}, one_device)["sums"] is not large


def test_scratch_memory_is_forgotten_above_the_limit(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEPT_SCRATCH_BYTES", 1000)
    kept = Kept()
    first = kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"]
    assert kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"] is first
    kept.scratch(one_device.plain_queue, {"sums": 600}, one_device)
    assert kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"] is not first
    huge = kept.scratch(one_device.queue, {"sums": 5000}, one_device)["sums"]
    assert kept.scratch(one_device.queue, {"sums": 5000}, one_device)["sums"] is not huge


def test_a_device_with_memory_of_its_own_keeps_more(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of 8192 x 8192 float32 has 281 MiB: above the limit each call allocated and freed them, and waited."""
    own = replace(one_device.info, host_unified=False, global_bytes=1000 * engine.KEPT_SCRATCH_SHARE)
    monkeypatch.setattr(engine, "KEPT_SCRATCH_BYTES", 100)
    assert engine.scratch_limit(own) == 1000
    assert engine.scratch_limit(replace(own, global_bytes=1000)) == 100
    assert engine.scratch_limit(replace(own, host_unified=True)) == 100
    monkeypatch.setattr(one_device, "info", own)
    kept = Kept()
    first = kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"]
    assert kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"] is first


def test_scratch_memory_grows_in_few_steps(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ready calls of CUDA keep the smaller buffers: of sizes that grow slowly they would keep each one."""
    monkeypatch.setattr(engine, "KEPT_SCRATCH_BYTES", 100_000)
    kept, sizes = Kept(), []
    for nbytes in range(10_000, 100_001, 1000):
        found = kept.scratch(one_device.queue, {"sums": nbytes}, one_device)["sums"]
        assert found.size >= nbytes
        sizes.append(found.size)
    assert len(set(sizes)) <= 8
    assert sum(set(sizes)) <= 4 * max(sizes) <= 4 * 100_000


def test_scratch_memory_is_given_when_memory_is_lacking(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(one_device.per_thread, "kept", raising=False)
    kept, before = kept_on(one_device), len(one_device.pool.holders)
    held = kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"]
    assert one_device.pool.release()
    assert kept.scratch(one_device.queue, {"sums": 600}, one_device)["sums"] is not held
    del one_device.per_thread.kept, kept
    gc.collect()
    assert len(one_device.pool.holders) == before - 1


@pytest.mark.usefixtures("one_device")
@pytest.mark.parametrize("limit", [1, 2**28])
def test_calls_with_more_scratch_memory_than_is_kept(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are right, and keep nothing; others are ready next time."""
    device = default_device()
    monkeypatch.setattr(engine, "KEPT_SCRATCH_BYTES", limit)
    monkeypatch.delattr(device.per_thread, "kept", raising=False)
    a, b = (RNG.standard_normal(shape).astype(np.float16) for shape in ((64, 1100), (1100, 70)))
    for _ in range(3):
        assert np.allclose(matmul(a, b), a.astype(np.float64) @ b.astype(np.float64), rtol=2e-3, atol=0.2)
    (call,) = kept_on(device).calls.values()
    assert call.plans[0].scratch
    assert call.keeps_scratch == bool(kept_on(device).ready) == (limit > 1)


def test_calls_with_zeroed_memory_are_counted_by_bytes(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEPT_SCRATCH_BYTES", 1000)
    plan = plan_product(Gemm(8, 8, 8), one_device.info)
    kept = Kept()
    for number in range(5):
        call = Call([plan], one_device)
        call.zeroed_bytes = 400
        kept.add(number, call)
    assert list(kept.calls) == [3, 4]
    assert kept.zeroed_bytes == 800


def test_products_of_many_shapes_are_right_with_shared_scratch(device: Device) -> None:
    """float16 sums wait in scratch memory between blocks of K: growing, shrinking, on two queues in turns."""
    for size in (64, 300, 40, 513, 300):
        a = RNG.standard_normal((size, 1100)).astype(np.float16)
        for queue in (device.queue, device.plain_queue):
            result = matmul(a, a.T, queue=queue).astype(np.float64)
            expected = a.astype(np.float64) @ a.T.astype(np.float64)
            assert np.allclose(result, expected, rtol=2e-3, atol=0.2)


@pytest.mark.parametrize("shape", [(7,) * 6, (2,) * 16, (3, 1, 5, 2, 4, 3, 2, 2), (5, 0, 3, 2, 4, 3)])
def test_moves_of_many_dimensions_take_one_launch(shape: tuple[int, ...], device: Device) -> None:
    """D26: there was a launch, with a kernel object of its own, for each index of the outer dimensions."""
    order = tuple(int(side) for side in RNG.permutation(len(shape)))
    for dtype in (np.int8, np.float32, np.complex128):
        values = (np.arange(np.prod(shape)) % 117).astype(dtype).reshape(shape)
        assert np.array_equal(transpose(values, queue=device.queue), values.T)
        assert np.array_equal(copy(values.transpose(order), queue=device.queue), values.transpose(order))
        reversed_ = values[(slice(None, None, -1),) * len(shape)]
        out = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        assert np.array_equal(copy(reversed_, out, queue=device.queue), reversed_)


def test_launches_are_few_where_there_are_many_dimensions(one_device: Device) -> None:
    shape = (4,) * 9
    source = View(shape, tuple(4**side for side in range(9)), 0)
    target = View(shape, tuple(4 ** (8 - side) for side in range(9)), 0)
    assert launches(source, target) > MOST_LAUNCHES
    assert len(strided_copy(one_device, source, target, "float32").plans) == 1


@pytest.mark.parametrize("order", ["as it is", "turned", "out turned"])
def test_stacks_broadcast_both_ways(order: str, device: Device) -> None:
    a, b = RNG.standard_normal((60, 1, 4, 2, 3)), RNG.standard_normal((1, 50, 1, 3, 2))
    out = None
    if order == "turned":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    if order == "out turned":
        out = np.zeros((2, 2, 4, 50, 60)).T
    result = matmul(a, b, out, queue=device.queue)
    assert np.allclose(result, a @ b)
    assert out is None or result is out


def test_squares_in_a_scattered_stack_turn_in_place(device: Device) -> None:
    whole = RNG.standard_normal((5, 2, 5, 2, 5, 3, 3)).astype(np.float32)
    stack = whole[:, 0, :, 0].transpose(2, 0, 1, 3, 4)
    expected = stack.swapaxes(-1, -2).copy()
    before = whole[:, 1].copy()
    assert matrix_transpose(stack, stack, queue=device.queue) is stack
    assert np.array_equal(stack, expected)
    assert np.array_equal(whole[:, 1], before)


def test_many_launches_stay_many_where_copies_would_be_large(one_device: Device) -> None:
    from tilewright.library.multiply import _scattered
    from tilewright.library.shapes import product_shape

    sizes = product_shape((300, 1, 1000, 1000), (1, 300, 1000, 1000))
    result = View(sizes.result, (300 * 10**6, 10**6, 1000, 1), 0)
    a, b = View((300, 1, 1000, 1000), (10**6, 0, 1000, 1), 0), View((1, 300, 1000, 1000), (0, 10**6, 1000, 1), 0)
    assert not _scattered(a, b, result, sizes)
    small = replace(sizes, m=2, n=2, k=3)
    assert _scattered(
        View((300, 1, 2, 3), (6, 0, 3, 1), 0), View((1, 300, 3, 2), (0, 6, 2, 1), 0),
        View((300, 300, 2, 2), (1200, 4, 2, 1), 0), small,
    )  # fmt: skip
