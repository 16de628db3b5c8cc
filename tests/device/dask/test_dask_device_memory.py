"""Chunks and sums that stay on a device between tasks: values, what is loaded and dropped, no room, errors."""

import gc
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

dask: Any = pytest.importorskip("dask", reason="Dask is not installed")

from dask_cases import PRODUCTS, chunked, numbers  # noqa: E402

from tilewright.dask import channels, device_memory, devices, matmul, schedule, tasks  # noqa: E402
from tilewright.dask.arithmetic import Arithmetic, Factor  # noqa: E402
from tilewright.dask.device_memory import DeviceMemory  # noqa: E402
from tilewright.errors import LaunchFailed, OutOfDeviceMemory  # noqa: E402
from tilewright.library.engine import default_device  # noqa: E402
from tilewright.library.streamed.device_memory import STAGING  # noqa: E402
from tilewright.runtime.opencl.conveyor import Conveyor  # noqa: E402
from tilewright.runtime.opencl.device import open_device  # noqa: E402
from tilewright.runtime.opencl.finishing import finish_before_raising  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
ALL = (slice(None), slice(None))
SINGLE = Arithmetic("float32", "float32", None)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[DeviceMemory]:
    """Of the default device, which pretends to have memory of its own. All threads pretend to be a worker's."""
    made = DeviceMemory(default_device())
    monkeypatch.setattr(device_memory, "shares_memory", lambda device: False)
    monkeypatch.setattr(device_memory, "current_worker", object)
    monkeypatch.setattr(device_memory, "_memories", {default_device(): made})
    monkeypatch.setattr(schedule, "TASK_BYTES", 1)
    yield made
    made.device.pool.holders.remove(made.drop_idle)


