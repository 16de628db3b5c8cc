"""Repeated calls take a short way: they must do what the first one did, and notice what no key of their arguments can hold."""

import gc
import threading
from typing import Any
from weakref import ref

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from places import Place
from pyopencl.tools import ImmediateAllocator, MemoryPool

from tilewright import copy, gemm, matmul, matrix_transpose, prepare, transpose
from tilewright.errors import InvalidInput
from tilewright.library import engine
from tilewright.library.engine import kept_on
from tilewright.library.memory.ready import REFUSED, Ready
from tilewright.runtime.opencl.adopted import adopt
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(12)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What became of each ready call that was tried."""
    from tilewright.library.memory.host import HostReady
    from tilewright.library.memory.opencl_ready import OpenCLReady

    seen: list[str] = []
    for kind in (HostReady, OpenCLReady):

        def watched(self: Ready, arrays: Any, out: Any, whole: Any = kind.run) -> Any:
            result = whole(self, arrays, out)
            seen.append("refused" if result is REFUSED else "ran")
            return result

        monkeypatch.setattr(kind, "run", watched)
    plain = OpenCLReady.run_plain

    def watched_plain(self: OpenCLReady, a: Any, b: Any, out: Any) -> Any:
        result = plain(self, a, b, out)
        if result is not REFUSED:  # otherwise `run` is tried, too
            seen.append("ran")
        return result

    monkeypatch.setattr(OpenCLReady, "run_plain", watched_plain)
    return seen


def test_second_calls_are_ready(place: Place, runs: list[str]) -> None:
    put, get, where = place
    a, b, c, bias = random(7, 9), random(9, 11), random(7, 11), random(11)
    named = {"alpha": 2, "beta": 1, "activation": "relu", **where}
    calls: dict[str, tuple[Any, np.ndarray]] = {
        "matmul": (lambda: matmul(put(a), put(b), **where), a @ b),
        "gemm": (lambda: gemm(put(a), put(b), put(c), bias=put(bias), **named), np.maximum(2 * a @ b + c + bias, 0)),
        "transpose": (lambda: transpose(put(a), **where), a.T),
        "matrix_transpose": (lambda: matrix_transpose(put(a), **where), a.T),
        "copy": (lambda: copy(put(a), **where), a),
    }
    for name, (call, expected) in calls.items():
        call()
        runs.clear()
        for _ in range(2):
            assert np.allclose(get(call()), expected, atol=1e-4), name
        assert runs == ["ran", "ran"], name


def test_an_out_that_shares_memory_is_noticed(device: Device, runs: list[str]) -> None:
    values = random(20, 20)
    for _ in range(2):
        a, whole, out = values.copy(), np.zeros((40, 20), np.float32), random(20, 20)
        matmul(a, a, out, queue=device.queue)
        assert matmul(a, a, a, queue=device.queue) is a
        assert np.allclose(a, values @ values, atol=1e-4)
        whole[10:30] = values
        matmul(whole[10:30], whole[10:30], whole[:20], queue=device.queue)
        assert np.allclose(whole[:20], values @ values, atol=1e-4)
    assert "refused" in runs


def test_parts_of_a_buffer_are_noticed(device: Device, runs: list[str]) -> None:
    queue, values = device.queue, random(32, 32)
    size = values.nbytes
    whole = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 2 * size)
    parts = [whole.get_sub_region(begin, size) for begin in (0, size // 2, size)]
    lent = [cl_array.Array(queue, (32, 32), np.float32, data=part) for part in parts]
    separate = cl_array.to_device(queue, values)
    matmul(separate, separate, cl_array.empty_like(separate))
    for target in (1, 2, 1):
        lent[0].set(values)
        matmul(lent[0], lent[0], lent[target])
        assert np.allclose(lent[target].get(), values @ values, atol=1e-4)
    wrapped = cl_array.Array(queue, (64, 32), np.float32, data=whole)
    lent[0].set(values)
    matmul(lent[0], lent[0], wrapped[:32])
    assert np.allclose(wrapped[:32].get(), values @ values, atol=1e-4)


def test_what_is_forbidden_stays_forbidden(device: Device) -> None:
    a, out = random(8, 8), random(8, 8)
    lent = cl_array.to_device(device.queue, a)
    for _ in range(2):
        matmul(a, a, out, queue=device.queue)
        matmul(lent, lent, cl_array.empty_like(lent))
    out.flags.writeable = False
    with pytest.raises(InvalidInput, match="read-only"):
        matmul(a, a, out, queue=device.queue)
    flags = cl.mem_flags
    fixed = cl.Buffer(device.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
    with pytest.raises(InvalidInput, match="read-only"):
        matmul(lent, lent, cl_array.Array(device.queue, (8, 8), np.float32, data=fixed))
    context = cl.Context([device.device])
    other = cl.CommandQueue(context)
    foreign = cl_array.to_device(other, a)
    for b, target in ((foreign, None), (lent, foreign)):
        with pytest.raises(InvalidInput, match="context"):
            matmul(lent, b, target)
    gemm(lent, lent, lent, beta=1)
    with pytest.raises(InvalidInput, match=r"c .* lies in another OpenCL context"):
        gemm(lent, lent, foreign, beta=1)
    assert np.allclose(matmul(foreign, foreign).get(), a @ a, atol=1e-4)


def test_numbers_that_are_equal_and_not_the_same(device: Device) -> None:
    a = random(5, 5)
    for _ in range(2):
        assert np.allclose(gemm(a, a, alpha=2, queue=device.queue), 2 * a @ a, atol=1e-4)
        with pytest.raises(InvalidInput, match="complex"):
            gemm(a, a, alpha=2 + 0j, queue=device.queue)
        assert np.allclose(gemm(a, a, alpha=np.array(2.0), queue=device.queue), 2 * a @ a, atol=1e-4)
    integers = RNG.integers(-9, 9, (5, 5)).astype(np.int32)
    assert np.array_equal(gemm(integers, integers, alpha=np.float64(3), queue=device.queue), 3 * integers @ integers)


def test_results_without_dimensions_are_numbers(device: Device) -> None:
    a = random(9)
    kinds = [type(matmul(a, a, queue=device.queue)) for _ in range(3)]
    assert kinds == [np.float32] * 3
    assert [type(copy(np.array(3.0), queue=device.queue)) for _ in range(3)] == [np.ndarray] * 3


def test_ready_calls_are_dropped_with_their_call(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}

    def work() -> None:  # a thread has calls of its own, so there are few
        monkeypatch.setattr(engine, "KEPT_CALLS", 3)
        kept = kept_on(adopt(one_device.plain_queue))
        always = random(4, 4)
        for size in range(5, 12):
            matmul(always, always, queue=one_device.plain_queue)
            for _ in range(2):
                a = random(size, size)
                matmul(a, a, queue=one_device.plain_queue)
        found["calls"], found["ready"] = len(kept.calls), len(kept.ready)
        found["owned"] = sum(len(each.forgets) for each in kept.calls.values())
        found["plans"] = [plan.problem.operands[0].shape[0] for call in kept.calls.values() for plan in call.plans]

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found["calls"] == 3
    assert found["ready"] == found["owned"] == 3
    assert 4 in found["plans"], "the call that is used most was dropped"


def test_events_do_not_pile_up(device: Device) -> None:
    """PyOpenCL waits for the oldest of a dozen."""
    first, second = (cl.CommandQueue(device.context, device.device) for _ in range(2))
    a = cl_array.to_device(first, random(16, 16))
    out = cl_array.empty_like(a)
    for _ in range(40):
        matmul(a, a, out)
        assert len(out.events) == 1
        assert out.events[-1] == a.events[-1]
    for _ in range(20):
        matmul(a, a, out, queue=second)
        matmul(a, a, out, queue=first)
        for array in (a, out):
            queues = [event.command_queue.int_ptr for event in array.events]
            assert len(queues) == len(set(queues)) <= 2
        assert out.events[-1].command_queue == first


def test_events_of_queues_that_are_gone(device: Device) -> None:
    """Intel's runtime does not keep an event's queue. A queue for each call must not make lists grow."""
    values = random(16, 16)
    a = cl_array.to_device(device.queue, values)
    for _ in range(30):
        queue = cl.CommandQueue(device.context, device.device)
        result = matmul(a, a, queue=queue)
        assert np.allclose(result.get(queue=queue), values @ values, atol=1e-4)
        del queue, result
        assert len(a.events) <= 2


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The events that each launch waits for."""
    seen: list[Any] = []
    whole = cl.enqueue_nd_range_kernel

    def watched(*arguments: Any, **named: Any) -> Any:
        seen.append(named["wait_for"] if "wait_for" in named else arguments[5])
        return whole(*arguments, **named)

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", watched)
    return seen


