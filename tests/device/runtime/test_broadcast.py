"""Arrays that several devices load through one set of pinned chunks: copied once, right in any order, and nobody hangs."""

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import sleep
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


def loaded(own: Broadcast, device: Device, orders: list[list[int]], panels: list[np.ndarray]) -> int:
    """Each thread loads panels in an order of its own, and has all their elements. How many panels it did not get at all."""

    def load(order: list[int]) -> int:
        queue = cl.CommandQueue(device.context, device.device)
        buffers = {number: device.allocate(panels[number].nbytes) for number in order}
        missed = [each for each in order if not own.write(device, queue, buffers[each], panels[each], each)]
        queue.finish()
        for number in set(order) - set(missed):
            found = np.empty(panels[number].shape, np.float32)
            cl.enqueue_copy(queue, found, buffers[number])
            assert np.array_equal(found, panels[number])
        return len(missed)

    with ThreadPoolExecutor(len(orders)) as threads:
        return sum(threads.map(load, orders))


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
    own = Broadcast.begun([device], 64 * 8192)
    loaded(own, device, [[0, 1]], panels)
    own.keep()
    again = Broadcast.begun([device], 64 * 8192)
    assert again is own
    assert Broadcast.begun([device], 64 * 8192) is not own, "another call uses it"
    panels[1][...] = 7
    loaded(again, device, [[0, 1], [1, 0]], panels)
    assert sum(copied) == 2 * sum(each.nbytes for each in panels)


def test_calls_of_other_sizes_take_what_is_pinned_already(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[int] = []
    pin = Broadcast._pin

    def counted(self: Broadcast, chunk: Any) -> None:
        pinned.append(1)
        pin(self, chunk)

    monkeypatch.setattr(Broadcast, "_pin", counted)
    panels = arrays()[4:5]  # of more chunks than there are
    for chunks, made in ((20, 20), (AHEAD, 20), (24, 38)):
        own = Broadcast.begun([device], chunks * 8192)
        assert loaded(own, device, [[0]], panels) == 0
        own.keep()
        assert len(pinned) == made
        del own
    monkeypatch.setattr(broadcast, "CHUNK_BYTES", 4096)
    assert Broadcast.begun([device], 20 * 4096)._chunks[0].memory is None, "chunks of another size"


class Broken(Exception):
    """What a thread raises in these tests."""


@pytest.mark.parametrize("place", [0, 2, 20])
def test_who_does_not_get_an_array_is_told(place: int, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert loaded(own, device, [[4, 5, 0]] * DEVICES, panels) > 0
    assert loaded(own, device, [[4, 5, 0]] * DEVICES, panels) == 3 * DEVICES, "it is not tried again"
    assert not any(each.users or each.missing for each in own._chunks)
    own.keep()
    assert Broadcast.begun([device], AHEAD * DEVICES * 8192) is not own


@pytest.mark.parametrize("what", ["threads", "pins"])
def test_a_system_without_threads_or_memory_is_told_and_nothing_hangs(
    what: str, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    panels, own, count = arrays(), Broadcast(device, AHEAD * DEVICES), itertools.count()
    put, pin = Helpers.put, Broadcast._pin

    def refuse_thread(self: Any, job: Any) -> None:
        if next(count) == 3:
            raise RuntimeError("can't start new thread")
        put(self, job)

    def refuse_pin(self: Any, chunk: Any) -> None:
        if next(count) == 3:
            raise cl.MemoryError("create_buffer", cl.status_code.OUT_OF_HOST_MEMORY)
        pin(self, chunk)

    if what == "threads":
        monkeypatch.setattr(Helpers, "put", refuse_thread)
    else:
        monkeypatch.setattr(Broadcast, "_pin", refuse_pin)
    assert loaded(own, device, [[4, 5]] * DEVICES, panels) > 0
    assert not any(each.users or each.missing for each in own._chunks)


def test_a_copy_that_the_driver_refuses_leaves_its_chunks_when_nobody_reads_any_more(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    panels, own = arrays(), Broadcast(device, AHEAD)
    queue = cl.CommandQueue(device.context, device.device)
    usual = np.copyto

    def slow(*given: Any) -> None:
        sleep(0.002)
        usual(*given)

    monkeypatch.setattr(np, "copyto", slow)
    for _ in range(2):
        with pytest.raises(LaunchFailed, match="writing 80,000 bytes"):
            own.write(device, queue, device.allocate(1000), panels[0], 0)
        assert not any(each.users or each.missing for each in own._chunks)
    buffer = device.allocate(panels[0].nbytes)
    assert own.write(device, queue, buffer, panels[0], 1)
    found = np.empty(panels[0].shape, np.float32)
    queue.finish()
    cl.enqueue_copy(queue, found, buffer)
    assert np.array_equal(found, panels[0])
