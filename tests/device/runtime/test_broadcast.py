"""Arrays that several devices load through one set of pinned chunks: copied once, right in any order, and nobody hangs."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from tilewright.errors import LaunchFailed
from tilewright.runtime.opencl import broadcast
from tilewright.runtime.opencl.broadcast import AHEAD, Broadcast
from tilewright.runtime.opencl.copy_threads import Helpers
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(5)
DEVICES = 3


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "CHUNK_BYTES", 8192)
    monkeypatch.setattr(broadcast, "PIECE_BYTES", 1024)


def arrays() -> list[np.ndarray]:
    """Panels of an operand: contiguous ones, rows of a wider matrix, one element, columns."""
    whole = RNG.standard_normal((300, 400)).astype(np.float32)
    return [whole[:50], whole[:, 40:140], whole[7:9], whole[:1, :1], whole[100:], whole[:, 300:], whole[::2, ::3]]


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each chunk that was filled."""
    found: list[int] = []
    fill = Broadcast._fill

    def counted(self: Broadcast, chunk: Any, elements: np.ndarray) -> None:
        found.append(elements.nbytes)
        fill(self, chunk, elements)

    monkeypatch.setattr(Broadcast, "_fill", counted)
    return found


def loaded(own: Broadcast, device: Device, orders: list[list[int]], panels: list[np.ndarray]) -> None:
    """Each thread loads panels in an order of its own, and has all their elements."""

    def load(order: list[int]) -> None:
        queue = cl.CommandQueue(device.context, device.device)
        buffers = {number: device.allocate(panels[number].nbytes) for number in order}
        for number in order:
            own.write(device, queue, buffers[number], panels[number], number)
        queue.finish()
        for number, buffer in buffers.items():
            found = np.empty(panels[number].shape, np.float32)
            cl.enqueue_copy(queue, found, buffer)
            assert np.array_equal(found, panels[number])

    with ThreadPoolExecutor(len(orders)) as threads:
        for _ in threads.map(load, orders):
            pass


def test_what_all_devices_load_is_copied_once(device: Device, copied: list[int]) -> None:
    panels = arrays()
    own = Broadcast(device, 2 + sum(each.nbytes for each in panels) // 4096)
    loaded(own, device, [list(range(len(panels)))] * DEVICES, panels)
    assert sum(copied) == sum(each.nbytes for each in panels)


@pytest.mark.parametrize("chunks", [AHEAD * DEVICES, AHEAD * DEVICES + 7])
def test_devices_that_drift_apart_get_everything(chunks: int, device: Device, copied: list[int]) -> None:
    panels = arrays()
    own = Broadcast(device, chunks)
    for seed in range(8):
        orders = [
            random.Random(DEVICES * seed + each).sample(range(len(panels)), len(panels)) for each in range(DEVICES)
        ]
        loaded(own, device, orders, panels)
    assert max(copied) <= 8192
    assert sum(copied) > sum(each.nbytes for each in panels), "so few chunks cannot hold all panels"


def test_arrays_that_change_between_calls_are_copied_again(device: Device, copied: list[int]) -> None:
    panels = arrays()[:2]
    own = Broadcast.begun(device, 64 * 8192)
    loaded(own, device, [[0, 1]], panels)
    own.keep(device)
    assert Broadcast.begun(device, 65 * 8192) is not own, "it has another size"
    own.keep(device)
    again = Broadcast.begun(device, 64 * 8192)
    assert again is own
    assert Broadcast.begun(device, 64 * 8192) is not own, "another call uses it"
    panels[1][...] = 7
    loaded(again, device, [[0, 1], [1, 0]], panels)
    assert sum(copied) == 2 * sum(each.nbytes for each in panels)


class Broken(Exception):
    """What a thread raises in these tests."""


@pytest.mark.parametrize("place", [0, 2, 20])
def test_an_error_of_a_copying_thread_reaches_all_who_wait(
    place: int, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    panels = arrays()
    own, count, counting = Broadcast(device, AHEAD * DEVICES), itertools.count(), Lock()
    usual = np.copyto

    def copyto(*given: Any) -> None:
        with counting:
            number = next(count)
        if number == place:
            raise Broken
        usual(*given)

    monkeypatch.setattr(np, "copyto", copyto)
    with pytest.raises(Broken):
        loaded(own, device, [[4, 5, 0]] * DEVICES, panels)
    loaded(own, device, [[4, 5, 0]] * DEVICES, panels)
    assert not any(each.users or each.missing for each in own._chunks)


def test_a_system_without_threads_is_told_and_nothing_hangs(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    panels, own, count = arrays(), Broadcast(device, AHEAD * DEVICES), itertools.count()
    put = Helpers.put

    def refuse(self: Any, job: Any) -> None:
        if next(count) == 3:
            raise RuntimeError("can't start new thread")
        put(self, job)

    monkeypatch.setattr(Helpers, "put", refuse)
    with pytest.raises(RuntimeError, match="new thread"):
        loaded(own, device, [[4, 5]] * DEVICES, panels)
    loaded(own, device, [[4, 5]] * DEVICES, panels)
    assert not any(each.users or each.missing for each in own._chunks)


def test_a_copy_that_the_driver_refuses_leaves_its_chunks(device: Device) -> None:
    panels, own = arrays(), Broadcast(device, AHEAD)
    queue = cl.CommandQueue(device.context, device.device)
    for _ in range(2 * AHEAD):
        with pytest.raises(LaunchFailed, match="writing 80,000 bytes"):
            own.write(device, queue, device.allocate(1000), panels[0], 0)
    buffer = device.allocate(panels[0].nbytes)
    own.write(device, queue, buffer, panels[0], 1)
    found = np.empty(panels[0].shape, np.float32)
    queue.finish()
    cl.enqueue_copy(queue, found, buffer)
    assert np.array_equal(found, panels[0])
