"""What calls keep between them is bounded by bytes, and calls of many dimensions by launches."""

import gc
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from tilewright import Gemm, copy, matmul, matrix_transpose, prepare, transpose
from tilewright.dispatch.choice import plan_product
from tilewright.library import engine, scratch
from tilewright.library.copy_calls import MOST_LAUNCHES, strided_copy
from tilewright.library.engine import Call, Kept, default_device, kept_on
from tilewright.library.shapes import View, launches
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

RNG = np.random.default_rng(3)
SIDES = ((64, 1100), (1100, 70))  # in float16 their product has scratch memory


def test_scratch_memory_is_given_when_memory_is_lacking(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    vars(one_device.per_thread).clear()
    gc.collect()
    before = len(one_device.pool.holders)
    kept = kept_on(one_device)
    assert len(one_device.pool.holders) == before + 1
    (held,) = kept.scratch.take(one_device.queue, [600], one_device)
    assert one_device.pool.release()
    assert kept.scratch.take(one_device.queue, [600], one_device) != [held]
    vars(one_device.per_thread).clear()
    del kept
    gc.collect()
    assert len(one_device.pool.holders) == before


@pytest.fixture
def live(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """The bytes of each buffer that the test makes, while it lives."""
    found: dict[int, int] = {}
    make = cl.Buffer

    class Buffer(make):  # type: ignore[misc, valid-type]
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            found[id(self)] = self.size

        def __del__(self) -> None:
            del found[id(self)]

    monkeypatch.setattr(cl, "Buffer", Buffer)
    vars(one_device.per_thread).clear()
    return found


def test_a_thread_that_ends_frees_its_scratch_memory(one_device: Device, live: dict[int, int]) -> None:
    """Without the collector: its calls and their ready calls know each other."""

    def thread() -> None:
        a, b = (cl.array.to_device(one_device.queue, RNG.standard_normal(sides).astype(np.float16)) for sides in SIDES)
        for _ in range(2):
            matmul(a, b).get()
        held.extend(live.values())

    held: list[int] = []
    gc.disable()
    try:
        other = threading.Thread(target=thread)
        other.start()
        other.join()
        assert len(held) > len(SIDES), "there was no scratch memory"
        assert not live
    finally:
        gc.enable()


@pytest.mark.parametrize("limit", [1, 2**28])
def test_plans_of_a_call_share_scratch_memory_also_above_the_limit(
    limit: int, one_device: Device, live: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    plans = [plan_product(Gemm(rows, 70, 1100, "float16"), one_device.info) for rows in (64, 40, 64)]
    most = max(sum(plan.scratch.values()) for plan in plans)
    call = Call(plans, one_device)
    buffers = {name: one_device.allocate(200_000) for name in "ABC"}
    own = sum(live.values())
    for _ in range(2):
        given = call.scratch(one_device.queue)
        assert sum(live.values()) == own + most > own
        call.enqueue(buffers, one_device.queue, scratch=given)
        del given
        one_device.finish("a call")
        assert sum(live.values()) == own + (most if limit > 1 else 0)
    assert call.keeps_scratch == (limit > 1)


def test_the_limit_counts_what_plans_share_once(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_product(Gemm(64, 70, 1100, "float16"), one_device.info)
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", sum(plan.scratch.values()))
    assert Call([plan] * 3, one_device).keeps_scratch


def test_kernels_let_go_of_what_is_not_kept(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after an error: a driver may keep what a kernel's argument is."""
    plan = plan_product(Gemm(64, 70, 1100, "float16"), one_device.info)
    unbound: list[LoadedPlan] = []
    monkeypatch.setattr(LoadedPlan, "unbind", lambda plan: unbound.append(plan))
    buffers = {name: one_device.allocate(200_000) for name in "ABC"}
    for limit, wanted in ((2**28, 0), (1, 2)):
        monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
        call = Call([plan], one_device)
        call.enqueue(buffers, one_device.queue)
        with pytest.raises(KeyError):
            call.enqueue({}, one_device.queue)
        assert unbound == [*call.loaded] * wanted
    one_device.finish("calls")


@pytest.mark.usefixtures("one_device")
@pytest.mark.parametrize("limit", [1, 2**28])
def test_calls_with_more_scratch_memory_than_is_kept(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are right, ready next time, and keep nothing."""
    device = default_device()
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    vars(device.per_thread).clear()
    a, b = (RNG.standard_normal(shape).astype(np.float16) for shape in SIDES)
    product = prepare(a, b)
    assert "through copies" not in repr(product)
    for _ in range(3):
        for found in (matmul(a, b), product(a, b)):
            assert np.allclose(found, a.astype(np.float64) @ b.astype(np.float64), rtol=2e-3, atol=0.2)
    kept = kept_on(device)
    assert kept.ready
    assert kept.scratch.drop() == (limit > 1)


def test_calls_with_zeroed_memory_are_counted_by_bytes(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEPT_ZEROED_BYTES", 1000)
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
