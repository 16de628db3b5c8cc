"""Sums that stay on a device between tasks: without room, after errors, by several threads, sent to other workers."""

import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

dask: Any = pytest.importorskip("dask", reason="Dask is not installed")

from dask_factors import SINGLE, close, factor  # noqa: E402

from tilewright.dask import channels, device_memory, tasks  # noqa: E402
from tilewright.dask.arithmetic import Factor  # noqa: E402
from tilewright.dask.device_memory import DeviceMemory  # noqa: E402
from tilewright.errors import LaunchFailed, OutOfDeviceMemory  # noqa: E402
from tilewright.library.engine import default_device  # noqa: E402
from tilewright.library.streamed.device_memory import STAGING  # noqa: E402
from tilewright.runtime.opencl.conveyor import Conveyor  # noqa: E402
from tilewright.runtime.opencl.device import open_device  # noqa: E402
from tilewright.runtime.opencl.finishing import finish_before_raising  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")


@pytest.mark.parametrize("begun", [0, 1])
def test_without_memory_the_product_is_computed_from_the_host(
    begun: int, chunk_memory: DeviceMemory, chunk_loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    for _ in range(begun):
        total.add(a, b, SINGLE)
    assert begun == (total._on_device is not None)

    def refused(chunk: np.ndarray, channel: Any) -> Any:
        raise OutOfDeviceMemory(f"{chunk.nbytes} bytes are too many")

    chunk_memory.drop_idle()
    with monkeypatch.context() as now:
        now.setattr(chunk_memory, "_loaded", refused)
        total.add(a, b, SINGLE)
    assert total._on_device is None
    assert close(total.values(), (1 + begun) * a.chunk, b.chunk, 2.0**-16)
    total.add(a, b, SINGLE)
    assert total._on_device is not None
    assert close(total.values(), (2 + begun) * a.chunk, b.chunk, 2.0**-16)
    assert total.count == 2 + begun


@pytest.mark.parametrize("where", ["_loaded", "_new_sum", "gemm"])
def test_an_error_leaves_nothing_in_use(
    where: str, chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)

    def broken(*given: Any, **named: Any) -> Any:
        raise LaunchFailed("the device is gone")

    with monkeypatch.context() as now:
        now.setattr(device_memory if where == "gemm" else chunk_memory, where, broken)
        with pytest.raises(LaunchFailed, match="gone"):
            total.add(a, b, SINGLE)
    assert total.count is None
    assert not any(each.users for each in chunk_memory._chunks.values())
    assert chunk_memory.sum_bytes == 0
    again = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    again.add(a, b, SINGLE)
    assert close(again.values(), a.chunk, b.chunk, 2.0**-17)


@pytest.mark.parametrize("begun", [0, 1])
def test_a_kernel_without_scratch_memory(
    begun: int, chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new sum is computed from the host. An older one may be spoiled."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    for _ in range(begun):
        total.add(a, b, SINGLE)

    def refused(*given: Any, **named: Any) -> Any:
        raise OutOfDeviceMemory("scratch memory is too large")

    with monkeypatch.context() as now:
        now.setattr(device_memory, "gemm", refused)
        if begun:
            with pytest.raises(OutOfDeviceMemory):
                total.add(a, b, SINGLE)
            assert total.count is None
            return
        total.add(a, b, SINGLE)
    assert total._on_device is None
    assert close(total.values(), a.chunk, b.chunk, 2.0**-17)


def test_copies_end_before_their_memory_goes(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory may lack after some pieces of a chunk were sent."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    waited: list[Any] = []

    def noted(queue: Any) -> None:
        waited.append(queue)
        finish_before_raising(queue)

    monkeypatch.setattr(channels, "finish_before_raising", noted)

    def refused(*given: Any, **named: Any) -> None:
        assert not waited
        raise OutOfDeviceMemory("no pinned memory is left")

    for place in STAGING:
        chunk_memory.device.kept.pop(place, None)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    with monkeypatch.context() as now:
        now.setattr(Conveyor, "write", refused)
        total.add(a, b, SINGLE)
    assert len(waited) == 1
    assert not any(place in chunk_memory.device.kept for place in STAGING)
    assert close(total.values(), a.chunk, b.chunk, 2.0**-17)


def test_the_lock_is_free_when_a_thread_starts(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector may run in that thread, and find chunks that are gone."""
    started: list[bool] = []

    class Checked(threading.Timer):
        def start(self) -> None:
            def take() -> None:
                started.append(chunk_memory._lock.acquire(timeout=10))
                chunk_memory._lock.release()

            other = threading.Thread(target=take)
            other.start()
            other.join()
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(device_memory, "Timer", Checked)
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    total.add(a, b, SINGLE)
    assert started == [True, True]
    assert close(total.values(), a.chunk, b.chunk, 2.0**-17)


def test_few_products_are_computed_at_a_time(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands of all that are computed may not take more than may lie on the device."""
    running, most = [0], [0]
    added = DeviceMemory._multiply

    def slow(self: DeviceMemory, *given: Any) -> None:
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.02)
        added(self, *given)
        running[0] -= 1

    monkeypatch.setattr(DeviceMemory, "_multiply", slow)
    cases = [(factor((30, 20), seed), factor((20, 40), seed + 1)) for seed in range(10)]

    def work(case: tuple[Factor, Factor]) -> bool:
        total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
        total.add(*case, SINGLE)
        return close(total.values(), case[0].chunk, case[1].chunk, 2.0**-17)

    with ThreadPoolExecutor(10) as pool:
        assert all(pool.map(work, cases))
    assert 1 < most[0] <= device_memory.PRODUCTS


def test_a_spoiled_sum_is_not_merged() -> None:
    whole, spoiled = (tasks.RunningSum(np.zeros((3, 4), np.float32), 1) for _ in range(2))
    spoiled.count = None
    for pair in ((whole, spoiled), (spoiled, whole)):
        with pytest.raises(LaunchFailed, match="compute again"):
            tasks.merge_sums(*pair, SINGLE, False)


def test_a_sum_that_is_sent_stays_as_it_is(chunk_memory: DeviceMemory) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    total.add(a, b, SINGLE)
    sent = pickle.loads(pickle.dumps(total))
    assert total._on_device is not None
    total.add(a, b, SINGLE)
    assert sent.count == 1
    assert close(sent.values(), a.chunk, b.chunk, 2.0**-17)
    sent.add(a, b, SINGLE)
    assert np.array_equal(sent.values(), total.values())


def test_a_sum_goes_on_with_another_device(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of one process hand each other the object itself."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    other = DeviceMemory(open_device(default_device().info.label))  # with a pool of its own
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    for turn in range(4):
        monkeypatch.setattr(tasks, "worker_memory", lambda own=(chunk_memory, other)[turn % 2]: own)
        total.add(a, b, SINGLE)
    assert total._on_device is not None
    assert total._on_device.memory is other
    assert close(total.values(), 4 * a.chunk, b.chunk, 2.0**-16)
    assert (chunk_memory.sum_bytes, other.sum_bytes) == (0, 0)


def test_threads_that_want_a_chunk_wait_for_the_one_that_loads_it(
    chunk_memory: DeviceMemory, chunk_loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: Callable[..., Any] = DeviceMemory._loaded

    def slow(self: DeviceMemory, chunk: np.ndarray, channel: Any) -> Any:
        time.sleep(0.05)
        return loaded(self, chunk, channel)

    monkeypatch.setattr(DeviceMemory, "_loaded", slow)
    a, b = factor((30, 20)), factor((20, 40), 1)
    found: list[np.ndarray] = []

    def work() -> None:
        total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
        total.add(a, b, SINGLE)
        found.append(total.values())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(chunk_loads) == 2
    assert len(found) == 4
    assert all(close(each, a.chunk, b.chunk, 2.0**-17) for each in found)
