"""Chunks that stay on a device between tasks: values of products, what is loaded and what is dropped."""

import gc
import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

dask: Any = pytest.importorskip("dask", reason="Dask is not installed")

from dask_cases import PRODUCTS, chunked  # noqa: E402
from dask_factors import SINGLE, close, factor  # noqa: E402

from tilewright.dask import device_memory, devices, matmul  # noqa: E402
from tilewright.dask.device_memory import DeviceMemory  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")


@pytest.mark.parametrize("way", [{}, {"split_k": 3}, {"memory": "1MB"}], ids=str)
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products(case: Any, way: dict[str, Any], chunk_memory: DeviceMemory) -> None:
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
    assert chunk_memory.sum_bytes == 0


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16, "complex64"], ids=str)
def test_floats(dtype: Any, chunk_loads: list[int]) -> None:
    a, left = chunked((40, 30), (16, 7), dtype)
    b, right = chunked((30, 50), (11, 20), dtype, seed=1)
    product = matmul(left, right.T.T)
    loss = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(np.dtype(dtype).name, 2.0**-17)
    assert close(product.compute(), a, b, loss)
    assert chunk_loads


@pytest.mark.parametrize(("dtype", "other"), [("int8", "int8"), ("bool", "bool"), ("float32", "float64")])
def test_other_types_are_multiplied_as_ever(dtype: str, other: str, chunk_loads: list[int]) -> None:
    a, left = chunked((20, 30), (16, 7), dtype)
    b, right = chunked((30, 25), (11, 20), other, seed=1)
    found = matmul(left, right).compute()
    assert np.array_equal(found, a.astype(found.dtype) @ b.astype(found.dtype)) or close(found, a, b, 2.0**-40)
    assert not chunk_loads


@pytest.mark.parametrize("order", ["C", "F"])
def test_each_chunk_is_loaded_once(order: Any, chunk_loads: list[int]) -> None:
    a, left = chunked((60, 40), (20, 10), "float32")
    b, right = chunked((40, 80), (10, 20), "float32", seed=1)
    left, right = (each.map_blocks(np.array, order=order).persist() for each in (left, right))
    product = matmul(left, right)
    first = product.compute(scheduler="threads", num_workers=4)
    assert close(first, a, b, 2.0**-17)
    assert sorted(chunk_loads) == [20 * 10 * 4] * (12 + 16)
    assert np.array_equal(product.compute(scheduler="sync"), first)
    assert len(chunk_loads) == 28


def test_a_chunk_that_is_gone_is_dropped(chunk_memory: DeviceMemory, chunk_loads: list[int]) -> None:
    a, b = factor((30, 20)), factor((20, 40), 1)
    chunk_memory.added(None, None, (30, 40), a, b, SINGLE)
    assert len(chunk_memory._chunks) == 2
    del a
    assert len(chunk_memory._chunks) == 1
    for seed in range(20):  # some get the address of an earlier one
        a = factor((30, 20), seed)
        total = chunk_memory.added(None, None, (30, 40), a, b, SINGLE)
        assert total is not None
        assert close(total.array.get(), a.chunk, b.chunk, 2.0**-17)
    assert len(chunk_loads) == 22


def test_a_chunk_that_nobody_uses_is_dropped_later(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_memory, "EXPIRES_S", 0.05)
    a, b = factor((30, 20)), factor((20, 40), 1)
    chunk_memory.added(None, None, (30, 40), a, b, SINGLE)
    chunk_memory._entry(a.chunk)  # a product that takes long
    until = time.monotonic() + 30
    while len(chunk_memory._chunks) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert [each.known() is a.chunk for each in chunk_memory._chunks.values()] == [True]
    del a
    while chunk_memory._watched and time.monotonic() < until:
        time.sleep(0.01)
    assert not chunk_memory._watched


def test_little_room_changes_no_bits(
    chunk_memory: DeviceMemory, chunk_loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks are dropped and loaded again, and sums go to the host after each product."""
    _, left = chunked((60, 40), (20, 10), "float32")
    _, right = chunked((40, 80), (10, 20), "float32", seed=1)
    left, right = left.persist(), right.persist()
    product = matmul(left, right)
    wanted = product.compute(scheduler="sync")
    for room in (20 * 10 * 4 * 5, 1):
        chunk_memory.drop_idle()
        chunk_loads.clear()
        monkeypatch.setattr(chunk_memory, "_most", room)
        monkeypatch.setattr(DeviceMemory, "multiplies", lambda *given: True)
        assert np.array_equal(product.compute(scheduler="threads", num_workers=3), wanted)
        assert len(chunk_loads) > 28


def test_calls_that_need_memory_get_what_no_product_reads(chunk_memory: DeviceMemory, chunk_loads: list[int]) -> None:
    """Such as products in tiles, which may take most of the device's memory."""
    a, b = factor((30, 20)), factor((20, 40), 1)
    chunk_memory.added(None, None, (30, 40), a, b, SINGLE)
    in_use = chunk_memory._entry(a.chunk)
    assert chunk_memory.device.pool.release()
    assert list(chunk_memory._chunks.values()) == [in_use]
    assert not chunk_memory.let_go
    assert chunk_memory.device.pool.idle_bytes == 0
    in_use.users -= 1
    total = chunk_memory.added(None, None, (30, 40), a, b, SINGLE)
    assert total is not None
    assert close(total.array.get(), a.chunk, b.chunk, 2.0**-17)
    assert len(chunk_loads) == 3


def test_large_products_are_computed_in_tiles(chunk_memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, total = factor((30, 20)), factor((20, 40), 1), np.empty((30, 40), np.float32)
    assert chunk_memory.multiplies(a, b, total, SINGLE)
    needed = a.chunk.nbytes + b.chunk.nbytes + total.nbytes
    monkeypatch.setattr(chunk_memory, "_most", device_memory.PRODUCTS * needed - 1)
    assert not chunk_memory.multiplies(a, b, total, SINGLE)


def test_outside_of_workers_nothing_is_held(chunk_loads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """There a chunk may be a view of an array that the caller changes."""
    monkeypatch.setattr(device_memory, "current_worker", lambda: None)
    a, left = chunked((40, 30), (16, 7), "float32")
    assert close(matmul(left, left.T).compute(), a, a.T, 2.0**-17)
    assert not chunk_loads


@pytest.mark.filterwarnings("ignore")
def test_workers_of_one_process_share_the_memory_of_their_device(
    chunk_loads: list[int], monkeypatch: pytest.MonkeyPatch
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
        assert 0 < len(chunk_loads) <= 2 * 28  # a chunk that moved to the other worker may be another object there
        assert close(matmul(left, right, split_k=2).compute(), a, b, 2.0**-17)
