"""Fixtures of what a device holds between Dask's tasks. They import Dask when they are used: it may be missing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from tilewright.dask.device_memory import DeviceMemory


@pytest.fixture
def chunk_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator["DeviceMemory"]:
    """Of the default device, which pretends to have memory of its own. All threads pretend to be a worker's."""
    from tilewright.dask import device_memory, schedule
    from tilewright.dask.device_memory import DeviceMemory
    from tilewright.library.engine import default_device

    made = DeviceMemory(default_device())
    monkeypatch.setattr(device_memory, "shares_memory", lambda device: False)
    monkeypatch.setattr(device_memory, "current_worker", object)
    monkeypatch.setattr(device_memory, "_memories", {default_device(): made})
    monkeypatch.setattr(schedule, "TASK_BYTES", 1)
    yield made
    made.device.pool.holders.remove(made.drop_idle)


@pytest.fixture
def chunk_loads(chunk_memory: "DeviceMemory", monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each chunk that was loaded."""
    from tilewright.dask.device_memory import DeviceMemory

    found: list[int] = []
    loaded = DeviceMemory._loaded

    def noted(self: "DeviceMemory", chunk: np.ndarray, channel: Any) -> Any:
        found.append(chunk.nbytes)
        return loaded(self, chunk, channel)

    monkeypatch.setattr(DeviceMemory, "_loaded", noted)
    return found
