"""Products in tiles on an NVIDIA GPU; and on two of one host, of NumPy arrays, PyOpenCL arrays and chunks of Dask arrays."""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from tilewright import blocks, gemm, list_devices, matmul, transpose
from tilewright.errors import LaunchFailed
from tilewright.library.engine import default_device
from tilewright.library.streamed import running
from tilewright.library.streamed.device_memory import SeparateMemory
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.worker import Worker
from tilewright.runtime.opencl.device import Device

LIMIT = 40_000_000  # bytes: some ten tiles of the products below


@pytest.fixture(scope="module")
def gpus() -> tuple[int, int]:
    """The numbers of two NVIDIA GPUs, as `device=` takes them."""
    found = [number for number, info in enumerate(list_devices()) if "nvidia" in info.features]
    if len(found) < 2:
        pytest.skip("fewer than two NVIDIA GPUs are here")
    return found[0], found[1]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[Any, int]:
    """Tiles by the opened devices that stored them: both have the same name."""
    found: dict[Any, int] = {}
    stored = Run.stored

    def count(run: Run, worker: Worker, tile: Any, check: int) -> None:
        found[worker.device] = found.get(worker.device, 0) + 1
        stored(run, worker, tile, check)

    monkeypatch.setattr(Run, "stored", count)
    return found


def values(rows: int, columns: int, dtype: str, seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((rows, columns), np.float32) * 4
    return found.astype(dtype)


def close(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a product is as near to that in float64 as its type allows."""
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    bound = 1e-3 if found.dtype == np.float16 else 1e-5
    return bool(np.abs(found - wanted).max() < bound * np.abs(wanted).max())


def test_long_copies_run_beside_the_product_though_nobody_asked(nvidia: Device, counts: dict[Any, int]) -> None:
    a, b = values(8192, 8192, "float32", 1), values(8192, 8192, "float32", 2)
    found = matmul(a, b, device=nvidia.info.label)
    assert sum(counts.values()) > 1
    rows = [0, 3000, 8191]
    assert close(found[rows], a[rows], b)
    counts.clear()
    small = matmul(a[:512], b, device=nvidia.info.label)
    assert close(small[:3], a[:3], b)
    assert matmul(a, b, b, device=nvidia.info.label) is b  # which later tiles would read
    assert np.abs(b - found).max() < 1e-5 * np.abs(found).max()
    assert not counts


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_tiles_in_two_queues_have_the_bits_of_one_queue(
    dtype: str, nvidia: Device, counts: dict[Any, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of Hopper write addresses into memory of their kernel object, which two tiles at a time must not share."""
    a, b = values(6000, 5000, dtype, 1), values(5000, 7000, dtype, 2)
    where: dict[str, Any] = {"device": nvidia.info.label, "max_device_bytes": LIMIT}
    in_two = [matmul(a, b, **where) for _ in range(3)]
    begin = SeparateMemory.__init__

    def with_one(self: SeparateMemory, *given: Any) -> None:
        begin(self, *given)
        self.compute = self.compute[:1]

    monkeypatch.setattr(SeparateMemory, "__init__", with_one)
    in_one = matmul(a, b, **where)
    assert all(np.array_equal(in_one, each) for each in in_two)
    assert close(in_one, a, b)
    assert sum(counts.values()) > 4 * 8  # of four products


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_two_gpus_share_a_product_in_tiles(dtype: str, gpus: tuple[int, int], counts: dict[Any, int]) -> None:
    a, b = values(5000, 3000, dtype, 1), values(3000, 4100, dtype, 2)
    found = matmul(a, b, device=list(gpus), max_device_bytes=LIMIT)
    assert set(counts) == {default_device(each) for each in gpus}
    exact = dtype == "int8"
    assert np.array_equal(found, a.astype(np.float64) @ b.astype(np.float64)) if exact else close(found, a, b)
    alone = matmul(a, b, device=gpus[1], max_device_bytes=LIMIT)
    assert np.array_equal(found, alone) if exact else close(alone, a, b)


def test_all_names_every_gpu(gpus: tuple[int, int], counts: dict[Any, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """How many of them such a small product would take is a matter of planning."""
    monkeypatch.setattr(running, "quickest", lambda operation, devices, *rest: devices)
    a, b = values(4000, 3000, "float32", 1), values(3000, 4100, "float32", 2)
    assert close(matmul(a, b, device="all", max_device_bytes=LIMIT), a, b)
    assert {default_device(each) for each in gpus} <= set(counts)
    assert np.array_equal(transpose(a, device="all", max_device_bytes=LIMIT), a.T)


def test_files_with_sums_in_panels(gpus: tuple[int, int], tmp_path: Path) -> None:
    a, b = values(900, 40_000, "float16", 1), values(40_000, 700, "float16", 2)
    out = np.memmap(tmp_path / "out", np.float16, "w+", shape=(900, 700))
    gemm(a, b, alpha=0.25, out=out, device=list(gpus), max_device_bytes=3_000_000)
    assert close(out, (a.astype(np.float32) * 0.25), b)


@pytest.mark.parametrize("after", [0, 3])
def test_the_other_gpu_does_the_tiles_of_one_that_fails(
    after: int, gpus: tuple[int, int], counts: dict[Any, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, launch, steps = default_device(gpus[0]), Worker._launch, []

    def fails(self: Worker, step: Any) -> Any:
        if self.device is lost:
            steps.append(step)
            if len(steps) > after:
                raise LaunchFailed("the device is gone", -9999)
        else:
            time.sleep(0.01)
        return launch(self, step)

    monkeypatch.setattr(Worker, "_launch", fails)
    a, b = values(5000, 3000, "float32", 1), values(3000, 4100, "float32", 2)
    with pytest.warns(RuntimeWarning, match="the other devices do the rest: the device is gone"):
        found = matmul(a, b, device=list(gpus), max_device_bytes=LIMIT)
    assert close(found, a, b)
    assert counts.get(lost, 0) <= after


@pytest.mark.parametrize("home", [0, 1])
def test_blocks_of_two_contexts(home: int, gpus: tuple[int, int]) -> None:
    queues = [default_device(each).queue for each in gpus]
    whole = [values(rows, 700, "float32", rows) for rows in (300, 129)]
    b = values(700, 5000, "float32", 5)
    a = [cl.array.to_device(queue, each) for queue, each in zip(queues, whole, strict=True)]
    one = cl.array.to_device(queues[home], b)
    replicas = [cl.array.to_device(queue, b) for queue in queues]
    for right in (one, replicas):
        found = blocks.matmul(a, right)
        assert all(close(got.get(), each, b) for got, each in zip(found, whole, strict=True))
        assert [got.context for got in found] == [each.context for each in a]


@pytest.mark.parametrize("processes", [False, True])
def test_workers_of_dask_have_a_gpu_each(processes: bool, gpus: tuple[int, int]) -> None:
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    import tilewright.dask as products
    from tilewright.dask.devices import worker_device

    a, b = values(2000, 900, "float32", 1), values(900, 1500, "float32", 2)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=processes, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        product = products.matmul(da.from_array(a, chunks=(500, 900)), da.from_array(b, chunks=(900, 500)))
        assert close(product.compute(), a, b)
        tasks = [
            client.submit(worker_device, workers=[each], pure=False) for each in client.scheduler_info()["workers"]
        ]
        assert len({each.result() for each in tasks}) == 2