@pytest.fixture
def loads(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each chunk that was loaded."""
    found: list[int] = []
    loaded = DeviceMemory._loaded

    def noted(self: DeviceMemory, chunk: np.ndarray, channel: Any) -> Any:
        found.append(chunk.nbytes)
        return loaded(self, chunk, channel)

    monkeypatch.setattr(DeviceMemory, "_loaded", noted)
    return found


def factor(shape: tuple[int, int], seed: int = 0) -> Factor:
    return Factor(numbers(shape, np.float32, seed), ALL)


def close(found: Any, a: np.ndarray, b: np.ndarray, loss: float = 2.0**-44) -> bool:
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    left, right = a.astype(wide), b.astype(wide)
    return bool(np.all(np.abs(np.asarray(found).astype(wide) - left @ right) <= loss * (np.abs(left) @ np.abs(right))))


@pytest.mark.parametrize("way", [{}, {"split_k": 3}, {"memory": "1MB"}], ids=str)
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products(case: Any, way: dict[str, Any], memory: DeviceMemory) -> None:
    a, left = chunked(case[0], case[1])
    b, right = chunked(case[2], case[3], seed=1)
    if "memory" in way:
        left, right = left.map_blocks(np.copy), right.map_blocks(np.copy)
    product = matmul(left, right, **way)
    found = product.compute(scheduler="threads", num_workers=3)
    assert (np.shape(found), found.dtype) == (product.shape, product.dtype)
    assert close(found, a, b)
    del product, left, right, found
    gc.collect()
    assert memory.sum_bytes == 0


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16, "complex64"], ids=str)
def test_floats(dtype: Any, loads: list[int]) -> None:
    a, left = chunked((40, 30), (16, 7), dtype)
    b, right = chunked((30, 50), (11, 20), dtype, seed=1)
    product = matmul(left, right.T.T)
    loss = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(np.dtype(dtype).name, 2.0**-17)
    assert close(product.compute(), a, b, loss)
    assert loads


@pytest.mark.parametrize(("dtype", "other"), [("int8", "int8"), ("bool", "bool"), ("float32", "float64")])
def test_other_types_are_multiplied_as_ever(dtype: str, other: str, loads: list[int]) -> None:
    a, left = chunked((20, 30), (16, 7), dtype)
    b, right = chunked((30, 25), (11, 20), other, seed=1)
    found = matmul(left, right).compute()
    assert np.array_equal(found, a.astype(found.dtype) @ b.astype(found.dtype)) or close(found, a, b, 2.0**-40)
    assert not loads


@pytest.mark.parametrize("order", ["C", "F"])
def test_each_chunk_is_loaded_once(order: Any, loads: list[int]) -> None:
    a, left = chunked((60, 40), (20, 10), "float32")
    b, right = chunked((40, 80), (10, 20), "float32", seed=1)
    left, right = (each.map_blocks(np.array, order=order).persist() for each in (left, right))
    product = matmul(left, right)
    first = product.compute(scheduler="threads", num_workers=4)
    assert close(first, a, b, 2.0**-17)
    assert sorted(loads) == [20 * 10 * 4] * (12 + 16)
    assert np.array_equal(product.compute(scheduler="sync"), first)
    assert len(loads) == 28


def test_a_chunk_that_is_gone_is_dropped(memory: DeviceMemory, loads: list[int]) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    memory.added(None, None, (30, 40), a, b, SINGLE)
    assert len(memory._chunks) == 2
    del a
    assert len(memory._chunks) == 1
    for seed in range(20):  # some get the address of an earlier one
        a = factor((30, 20), seed)
        total = memory.added(None, None, (30, 40), a, b, SINGLE)
        assert total is not None
        assert close(total.array.get(), a.chunk, b.chunk, 2.0**-17)
    assert len(loads) == 22


def test_a_chunk_that_nobody_uses_is_dropped_later(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "EXPIRES_S", 0.05)
    a, b = factor((30, 20)), factor((20, 40), 1)
    memory.added(None, None, (30, 40), a, b, SINGLE)
    memory._entry(a.chunk)  # a product that takes long
    until = time.monotonic() + 30
    while len(memory._chunks) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert [each.known() is a.chunk for each in memory._chunks.values()] == [True]
    del a
    while memory._watched and time.monotonic() < until:
        time.sleep(0.01)
    assert not memory._watched


def test_little_room_changes_no_bits(memory: DeviceMemory, loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are dropped and loaded again, and sums go to the host after each product."""
    _, left = chunked((60, 40), (20, 10), "float32")
    _, right = chunked((40, 80), (10, 20), "float32", seed=1)
    left, right = left.persist(), right.persist()
    product = matmul(left, right)
    wanted = product.compute(scheduler="sync")
    for room in (20 * 10 * 4 * 5, 1):
        memory.drop_idle()
        loads.clear()
        monkeypatch.setattr(memory, "_most", room)
        monkeypatch.setattr(DeviceMemory, "multiplies", lambda *given: True)
        assert np.array_equal(product.compute(scheduler="threads", num_workers=3), wanted)
        assert len(loads) > 28


@pytest.mark.parametrize("begun", [0, 1])
def test_without_memory_the_product_is_computed_from_the_host(
    begun: int, memory: DeviceMemory, loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    for _ in range(begun):
        total.add(a, b, SINGLE)
    assert begun == (total._on_device is not None)

    def refused(chunk: np.ndarray, channel: Any) -> Any:
        raise OutOfDeviceMemory(f"{chunk.nbytes} bytes are too many")

    memory.drop_idle()
    with monkeypatch.context() as now:
        now.setattr(memory, "_loaded", refused)
        total.add(a, b, SINGLE)
    assert total._on_device is None
    assert close(total.values(), (1 + begun) * a.chunk, b.chunk, 2.0**-16)
    total.add(a, b, SINGLE)
    assert total._on_device is not None
    assert close(total.values(), (2 + begun) * a.chunk, b.chunk, 2.0**-16)
    assert total.count == 2 + begun


@pytest.mark.parametrize("where", ["_loaded", "_new_sum", "gemm"])
def test_an_error_leaves_nothing_in_use(where: str, memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)

    def broken(*given: Any, **named: Any) -> Any:
        raise LaunchFailed("the device is gone")

    with monkeypatch.context() as now:
        now.setattr(device_memory if where == "gemm" else memory, where, broken)
        with pytest.raises(LaunchFailed, match="gone"):
            total.add(a, b, SINGLE)
    assert total.count is None
    assert not any(each.users for each in memory._chunks.values())
    assert memory.sum_bytes == 0
    again = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    again.add(a, b, SINGLE)
    assert close(again.values(), a.chunk, b.chunk, 2.0**-17)


@pytest.mark.parametrize("begun", [0, 1])
def test_a_kernel_without_scratch_memory(begun: int, memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_copies_end_before_their_memory_goes(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
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
        memory.device.kept.pop(place, None)
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    with monkeypatch.context() as now:
        now.setattr(Conveyor, "write", refused)
        total.add(a, b, SINGLE)
    assert len(waited) == 1
    assert not any(place in memory.device.kept for place in STAGING)
    assert close(total.values(), a.chunk, b.chunk, 2.0**-17)


def test_the_lock_is_free_when_a_thread_starts(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector may run in that thread, and find chunks that are gone."""
    started: list[bool] = []

    class Checked(threading.Timer):
        def start(self) -> None:
            def take() -> None:
                started.append(memory._lock.acquire(timeout=10))
                memory._lock.release()

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


def test_few_products_are_computed_at_a_time(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_sum_that_is_sent_stays_as_it_is(memory: DeviceMemory) -> None:
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


def test_a_sum_goes_on_with_another_device(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of one process hand each other the object itself."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    other = DeviceMemory(open_device(default_device().info.label))  # with a pool of its own
    total = tasks.RunningSum(np.empty((30, 40), np.float32), 0)
    for turn in range(4):
        monkeypatch.setattr(tasks, "worker_memory", lambda own=(memory, other)[turn % 2]: own)
        total.add(a, b, SINGLE)
    assert total._on_device is not None
    assert total._on_device.memory is other
    assert close(total.values(), 4 * a.chunk, b.chunk, 2.0**-16)
    assert (memory.sum_bytes, other.sum_bytes) == (0, 0)


def test_threads_that_want_a_chunk_wait_for_the_one_that_loads_it(
    memory: DeviceMemory, loads: list[int], monkeypatch: pytest.MonkeyPatch
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
    assert len(loads) == 2
    assert len(found) == 4
    assert all(close(each, a.chunk, b.chunk, 2.0**-17) for each in found)


def test_calls_that_need_memory_get_what_no_product_reads(memory: DeviceMemory, loads: list[int]) -> None:
    """Such as products in tiles, which may take most of the device's memory."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    memory.added(None, None, (30, 40), a, b, SINGLE)
    in_use = memory._entry(a.chunk)
    assert memory.device.pool.release()
    assert list(memory._chunks.values()) == [in_use]
    assert not memory.let_go
    assert memory.device.pool.idle_bytes == 0
    in_use.users -= 1
    total = memory.added(None, None, (30, 40), a, b, SINGLE)
    assert total is not None
    assert close(total.array.get(), a.chunk, b.chunk, 2.0**-17)
    assert len(loads) == 3


def test_large_products_are_computed_in_tiles(memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, total = factor((30, 20)), factor((20, 40), 1), np.empty((30, 40), np.float32)
    assert memory.multiplies(a, b, total, SINGLE)
    needed = a.chunk.nbytes + b.chunk.nbytes + total.nbytes
    monkeypatch.setattr(memory, "_most", device_memory.PRODUCTS * needed - 1)
    assert not memory.multiplies(a, b, total, SINGLE)


def test_outside_of_workers_nothing_is_held(loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """There a chunk may be a view of an array that the caller changes."""
    monkeypatch.setattr(device_memory, "current_worker", lambda: None)
    a, left = chunked((40, 30), (16, 7), "float32")
    assert close(matmul(left, left.T).compute(), a, a.T, 2.0**-17)
    assert not loads


@pytest.mark.filterwarnings("ignore")
def test_workers_of_one_process_share_the_memory_of_their_device(
    loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed: Any = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    monkeypatch.setattr(device_memory, "current_worker", devices.current_worker)
    a, left = chunked((60, 40), (20, 10), "float32")
    b, right = chunked((40, 80), (10, 20), "float32", seed=1)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster):
        left, right = left.persist(), right.persist()
        assert close(matmul(left, right).compute(), a, b, 2.0**-17)
        assert 0 < len(loads) <= 2 * 28  # a chunk that moved to the other worker may be another object there
        assert close(matmul(left, right, split_k=2).compute(), a, b, 2.0**-17)
