"""`tilewright.dask` on workers of their own processes: results, a killed worker, memory, names of devices."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="Dask is not installed")
distributed: Any = pytest.importorskip("distributed", reason="Dask's distributed is not installed")

import dask.array as da  # noqa: E402
from dask_cases import Files, outer, wave  # noqa: E402

from tilewright.dask import devices, matmul, plan, schedule, transpose  # noqa: E402
from tilewright.library.products import gemm  # noqa: E402

# A killed worker's connections end in other tasks; what distributed logs and leaves open then is its own.
pytestmark = [pytest.mark.usefixtures("one_device"), pytest.mark.filterwarnings("ignore")]
PATIENCE_S = 300


@contextmanager
def two_workers() -> Iterator[Any]:
    """A client of two workers with one thread each, each in a process of its own."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with two_workers() as client:
        yield client


def random_matrices(side: int, chunk: int) -> tuple[da.Array, da.Array]:
    generator = da.random.RandomState(7)
    left, right = (generator.standard_normal((side, side), chunks=chunk).astype(np.float32) for _ in range(2))
    return left, right


def check_close(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    error = np.abs(found.astype(np.float64) - a.astype(np.float64) @ b)
    assert np.all(error <= 2.0**-15 * (np.abs(a) @ np.abs(b)))


@pytest.mark.parametrize("way", [{}, {"split_k": 2}, {"memory": "20MB"}], ids=str)
def test_products_on_two_workers(client: Any, way: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "TASK_BYTES", 1)
    left, right = random_matrices(900, 300)
    a, b = left.compute(), right.compute()
    product = matmul(left, transpose(right), **way)
    check_close(product.compute(), a, b.T)
    here = product.compute(scheduler="sync")
    assert np.array_equal(product.compute(), here)
    held = left.persist(), right.persist()
    check_close(matmul(*held, **way).compute(), a, b)


def test_short_floats_and_one_tile(client: Any) -> None:
    """One tile is computed in two parts of k, one for each worker's thread."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    whole = np.random.default_rng(1).integers(-3, 3, (20, 64)).astype(ml_dtypes.bfloat16)
    array = da.from_array(whole, chunks=(20, 16))
    assert plan(array, array.T).split_k == 2
    assert np.array_equal(
        matmul(array, array.T).compute(), (whole.astype(int) @ whole.T.astype(int)).astype(whole.dtype)
    )


@pytest.mark.parametrize("way", [{}, {"memory": "30MB"}], ids=str)
def test_a_worker_killed_midway_changes_nothing(way: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether Dask starts another worker in its place, or the other one does the rest."""
    monkeypatch.setattr(schedule, "TASK_BYTES", 1)
    left, right = random_matrices(2400, 400)
    expected = left.compute(scheduler="threads"), right.compute(scheduler="threads")
    with two_workers() as client:
        victim = next(iter(client.run(os.getpid).values()))
        future = client.compute(matmul(left, right, **way))
        begin = time.monotonic()
        while not any("tilewright-matmul" in str(key) for keys in client.has_what().values() for key in keys):
            assert time.monotonic() - begin < PATIENCE_S
            assert not future.done(), "it was over before a worker could be killed"
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)
        check_close(future.result(timeout=PATIENCE_S), *expected)


def resident(name: str) -> int:
    """A figure of this process's memory, in bytes: VmRSS, or VmHWM, the most that it was."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


def forget_the_most() -> int:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident("VmRSS")


def warm_up(side: int) -> None:
    """The product of a task, on this worker's device."""
    tile = np.zeros((side, side), np.float32)
    gemm(tile, tile, tile, beta=1, out=tile.copy(), device=devices.worker_device())


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="this system does not tell a process's memory")
def test_a_worker_holds_what_the_plan_says(client: Any, tmp_path: Path) -> None:
    """Operands of 64 MiB each are multiplied in 12.6 MB a worker, tiles go to files."""
    side, chunk = 4096, 1024
    a, b = outer((side, side), chunk, (0.1, 0.2)), outer((side, side), chunk, (0.3, 0.4))
    told = plan(a, b, memory="13MB")
    assert (told.workers, told.threads, told.worker_bytes, told.given_bytes) == (2, 1, 3 * 4 * chunk**2, 0)
    for worker in client.nthreads():  # each compiles its kernels
        client.submit(warm_up, chunk, workers=[worker], pure=False).result()
    before = client.run(forget_the_most)
    files = Files(tmp_path, (side, side))
    da.store(matmul(a, b, memory="13MB"), files, lock=False)
    most = client.run(resident, "VmHWM")
    row = wave((0, side), 0.2).astype(np.float64) @ wave((0, side), 0.3)
    expected = np.multiply.outer(wave((0, side), 0.1).astype(np.float64) * row, wave((0, side), 0.4))
    for begin in range(0, side, chunk):
        assert np.allclose(files.rows(begin, chunk), expected[begin : begin + chunk], rtol=1e-3, atol=0.05)
    slack = 8 * 2**20  # what Python, Dask and the driver allocate meanwhile
    assert {each: most[each] - before[each] <= told.worker_bytes + slack for each in most} == dict.fromkeys(most, True)


def places(dask_worker: Any = None) -> int:
    return devices.place_on_host(dask_worker).number


def test_workers_of_a_host_have_places_of_their_own(client: Any) -> None:
    assert len(set(client.run(places).values())) == 2


def test_a_worker_that_is_gone_leaves_its_place(tmp_path: Path) -> None:
    class Worker:
        local_directory = str(tmp_path / "worker")

    first, second = Worker(), Worker()
    assert [devices.place_on_host(each).number for each in (first, second)] == [0, 1]
    del first
    assert devices.place_on_host(Worker()).number == 0


def set_device(name: str) -> None:
    os.environ["TILEWRIGHT_DEVICE"] = name  # an empty one names none


def test_an_environment_of_a_worker_names_its_device(client: Any) -> None:
    found = client.submit(devices.worker_device, pure=False).result()
    assert found is not None
    assert devices.worker_device() is None  # this is no worker
    client.run(set_device, found)
    assert client.submit(devices.worker_device, pure=False).result() is None
    client.run(set_device, "")
