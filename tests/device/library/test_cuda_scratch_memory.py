"""Scratch memory of calls on CUDA arrays, on a pretended GPU: whose it is, how long it is kept, and which calls watch it."""

import gc
import weakref
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cuda_fixtures import PretendedStreams, general, values
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice, PretendedKernel

from tilewright import matmul, prepare
from tilewright.library import scratch
from tilewright.library.memory import choice
from tilewright.library.memory.cuda_ready import CudaReady
from tilewright.library.memory.cuda_streams import change_watch, stream_key
from tilewright.runtime.cuda.programs import Buffer


def test_a_stream_with_the_handle_of_a_destroyed_one_has_scratch_memory_of_its_own(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The destroyed one's last kernel may still be running."""
    gpu.info = replace(gpu.info, kind="gpu", features=frozenset({"gpu"}), sub_group_width=32)
    taken: list[int] = []
    whole = gpu.allocate

    def allocate(nbytes: int) -> Any:
        taken.append(nbytes)
        return whole(nbytes)

    monkeypatch.setattr(gpu, "allocate", allocate)  # which `zeroed` calls, too
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    one, other = values(16, 4096), values(4096, 16, seed=1)
    a, b, out = gpu.own(one), gpu.own(other), gpu.own(values(16, 16))
    product = prepare(a, b, out)
    assert product.plans[0].scratch
    for first, call in ((10, partial(matmul, a, b, out)), (20, partial(product, a, b, out))):
        streams.numbers = {30: first}
        call()
        for number, is_new in ((first, False), (first + 1, True), (first + 1, False), (first, False)):
            streams.numbers = {30: number}
            taken.clear()
            out.array.fill(np.nan)
            call()
            assert np.allclose(out.array, one @ other, atol=1e-3)
            assert bool(taken) is is_new, number


class Owner:
    """What owns a buffer."""


@pytest.fixture
def live(gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """The bytes of each buffer that the GPU has allocated, by its address, until nothing owns it. It computes split sums."""
    gpu.info = replace(gpu.info, kind="gpu", features=frozenset({"gpu"}), sub_group_width=32)
    found: dict[int, int] = {}
    allocate = gpu.allocate

    def noted(nbytes: int) -> Buffer:
        made, owner = allocate(nbytes), Owner()
        found[made.pointer] = nbytes
        weakref.finalize(owner, freed, made)
        return made._replace(owner=owner)

    def freed(made: Buffer) -> None:
        del found[made.pointer]
        gpu.known[:] = [each for each in gpu.known if each is not made.owner]  # whoever uses it now fails

    monkeypatch.setattr(gpu, "allocate", noted)
    return found


def split_sums(gpu: PretendedDevice, rows: int) -> tuple[Any, Any, Any, np.ndarray]:
    """Operands of a product with scratch memory, an array for the result, and its values."""
    one, other = values(rows, 4096), values(4096, 16, seed=rows)
    return gpu.own(one), gpu.own(other), gpu.own(values(rows, 16)), one @ other


@pytest.mark.parametrize("limit", [1, 2**28])
def test_a_graph_keeps_the_scratch_memory_of_its_launches(
    limit: int, framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, live: dict[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Above the limit each call had another buffer, and that of the first launch was freed while the graph had its address."""
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    streams.captures = {30: 5}
    bound: set[int] = set()
    set_arg = PretendedKernel.set_arg

    def noted(kernel: PretendedKernel, index: int, value: Any) -> None:
        if isinstance(value, Buffer) and value.pointer in live:
            bound.add(value.pointer)
        set_arg(kernel, index, value)

    monkeypatch.setattr(PretendedKernel, "set_arg", noted)
    a, b, out, wanted = split_sums(gpu, 16)
    for _ in range(3):
        matmul(a, b, out)
        assert np.allclose(out.array, wanted, atol=1e-3)
    whole = matmul(*split_sums(gpu, 8)[:3])
    assert whole.array.shape == (8, 16)
    assert len(bound) == 1, "the launches of a graph run one after the other, and share a buffer"
    vars(gpu.per_thread).clear()
    gc.collect()
    assert bound <= set(live)


@pytest.mark.parametrize("ready", ["matmul", "prepared"])
@pytest.mark.parametrize("share", [0.9, 1.5], ids=["not of the largest", "of all"])
@pytest.mark.parametrize("currents", [(0,), (30,), (20, 30)])
def test_ready_calls_keep_no_scratch_memory_beyond_the_limit(
    ready: str, currents: tuple[int, ...], share: float, framework: PretendedArrays, gpu: PretendedDevice,
    streams: PretendedStreams, live: dict[int, int], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each kept what it had been given, when others needed more, or took the room."""
    cases = [split_sums(gpu, rows) for rows in (16, 24, 32, 40, 48, 16)]
    largest = 0
    for each in cases:
        largest = max(largest, sum(prepare(*each[:3]).plans[0].scratch.values()))
    limit = int(largest * share)
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    vars(gpu.per_thread).clear()
    choice.MEMORIES[PretendedArray]._threads.ready.clear()
    gc.collect()
    assert not live
    products: dict[tuple[int, int], Any] = {}
    for _ in range(3):
        for current in currents:
            monkeypatch.setattr(framework, "current_stream", lambda *_, current=current: current)
            for number, (a, b, out, wanted) in enumerate(cases):
                if ready == "prepared" and (number, current) not in products:
                    products[number, current] = prepare(a, b, out)
                call = products.get((number, current), matmul)
                for _ in range(2):
                    out.array.fill(np.nan)
                    call(a, b, out)
                    assert np.allclose(out.array, wanted, atol=1e-3)
                assert 0 < sum(live.values()) <= limit


@pytest.mark.parametrize("queue", [0, 30])
@pytest.mark.parametrize("has_scratch", [True, False])
def test_what_a_plain_call_watches(
    queue: int, has_scratch: bool, gpu: PretendedDevice, streams: PretendedStreams
) -> None:
    """The plain calls of this pretended GPU have no scratch memory."""
    kept = scratch.KeptScratch()
    memory = SimpleNamespace(queue=queue, scratch_key=stream_key(gpu, queue))  # type: ignore[arg-type]
    ready: Any = SimpleNamespace(
        _memory=memory, _device=gpu, _has_scratch=has_scratch, _kept_scratch=kept, _dropped=kept.dropped
    )
    watch = CudaReady._watch(ready)
    assert (watch is None) == (queue == 0 and not has_scratch)
    if watch is None:
        return
    assert not watch()
    streams.captures = {30: 5}
    assert watch() == (queue == 30)
    streams.captures = {}
    kept.dropped += 1
    assert watch() == has_scratch


def test_what_a_plain_call_watches_of_its_stream(gpu: PretendedDevice, streams: PretendedStreams) -> None:
    own = stream_key(gpu, 30)  # type: ignore[arg-type]
    assert own == (30, 1030, 0)
    with_scratch, without = (change_watch(gpu, own, has_scratch) for has_scratch in (True, False))  # type: ignore[arg-type]
    for numbers, captures, expected in (
        ({}, {}, (False, False)),
        ({30: 7}, {}, (True, False)),
        ({}, {30: 5}, (True, True)),
        ({20: 7}, {20: 5}, (False, False)),
    ):
        streams.numbers, streams.captures = numbers, captures
        assert (with_scratch(), without()) == expected
    assert stream_key(gpu, 1) == (1, 0, 0)  # type: ignore[arg-type]


def test_a_call_without_scratch_memory_runs_on_any_stream_with_its_handle(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    gone = general(monkeypatch)
    a, b = gpu.own(values(3, 5)), gpu.own(values(5, 4, seed=1))
    for _ in range(2):  # the first makes the kind of arrays known
        matmul(a, b)
    gone.clear()
    for number in (7, 8):
        streams.numbers = {30: number}
        assert np.allclose(matmul(a, b).array, a.array @ b.array, atol=1e-5)
    assert gone == []
