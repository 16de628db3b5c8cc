"""Several devices in one call: unlike ones, slow ones, ones that fail."""

import itertools
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from separate import close
from tiled_calls import KINDS, pretend, random

from tilewright import gemm, list_devices, matmul, transpose
from tilewright.errors import InvalidInput, LaunchFailed, UnknownName
from tilewright.library.engine import default_device
from tilewright.library.streamed import calls
from tilewright.library.streamed.devices import opened
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.worker import Worker
from tilewright.runtime.opencl.broadcast import Broadcast
from tilewright.runtime.opencl.device import Device, open_device

LIMIT = 400_000


@pytest.fixture(params=KINDS, autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    pretend(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def two() -> list[int]:
    """Two devices of different drivers, or the test is skipped."""
    infos = list_devices()
    others = [number for number, info in enumerate(infos) if info.platform != infos[0].platform]
    if not others:
        pytest.skip("there is one driver here")
    return [0, others[0]]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Tiles by the devices that stored them."""
    found: dict[str, int] = {}
    stored = Run.stored

    def count(run: Run, worker: Worker, tile: Any, check: int) -> None:
        found[worker.device.info.label] = found.get(worker.device.info.label, 0) + 1
        stored(run, worker, tile, check)

    monkeypatch.setattr(Run, "stored", count)
    return found


def label(number: int) -> str:
    return default_device(number).info.label


def test_unlike_devices_share_a_product(two: list[int], counts: dict[str, int]) -> None:
    a, b = random(900, 400), random(400, 800)
    found = matmul(a, b, device=two, max_device_bytes=LIMIT)
    assert close(found, a, b)
    assert set(counts) == {label(each) for each in two}
    assert np.array_equal(transpose(a, device=two, max_device_bytes=LIMIT), a.T)
    assert close(matmul(a, b, device=two), a, b)
    assert close(gemm(a, b, device=[label(each) for each in two], progress=False), a, b)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_devices_load_what_passes_by_from_one_copy(
    order: Any, batch: tuple[int, ...], kind: str, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one of them copies the others find, and what stays with a device is its own."""
    asked: list[bool] = []
    ask = Broadcast._ask

    def counted(self: Broadcast, key: Any, elements: np.ndarray) -> Any:
        asked.append(any(each.key == key for each in self._chunks))
        return ask(self, key, elements)

    monkeypatch.setattr(Broadcast, "_ask", counted)
    pair = tuple(open_device(device.info.label) for _ in range(2))  # one driver is enough
    monkeypatch.setattr(calls, "opened", lambda wanted: pair[: len(wanted)])
    a, b = (np.asarray(random(*batch, *sides), order=order) for sides in ((900, 400), (400, 800)))
    limit = "800kB"
    for _ in range(2):
        assert close(matmul(a, b, device=[0, 1], max_device_bytes=limit), a, b)
        b[...] *= 2  # a later call must not find what an earlier one left
    assert any(asked) == (kind == "separate")
    del asked[:]
    assert close(matmul(a, b, device=[0], max_device_bytes=limit), a, b)
    assert close(matmul(a, b.astype(np.float64), device=[0, 1], max_device_bytes=limit), a, b)
    assert not asked, "one device, or arrays that are converted"


@pytest.mark.parametrize("place", [0, 5])
def test_memory_that_cannot_be_pinned_costs_no_device(
    place: int, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What all would have loaded from it each device loads by itself."""
    count, pin = itertools.count(), Broadcast._pin

    def refuse(self: Broadcast, chunk: Any) -> None:
        if next(count) == place:
            time.sleep(0.02)  # others wait for it
            raise cl.MemoryError("create_buffer", cl.status_code.OUT_OF_HOST_MEMORY)
        pin(self, chunk)

    monkeypatch.setattr(Broadcast, "_pin", refuse)
    pair = tuple(open_device(device.info.label) for _ in range(2))
    monkeypatch.setattr(calls, "opened", lambda _: pair)
    a, b = random(900, 400), random(400, 800)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [matmul(a, b, device=[0, 1], max_device_bytes="800kB") for _ in range(2)]
    assert all(close(each, a, b) for each in found)


class Chunk:
    """An array of one chunk, as zarr writes a part of one: read, changed, written."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape, self.dtype, self.chunks = shape, np.dtype(np.float32), shape
        self.values = np.zeros(shape, np.float32)

    def __getitem__(self, index: Any) -> np.ndarray:
        return np.array(self.values[index])

    def __setitem__(self, index: Any, values: np.ndarray) -> None:
        whole = self.values.copy()
        time.sleep(0.005)
        whole[index] = values
        self.values = whole


def test_devices_that_write_parts_of_one_chunk_lose_nothing(two: list[int]) -> None:
    a, b, out = random(600, 300), random(300, 600), Chunk((600, 600))
    matmul(a, b, out, device=two, max_device_bytes=LIMIT)
    assert close(out.values, a, b)


def test_all_devices(counts: dict[str, int]) -> None:
    a, b = random(500, 400), random(400, 300)
    assert close(matmul(a, b, device="all", max_device_bytes=LIMIT), a, b)
    processors = [each for each in opened("all") if each.info.kind == "cpu"]
    assert len(processors) <= 1, "a processor with two drivers would be used twice"


@pytest.mark.parametrize("wrong", [[], [0, 0], ["0", 0]])
def test_lists_that_name_no_devices_or_one_twice(wrong: list[Any]) -> None:
    with pytest.raises(InvalidInput, match=r"names no device|twice"):
        matmul(np.eye(3), np.eye(3), device=wrong)


def test_names_that_do_not_exist() -> None:
    with pytest.raises(UnknownName):
        matmul(np.eye(3), np.eye(3), device=[0, "no such device"])


def slow(monkeypatch: pytest.MonkeyPatch, name: str, seconds: float) -> None:
    """Let every step of one device take longer."""
    complete = Worker._complete

    def late(self: Worker, event: Any, step: Any) -> None:
        if self.device.info.label == name:
            time.sleep(seconds)
        complete(self, event, step)

    monkeypatch.setattr(Worker, "_complete", late)


def test_a_slow_device_gets_fewer_tiles_and_holds_nothing_up(
    two: list[int], counts: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow(monkeypatch, label(two[0]), 0.4)
    slow(monkeypatch, label(two[1]), 0.02)
    last: dict[str, float] = {}
    stored = Run.stored

    def note(run: Run, worker: Worker, tile: Any, check: int) -> None:
        last[worker.device.info.label] = time.perf_counter()
        stored(run, worker, tile, check)

    monkeypatch.setattr(Run, "stored", note)
    a, b = random(1200, 300), random(300, 1200)
    assert close(matmul(a, b, device=two, max_device_bytes=2 * LIMIT), a, b)
    few, many = (counts.get(label(each), 0) for each in two)
    assert few + many > 20
    assert many > 5 * few
    assert last[label(two[0])] - last[label(two[1])] < 1, "the end waited for more than one tile of the slow one"


def failing(monkeypatch: pytest.MonkeyPatch, name: str, after: int, error: Exception) -> None:
    """Let one device fail after some steps."""
    launch, count = Worker._launch, []

    def lost(self: Worker, step: Any) -> Any:
        if self.device.info.label == name:
            count.append(step)
            if len(count) > after:
                raise error
        return launch(self, step)

    monkeypatch.setattr(Worker, "_launch", lost)


@pytest.mark.parametrize("after", [0, 1, 4])
def test_the_tiles_of_a_device_that_fails_are_done_by_the_other(
    after: int, two: list[int], monkeypatch: pytest.MonkeyPatch, counts: dict[str, int]
) -> None:
    a, b = random(900, 400), random(400, 800)
    failing(monkeypatch, label(two[0]), after, LaunchFailed("the device is gone", -9999))
    slow(monkeypatch, label(two[1]), 0.02)
    with pytest.warns(
        RuntimeWarning, match=r"failed after \d+ of \d+ tiles; the other devices do the rest: the device is gone"
    ):
        found = matmul(a, b, device=two, max_device_bytes=LIMIT)
    assert close(found, a, b)
    assert counts.get(label(two[0]), 0) <= after


def test_where_no_device_is_left_an_error_says_so(
    two: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a, b = random(900, 400), random(400, 800)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(900, 800))
    for number in two:
        failing(monkeypatch, label(number), 2, LaunchFailed("the device is gone", -9999))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            LaunchFailed, match=r"no other device is left: \d+ of \d+ tiles are done: the device is gone"
        ) as caught:
            matmul(a, b, out, device=two, max_device_bytes=LIMIT)
    assert caught.value.code == -9999
    monkeypatch.undo()
    assert close(matmul(a, b, out, device=two, max_device_bytes=LIMIT), a, b)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_single_device_that_fails_at_its_last_tiles(
    left: int, monkeypatch: pytest.MonkeyPatch, counts: dict[str, int]
) -> None:
    """Its loader waits then: all tiles are handed out, and one of them might come back."""
    a, b = random(500, 300), random(300, 400)
    matmul(a, b, device=0, max_device_bytes=LIMIT)
    total = counts.pop(label(0))
    monkeypatch.setattr(Worker, "_complete", late_failure(Worker._complete, total - 1 - left))
    with pytest.raises(LaunchFailed, match=rf"no other device is left: \d+ of {total} tiles are done"):
        matmul(a, b, device=0, max_device_bytes=LIMIT)


def late_failure(complete: Any, after: int) -> Any:
    """What completes steps, until it fails after so many, when the loader has had time to ask for more."""
    count: list[Any] = []

    def lost(self: Worker, event: Any, step: Any) -> None:
        count.append(step)
        if len(count) > after:
            time.sleep(0.2)
            raise LaunchFailed("the device is gone", -9999)
        complete(self, event, step)

    return lost


def test_an_error_that_is_no_device_s_ends_the_call(two: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, label(two[0]), 2, ZeroDivisionError("a mistake"))
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        matmul(random(900, 400), random(400, 800), device=two, max_device_bytes=LIMIT)


def test_progress_is_shown(capsys: pytest.CaptureFixture[str], two: list[int]) -> None:
    a, b = random(500, 400), random(400, 300)
    matmul(a, b, device=two, max_device_bytes=LIMIT, progress=True)
    assert "a product" in capsys.readouterr().out
    matmul(a, b, device=two, max_device_bytes=LIMIT)
    assert not capsys.readouterr().out