def test_calls_on_one_queue_wait_for_no_event_of_it(device: Device, waits: list[Any]) -> None:
    def last() -> Any:
        return waits[-1]

    queue, other = (cl.CommandQueue(device.context, device.device) for _ in range(2))
    a = cl_array.to_device(queue, random(16, 16))
    result = a
    for _ in range(5):
        result = matmul(result, a)
    assert waits == [None, None, None, None, None]
    own = cl.enqueue_marker(queue)
    a.add_event(own)
    matmul(a, a)
    assert last() is None
    matmul(a, a, queue=other)
    assert len(last()) == 1
    gate = cl.UserEvent(device.context)
    a.add_event(gate)
    held = matmul(a, a)
    assert last()[-1] is gate
    assert held.events[-1].command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    held.get()


def test_results_come_from_the_operands_allocator(device: Device) -> None:
    """As in PyOpenCL's own operations: who has a pool knows when its memory may be used again."""
    queue, values = device.queue, random(24, 24)
    pools = [MemoryPool(ImmediateAllocator(queue)) for _ in range(2)]
    plain = cl_array.to_device(queue, values)
    matmul(plain, plain)
    for pool in pools:
        a = cl_array.to_device(queue, values, allocator=pool)
        for operands in ((a, a), (plain, a)):
            for _ in range(2):
                before = pool.active_blocks
                result = matmul(*operands)
                assert pool.active_blocks == before + 1
                assert result.allocator is pool
                assert np.allclose(result.get(), values @ values, atol=1e-4)
                del result
        out = cl_array.empty_like(a)
        for _ in range(2):
            assert matmul(a, plain, out) is out
            assert np.allclose(out.get(), values @ values, atol=1e-4)
        matmul(out, plain, out)  # which kernels would overwrite while they read it
        assert np.allclose(out.get(), values @ values @ values, atol=1e-3)
    assert matmul(plain, plain).allocator is None


