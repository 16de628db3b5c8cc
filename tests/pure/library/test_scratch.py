"""Scratch memory that is kept: what is shared, limits, and what happens where memory is lacking. Nothing is launched."""

import threading
from dataclasses import replace
from typing import Any
from weakref import finalize

import pytest

from tilewright.core.device import DeviceInfo
from tilewright.errors import OutOfDeviceMemory
from tilewright.library import scratch
from tilewright.library.scratch import KeptScratch, scratch_limit

INFO = DeviceInfo("a GPU", "a driver", kind="gpu")


class Piece:
    def __init__(self, size: int) -> None:
        self.size = size


class Memory:
    """A device with so many bytes."""

    def __init__(self, nbytes: int, most: int = 0) -> None:
        self.nbytes, self.info = nbytes, replace(INFO, max_alloc_bytes=most)
        self.live: dict[int, int] = {}
        self.asked: list[int] = []

    def allocate(self, nbytes: int) -> Piece:
        self.asked.append(nbytes)
        most = self.info.max_alloc_bytes
        if sum(self.live.values()) + nbytes > self.nbytes or (most and nbytes > most):
            raise OutOfDeviceMemory(f"{nbytes} of {self.nbytes}, {self.live} live")
        made, number = Piece(nbytes), len(self.asked)
        self.live[number] = nbytes
        finalize(made, self.live.pop, number)
        return made


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> KeptScratch:
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", 1000)
    return KeptScratch()


def taken(kept: KeptScratch, queue: Any, memory: Memory, *sizes: int) -> list[int]:
    """The sizes of the buffers, which the caller has let go of."""
    return [each.size for each in kept.take(queue, sizes, memory)]


def test_calls_on_one_queue_share_their_buffers(kept: KeptScratch) -> None:
    memory = Memory(10_000)
    first = kept.take(1, [300, 100], memory)
    assert kept.take(1, [200], memory) == first[:1]
    assert kept.take(1, [300, 50], memory) == first
    assert kept.take(2, [300], memory)[0] is not first[0]
    assert kept.dropped == 0


def test_the_least_recently_used_is_dropped_above_the_limit(kept: KeptScratch) -> None:
    memory = Memory(10_000)
    for queue in (1, 2, 1, 3):
        taken(kept, queue, memory, 400)
    assert sum(memory.live.values()) == 800
    assert kept.dropped == 1
    memory.asked.clear()
    taken(kept, 1, memory, 400)
    assert memory.asked == []
    taken(kept, 2, memory, 400)
    assert memory.asked == [400]


def test_what_is_not_limited_stays_until_another_call_needs_its_place(kept: KeptScratch) -> None:
    memory = Memory(10_000)
    found = kept.take(1, [5000], memory, limited=False)
    assert kept.take(1, [4000], memory, limited=False) == found
    taken(kept, 2, memory, 10)
    assert kept.dropped == 1
    del found
    assert sum(memory.live.values()) == 10


def test_a_device_with_memory_of_its_own_may_keep_more(kept: KeptScratch) -> None:
    own = replace(INFO, global_bytes=2000 * scratch.KEPT_SCRATCH_SHARE)
    assert scratch_limit(own) == 2000
    assert scratch_limit(replace(own, global_bytes=1000)) == 1000
    assert scratch_limit(replace(own, host_unified=True)) == 1000


def test_buffers_grow_in_few_steps(kept: KeptScratch) -> None:
    memory = Memory(10_000)
    for nbytes in range(100, 1001, 10):
        assert taken(kept, 1, memory, nbytes)[0] >= nbytes
        assert sum(memory.live.values()) <= 1000
    assert len(memory.asked) <= 8
    assert kept.dropped == len(memory.asked) - 1


def test_they_grow_by_no_more_than_one_buffer_may_have_or_there_is_room_for(kept: KeptScratch) -> None:
    memory = Memory(10_000, most=510)
    taken(kept, 1, memory, 500)
    assert taken(kept, 1, memory, 505) == [505]
    assert memory.asked == [500, 505]
    memory = Memory(700)
    taken(kept, 2, memory, 500)
    assert taken(kept, 2, memory, 505) == [505]


def test_a_thread_that_lacks_memory_gives_its_own(kept: KeptScratch) -> None:
    memory = Memory(1000)
    taken(kept, 1, memory, 600)
    assert taken(kept, 2, memory, 600) == [600]
    assert taken(kept, 2, memory, 900) == [900]
    with pytest.raises(OutOfDeviceMemory):
        kept.take(2, [1001], memory)
    assert not memory.live


def test_nothing_above_the_limit_stays_if_a_later_buffer_fails(kept: KeptScratch) -> None:
    memory = Memory(2000)
    with pytest.raises(OutOfDeviceMemory):
        kept.take(1, [1500, 1500], memory)
    assert sum(memory.live.values()) <= 1000


def test_other_threads_may_drop_it_at_any_time(kept: KeptScratch) -> None:
    memory, ended = Memory(10**9), threading.Event()

    def drop() -> None:
        while not ended.is_set():
            kept.drop()

    other = threading.Thread(target=drop)
    other.start()
    try:
        for number in range(3000):
            assert [each.size >= 300 for each in kept.take(number % 3, [300, 300], memory)] == [True] * 2
    finally:
        ended.set()
        other.join()
    kept.drop()
    assert not memory.live
