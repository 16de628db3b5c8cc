"""Copies by threads that fill and empty pinned pieces: any strides, pieces used again, errors of threads and of the driver."""

import gc
import itertools
import weakref
from threading import get_ident
from time import sleep
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from tilewright.errors import LaunchFailed, OutOfDeviceMemory
from tilewright.runtime.opencl.conveyor import THREADS, Conveyor, Size
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(3)
SIZE = Size(6, 4096)


@pytest.fixture
def queue(device: Device) -> Any:
    return cl.CommandQueue(device.context, device.device)


def views(dtype: str) -> list[np.ndarray]:
    whole = RNG.integers(0, 100, (190, 260)).astype(dtype)
    return [
        whole,
        whole[3:100, 7:201],
        whole[::2, ::3],
        whole.T[5:50],
        whole[:1, :1],
        whole[:, 40:41],
        whole.reshape(-1)[13:9000],
    ]


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "float16"])
def test_what_is_written_is_read(dtype: str, device: Device, queue: Any) -> None:
    to, back = Conveyor(device, SIZE), Conveyor(device, Size(4, 1024))
    for array in views(dtype):
        buffer = device.allocate(array.nbytes + 64)
        to.write(queue, buffer, array, 64)
        found = np.zeros((array.shape[0] + 1, *(side + 2 for side in array.shape[1:])), dtype)
        inner = found[tuple(slice(side) for side in array.shape)]
        back.read(queue, buffer, inner, 64)
        assert np.array_equal(inner, array)
        inner[...] = 0
        assert not found.any(), "elements beside the array were written"


def test_pieces_are_used_again(device: Device, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    new_piece = Conveyor._new_piece

    def counted(self: Conveyor) -> np.ndarray:
        made.append(1)
        return new_piece(self)

    monkeypatch.setattr(Conveyor, "_new_piece", counted)
    own, array = Conveyor(device, SIZE), RNG.random((300, 100))
    buffer = device.allocate(array.nbytes)
    for _ in range(5):
        own.write(queue, buffer, array)
    assert 1 <= len(made) <= SIZE.pieces
    assert SIZE.nbytes == 6 * 4096
    found = np.empty_like(array)
    device.finish("")
    queue.finish()
    Conveyor(device, SIZE).read(queue, buffer, found)
    assert np.array_equal(found, array)


def test_a_piece_that_could_not_be_pinned_is_none(device: Device, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later call pins it: otherwise a conveyor without pieces would wait for ever."""
    own, array = Conveyor(device, Size(2, 4096)), RNG.random((300, 100))
    buffer = device.allocate(array.nbytes)

    def refused(self: Conveyor) -> np.ndarray:
        raise OutOfDeviceMemory("no pinned memory is left")

    with monkeypatch.context() as now:
        now.setattr(Conveyor, "_new_piece", refused)
        for _ in range(3):
            with pytest.raises(OutOfDeviceMemory):
                own.write(queue, buffer, array)
    own.write(queue, buffer, array)
    found = np.empty_like(array)
    queue.finish()
    Conveyor(device, SIZE).read(queue, buffer, found)
    assert np.array_equal(found, array)


def test_all_conveyors_share_the_threads_that_copy(device: Device, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    array = RNG.random((300, 100))
    conveyors = [Conveyor(device, SIZE) for _ in range(3)]
    buffer = device.allocate(array.nbytes)
    seen: set[int] = set()
    copy = np.copyto

    def noted(*given: Any) -> None:
        seen.add(get_ident())
        sleep(2e-4)
        copy(*given)

    monkeypatch.setattr(np, "copyto", noted)
    for own in conveyors:
        own.write(queue, buffer, array)
    assert min(2, THREADS) <= len(seen) <= THREADS


@pytest.mark.parametrize("writes", [True, False])
def test_an_error_of_a_thread_is_raised_and_no_piece_is_lost(
    writes: bool, device: Device, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, array = Conveyor(device, SIZE), RNG.random((300, 100))
    buffer = device.allocate(array.nbytes)
    call = (own.write, own.read)[not writes]
    call(queue, buffer, array)
    count = itertools.count(1)
    copy = np.copyto

    def fails(*given: Any) -> None:
        if next(count) == 20:
            raise MemoryError("no memory is left")
        copy(*given)

    with monkeypatch.context() as patched:
        patched.setattr(np, "copyto", fails)
        with pytest.raises(MemoryError, match="no memory is left"):
            call(queue, buffer, array)
    assert len(own._idle) + len(own._moving) == own._pinned <= SIZE.pieces
    own.write(queue, buffer, array)
    found = np.empty_like(array)
    Conveyor(device, SIZE).read(queue, buffer, found)
    assert np.array_equal(found, array)


@pytest.mark.parametrize("writes", [True, False])
def test_an_error_keeps_no_array(writes: bool, device: Device, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not until Python looks for objects that only know each other."""
    own, array = Conveyor(device, SIZE), RNG.random((100, 100))
    buffer, known = device.allocate(array.nbytes), weakref.ref(array)

    def fails(*given: Any) -> None:
        raise MemoryError

    gc.disable()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(np, "copyto", fails)
            with pytest.raises(MemoryError):
                (own.write if writes else own.read)(queue, buffer, array)
        del array
        for _ in range(200):  # a thread that copies lets go of its piece after it has told of it
            if known() is None:
                break
            sleep(0.01)
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("writes", [True, False])
def test_an_error_of_the_driver_names_the_copy(writes: bool, device: Device, queue: Any) -> None:
    own, array = Conveyor(device, SIZE), np.zeros((300, 100))
    small = device.allocate(array.nbytes // 2)
    with pytest.raises(LaunchFailed, match="240,000 bytes"):
        (own.write, own.read)[not writes](queue, small, array)
    assert len(own._idle) + len(own._moving) == own._pinned