def test_a_result_has_memory_of_its_own(device: Device) -> None:
    queue, values = device.queue, random(24, 24)
    a = cl_array.to_device(queue, values)
    results = [matmul(a, a) for _ in range(4)]
    results[0].set(np.zeros_like(values))
    for each in results[1:]:
        assert np.allclose(each.get(), values @ values, atol=1e-4)
        assert each.flags.c_contiguous
        assert each.T.get().shape == (24, 24)
    assert len({id(each.events) for each in results}) == 4


def test_calls_that_are_found_by_less_compare_the_rest(device: Device) -> None:
    """Each of these arrays differs in one thing from those of the ready calls."""
    queue, values = cl.CommandQueue(device.context, device.device), random(3, 12, 12)
    a, b, out = (cl_array.to_device(queue, each) for each in values)
    for _ in range(2):
        matmul(a, b)
    for _ in range(2):
        matmul(a, b, out)
    kept = [each for calls in kept_on(adopt(queue)).plain.values() for each in calls if each.queue is queue]
    new, into = kept
    assert np.allclose(new.run_plain(a, b, None).get(), values[0] @ values[1], atol=1e-4)
    assert into.run_plain(a, b, out) is out
    stack = cl_array.to_device(queue, random(3, 12, 12))
    doubles = cl_array.to_device(queue, random(12, 12).astype(np.float64))
    other_queue = cl_array.to_device(cl.CommandQueue(device.context, device.device), values[0])
    others = [a.T, stack[1], doubles, other_queue, a.get(), cl_array.to_device(queue, random(12, 13)), None]
    for other in others:
        for operands in ((other, b), (a, other)):
            assert new.run_plain(*operands, None) is REFUSED
            assert into.run_plain(*operands, out) is REFUSED
        assert other is None or into.run_plain(a, b, other) is REFUSED
    read_only = cl_array.to_device(queue, values[2])
    memory = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    read_only.base_data = cl.Buffer(device.context, memory, hostbuf=values[2])
    for shared in (a, b, a.view(), read_only):
        for _ in range(2):  # what is known of a buffer is looked up then
            assert into.run_plain(a, b, shared) is REFUSED
    for operand in (a, b):
        own = operand.base_data
        assert into.run_plain(a, b, out) is out
        operand.base_data = out.base_data  # which is another buffer than the one that was looked at
        assert into.run_plain(a, b, out) is REFUSED
        operand.base_data = own
    assert new.run_plain(a, a, None) is REFUSED  # another plan, if one is transposed


def test_quick_calls_keep_no_array(device: Device) -> None:
    queue = cl.CommandQueue(device.context, device.device)
    a, b, out = (cl_array.to_device(queue, each) for each in random(3, 12, 12))
    product = prepare(a, b, out)
    for _ in range(3):
        results = matmul(a, b), matmul(a, b, out), product(a, b), product(a, b, out)
    alive = [ref(each) for each in (a, b, out, *results)]
    queue.finish()
    del a, b, out, results
    gc.collect()
    assert [each() for each in alive] == [None] * 7


def test_quick_calls_on_several_queues(device: Device) -> None:
    """Each runs on the queue of its first array, and waits for the other's."""
    queues = [cl.CommandQueue(device.context, device.device) for _ in range(3)]
    values = random(2, 12, 12)
    pairs = [[cl_array.to_device(queue, each) for each in values] for queue in queues]
    expected = values[0] @ values[1]
    for _ in range(3):
        for queue, (a, b) in zip(queues, pairs, strict=True):
            gate = cl.UserEvent(device.context)
            b.add_event(gate)
            result = matmul(a, b)
            assert result.queue is queue
            assert result.events[-1].command_execution_status != cl.command_execution_status.COMPLETE
            gate.set_status(cl.command_execution_status.COMPLETE)
            assert np.allclose(result.get(), expected, atol=1e-4)
            b.events.remove(gate)


def test_quick_calls_wait_for_any_event_that_is_not_of_their_queue(device: Device, waits: list[Any]) -> None:
    queue = cl.CommandQueue(device.context, device.device)
    arrays = [cl_array.to_device(queue, each) for each in random(3, 12, 12)]
    for _ in range(3):
        matmul(*arrays)
    for array in arrays:
        gate = cl.UserEvent(device.context)
        array.events[:] = [gate]
        matmul(*arrays)
        assert waits[-1] == [gate]
        gate.set_status(cl.command_execution_status.COMPLETE)
        queue.finish()
        array.events.remove(gate)
        matmul(*arrays)
        assert waits[-1] is None
