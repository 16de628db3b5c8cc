"""Destructors run wherever Python collects garbage. They may multiply Dask arrays while their own thread has a lock for that."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("locket", reason="Dask's distributed is not installed")

from dask.array import routines
from dask_cases import numbers

from tilewright.dask import device_memory, devices, products, routing
from tilewright.dask.arithmetic import Arithmetic, Factor
from tilewright.dask.device_memory import DeviceMemory
from tilewright.library.engine import default_device

pytestmark = pytest.mark.usefixtures("one_device")
ALL = (slice(None), slice(None))
SECONDS = 10  # in which a thread that does not wait for itself is done


class Once:
    """Makes a call the first time that it is asked, as a destructor does."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call: Callable[[], Any] | None = call
        self.found: list[Any] = []

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            self.found.append(call())


def in_a_thread(call: Callable[[], Any]) -> Any:
    """What a call gives. AssertionError if it waits for itself."""
    found: list[Any] = []
    caller = threading.Thread(target=lambda: found.append(call()), daemon=True)
    caller.start()
    caller.join(SECONDS)
    assert not caller.is_alive()
    return found[0]


def test_a_worker_that_is_dealt_a_device_has_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Worker:
        local_directory = str(tmp_path / "worker")

    worker, destructor = Worker(), Once(devices.worker_device)

    def dealt(place: int) -> str:
        destructor()
        return f"device {place}"

    monkeypatch.setattr(devices, "preset_device", lambda: None)
    monkeypatch.setattr(devices, "current_worker", lambda: worker)
    monkeypatch.setattr(devices, "dealt_device", dealt)
    assert in_a_thread(devices.worker_device) == destructor.found[0] == devices.worker_device()
    kept = int(destructor.found[0].split()[1])
    assert devices.place_on_host(Worker()).number == 1 - kept, "the other place is free"


def test_a_device_has_one_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    destructor = Once(device_memory.worker_memory)

    class Disturbed(DeviceMemory):
        def __init__(self, device: Any) -> None:
            destructor()
            super().__init__(device)

    holders = default_device().pool.holders
    before = list(holders)
    monkeypatch.setattr(device_memory, "current_worker", object)
    monkeypatch.setattr(device_memory, "worker_device", lambda: None)
    monkeypatch.setattr(device_memory, "shares_memory", lambda device: False)
    monkeypatch.setattr(device_memory, "_memories", {})
    monkeypatch.setattr(device_memory, "DeviceMemory", Disturbed)
    try:
        assert in_a_thread(device_memory.worker_memory) is destructor.found[0] is device_memory.worker_memory()
    finally:
        holders[:] = before


def test_a_chunk_is_multiplied_while_it_is_loaded_in_the_last_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "PRODUCTS", 1)
    memory = DeviceMemory(default_device())
    a, b = (Factor(numbers((20, 20), np.float32, seed), ALL) for seed in range(2))
    loaded: Callable[..., Any] = DeviceMemory._loaded

    def product() -> np.ndarray:
        total = memory.added(None, None, (20, 20), a, b, Arithmetic("float32", "float32", None))
        assert total is not None
        found: np.ndarray = total.array.get()
        return found

    destructor = Once(product)

    def disturbed(self: DeviceMemory, chunk: np.ndarray, channel: Any) -> Any:
        destructor()
        return loaded(self, chunk, channel)

    monkeypatch.setattr(DeviceMemory, "_loaded", disturbed)
    try:
        outer = in_a_thread(product)
        assert np.allclose(outer, a.chunk @ b.chunk, rtol=1e-4, atol=1e-4)
        assert np.array_equal(destructor.found[0], outer)
        assert np.array_equal(in_a_thread(product), outer), "the turn is given back"
    finally:
        memory.device.pool.holders.remove(memory.drop_idle)


def test_a_context_within_the_beginning_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def nest() -> None:
        with products():
            assert routines.matmul is routing._matmul

    destructor = Once(nest)

    class Place:
        def __setattr__(self, name: str, value: Any) -> None:
            destructor()
            object.__setattr__(self, name, value)

    def outer() -> Any:
        with products():
            return routines.matmul

    own = routines.matmul
    monkeypatch.setattr(routing, "PLACES", (Place(), routines))
    assert in_a_thread(outer) is routing._matmul
    assert destructor.found
    assert routines.matmul is own
