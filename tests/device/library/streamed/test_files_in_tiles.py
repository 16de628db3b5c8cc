"""Products and transposes of memmaps and of arrays that can only be sliced, and what may happen to files meanwhile."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from separate import close
from tiled_calls import KINDS, mapped, pretend, random

from tilewright import gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, StorageFailed, TilewrightError
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.files import OpenFile
from tilewright.library.streamed.journal import journal_path
from tilewright.runtime.opencl.device import Device

LIMIT = 300_000


@pytest.fixture(params=KINDS, autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    pretend(request.param, monkeypatch)
    return str(request.param)


class Sliced:
    """An array with a shape, a dtype, chunks and slices, and nothing else."""

    def __init__(self, values: np.ndarray, chunks: tuple[int, ...]) -> None:
        self._values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype
        self.largest = 0

    def __getitem__(self, index: Any) -> np.ndarray:
        found: np.ndarray = self._values[index].copy()
        self.largest = max(self.largest, found.nbytes)
        return found

    def __setitem__(self, index: Any, values: np.ndarray) -> None:
        self._values[index] = values


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memmaps_of_any_order(order: str, mode: Any, tmp_path: Path, device: Device) -> None:
    a, b = random(203, 251), random(251, 307)
    for name, values in (("a", a), ("b", b)):
        mapped(str(tmp_path / name), values, order)
    left = np.memmap(tmp_path / "a", np.float32, mode, shape=a.shape, order=order)  # type: ignore[call-overload]
    right = np.memmap(tmp_path / "b", np.float32, mode, shape=b.shape, order=order)  # type: ignore[call-overload]
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(203, 307), order=order)  # type: ignore[call-overload]
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    assert matmul(left, right, out, **where) is out
    assert close(out, a, b)
    assert not journal_path(tmp_path / "out").exists()
    turned = np.memmap(tmp_path / "turned", np.float32, "w+", shape=(251, 203))
    assert np.array_equal(transpose(left, turned, **where), a.T)


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a part": lambda array: array[17:117, 31:151],
    "transposed": lambda array: array[17:137, 31:131].T,
    "backwards": lambda array: array[150:50:-1, 31:151],
    "every other row": lambda array: array[0:200:2, 31:151],
    "every other column": lambda array: array[17:117, 10:250:2],
    "an ndarray of it": lambda array: np.asarray(array)[17:117, 31:151],
    "behind a header": lambda array: array[50:150, 100:220],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_of_memmaps(view: str, tmp_path: Path, device: Device) -> None:
    values = random(203, 307)
    np.save(tmp_path / "values.npy", values)
    whole = np.load(tmp_path / "values.npy", mmap_mode="r+")
    b, where = random(120, 90), {"device": device.info.label, "max_device_bytes": 200_000}
    found = matmul(VIEWS[view](whole), b, **where)  # type: ignore[call-overload]
    assert close(found, VIEWS[view](values), b)
    c = random(*VIEWS[view](values).shape)
    out = VIEWS[view](whole)
    assert matmul(c, np.eye(120, dtype=np.float32), out, **where) is out  # type: ignore[call-overload]
    VIEWS[view](values)[...] = c
    assert np.array_equal(whole, values)
    assert np.array_equal(np.load(tmp_path / "values.npy"), values)


@pytest.mark.parametrize("dtype", [">f4", "f8", "i2", "f2"])
def test_files_of_other_types_are_converted(dtype: str, tmp_path: Path, device: Device) -> None:
    a, b = random(150, 90).astype(dtype), random(90, 170).astype(dtype)
    left, right = mapped(str(tmp_path / "a"), a), mapped(str(tmp_path / "b"), b)
    out = np.memmap(tmp_path / "out", ">f8", "w+", shape=(150, 170))
    matmul(left, right, out, dtype="float32", casting="unsafe", device=device.info.label, max_device_bytes=LIMIT)
    assert close(out.astype(np.float32), a, b)


def test_a_stack_of_files(tmp_path: Path, device: Device) -> None:
    a, b = random(3, 80, 70), random(70, 90)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(3, 80, 90))
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": 200_000}
    matmul(mapped(str(tmp_path / "a"), a), b, out, **where)
    assert np.allclose(out, a @ b, atol=1e-3)
    turned = np.memmap(tmp_path / "turned", np.float32, "w+", shape=(3, 70, 80))
    assert np.array_equal(matrix_transpose(mapped(str(tmp_path / "a"), a), turned, **where), a.mT)


def test_arrays_that_can_only_be_sliced(device: Device) -> None:
    a, b, c = random(203, 251), random(251, 307), random(203, 307)
    left, right, added = Sliced(a, (50, 251)), Sliced(b, (64, 64)), Sliced(c, (203, 10))
    out = Sliced(np.zeros((203, 307), np.float32), (50, 50))
    given: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    assert gemm(left, right, added, beta=2, out=out, **given) is out
    assert np.allclose(out[:], a @ b + 2 * c, atol=1e-3)
    assert close(gemm(Sliced(a.T.copy(), (64, 64)), right, trans_a="T", **given), a, b)
    assert np.array_equal(transpose(left, **given), a.T)


def test_slices_of_one_array_by_two_names(device: Device) -> None:
    """h5py makes a new object each time a dataset is asked for."""
    values = random(300, 300)
    one, other = Sliced(values, (50, 50)), Sliced(values, (50, 50))
    b = random(300, 300)
    for each in (one, other):
        each.name = "/dataset"  # type: ignore[attr-defined]
    given: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    with pytest.raises(InvalidInput, match="shares memory with a"):
        matmul(one, b, other, **given)
    wanted = b @ b + values
    gemm(b, b, one, beta=1, out=other, **given)
    assert np.allclose(values, wanted, atol=1e-3)


def test_a_sliced_array_that_is_shorter_than_it_says(device: Device) -> None:
    short = Sliced(random(203, 251), (50, 251))
    short.shape = (210, 251)
    with pytest.raises(StorageFailed, match="shorter than its shape says"):
        matmul(short, random(251, 300), device=device.info.label, max_device_bytes=LIMIT)


def test_a_file_that_is_cut_short(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a = random(300, 300)
    left = mapped(str(tmp_path / "a"), a)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300))
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    os.truncate(tmp_path / "a", 1000)
    with pytest.raises(StorageFailed, match=r"has 1,000 bytes.*ends at 360,000: it was cut short"):
        matmul(left, a, out, **where)
    left = mapped(str(tmp_path / "b"), a)
    read, count = OpenFile.read, []

    def cut(self: OpenFile, into: np.ndarray, offset: int) -> None:
        count.append(offset)
        if len(count) == 3:
            os.truncate(tmp_path / "b", 1000)
        read(self, into, offset)

    monkeypatch.setattr(OpenFile, "read", cut)
    with pytest.raises(StorageFailed, match=r"ends at 1,000 bytes, and a tile needs"):
        matmul(left, a, out, **where)
    monkeypatch.undo()


def test_a_file_that_was_replaced_is_read_through_its_mapping(tmp_path: Path, device: Device) -> None:
    a, b = random(203, 251), random(251, 307)
    left = mapped(str(tmp_path / "a"), a)
    mapped(str(tmp_path / "other"), np.zeros_like(a))
    (tmp_path / "other").rename(tmp_path / "a")
    assert close(matmul(left, b, device=device.info.label, max_device_bytes=LIMIT), a, b)
    (tmp_path / "a").unlink()
    assert close(matmul(left, b, device=device.info.label, max_device_bytes=LIMIT), a, b)


def test_a_full_disk(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random(300, 300), random(300, 300)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300))
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    write, begun = OpenFile._write_some, []

    def full(self: OpenFile, view: memoryview, offset: int) -> int:
        begun.append(offset)
        if len(begun) > 130:
            raise OSError(28, "No space left on device")
        return write(self, view, offset)

    monkeypatch.setattr(OpenFile, "_write_some", full)
    with pytest.raises(StorageFailed, match=r"writing .* No space left on device; make room"):
        matmul(a, b, out, **where)
    monkeypatch.setattr(OpenFile, "_write_some", write)
    done = len(journal_path(tmp_path / "out").read_bytes().splitlines()) - 1
    assert done
    counted = Counted(monkeypatch)
    matmul(a, b, out, **where)
    assert counted.total == counted.tiles - done
    assert close(out, a, b)


LIMITED_FILE = """
import resource, signal, sys
import numpy as np, tilewright
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
a = np.ones((400, 400), np.float32)
out = np.memmap(sys.argv[1], np.float32, "w+", shape=(400, 400))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    tilewright.matmul(a, a, out, max_device_bytes=400_000)
except tilewright.StorageFailed as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="the system has no limit of file sizes")
def test_a_file_that_the_system_does_not_let_grow(tmp_path: Path, kind: str) -> None:
    """A real error of the system: 27 is "File too large"."""
    run = subprocess.run(
        [sys.executable, "-c", LIMITED_FILE, str(tmp_path / "out")], capture_output=True, text=True, check=True
    )
    assert "File too large" in run.stdout


class Counted:
    """How many tiles calls compute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.total = self.tiles = 0
        stored, begin = Run.stored, Run.__init__

        def count(run: Run, worker: Any, tile: Any, check: int) -> None:
            self.total += 1
            self.tiles = worker._plan.tiles
            stored(run, worker, tile, check)

        monkeypatch.setattr(Run, "stored", count)
        monkeypatch.setattr(Run, "__init__", begin)


KILLED = """
import os, signal, sys
import numpy as np, tilewright
from tilewright.library.streamed.executor import Run
folder, kills = sys.argv[1], int(sys.argv[2])
stored, count = Run.stored, []
def then_die(run, worker, tile, check):
    stored(run, worker, tile, check)
    count.append(tile.number)
    if len(count) == kills:
        os.kill(os.getpid(), signal.SIGKILL)
Run.stored = then_die
a, b = (np.memmap(f"{folder}/{name}", np.float32, "r", shape=(400, 400)) for name in "ab")
out = np.memmap(f"{folder}/out", np.float32, "r+", shape=(400, 400))
tilewright.matmul(a, b, out, max_device_bytes=400_000)
print("tiles", len(count))
"""


def test_a_killed_process_loses_only_unfinished_tiles(tmp_path: Path, one_device: Device, kind: str) -> None:
    a, b = random(400, 400), random(400, 400)
    for name, values in (("a", a), ("b", b), ("out", np.full((400, 400), np.nan, np.float32))):
        mapped(str(tmp_path / name), values)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    journal = journal_path(tmp_path / "out")
    known = 0
    for kills in (3, 2):
        ended = subprocess.run([*command, str(kills)], capture_output=True, text=True, check=False)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        lines = journal.read_bytes().splitlines()
        assert known + kills <= len(lines) - 1 <= known + kills + 1
        known = len(lines) - 1
    journal.write_bytes(journal.read_bytes() + b"[7,12")  # a line that was being written
    found = np.memmap(tmp_path / "out", np.float32, "r+", shape=(400, 400))
    found[0, 0] += 1  # somebody changed a tile that was done: it is computed again
    ended = subprocess.run([*command, "-1"], capture_output=True, text=True, check=True)
    total = int(ended.stdout.split()[1])
    whole = np.memmap(tmp_path / "out", np.float32, "r", shape=(400, 400))
    assert close(np.asarray(whole), a, b)
    assert not journal.exists()
    ended = subprocess.run([*command, "-1"], capture_output=True, text=True, check=True)
    assert total == int(ended.stdout.split()[1]) - known + 1


@pytest.fixture
def interrupted(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., np.memmap]]:
    """Makes a product whose call ends after three tiles, as by Ctrl-C."""
    stored = Run.stored
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

    def make(**changed: Any) -> np.memmap:
        count: list[int] = []
        out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300))

        def stop(run: Run, worker: Any, tile: Any, check: int) -> None:
            stored(run, worker, tile, check)
            count.append(tile.number)
            if len(count) == 3:
                signal.raise_signal(signal.SIGINT)
                time.sleep(0.5)

        monkeypatch.setattr(Run, "stored", stop)
        with pytest.raises(KeyboardInterrupt):
            gemm(out=out, device=device.info.label, max_device_bytes=LIMIT, **changed)
        monkeypatch.setattr(Run, "stored", stored)
        return out

    yield make
    signal.signal(signal.SIGINT, usual)
    assert threading.active_count() < 40


def test_after_ctrl_c_the_journal_is_valid(
    interrupted: Callable[..., np.memmap], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = random(300, 300), random(300, 300)
    out = interrupted(a=a, b=b)
    done = len(journal_path(Path(str(out.filename))).read_bytes().splitlines()) - 1
    assert done >= 3
    counted = Counted(monkeypatch)
    matmul(a, b, out, device=device.info.label, max_device_bytes=LIMIT)
    assert counted.total == counted.tiles - done
    assert close(out, a, b)


def test_the_journal_of_another_product_is_refused(interrupted: Callable[..., np.memmap], device: Device) -> None:
    a, b = random(300, 300), random(300, 300)
    out = interrupted(a=a, b=b)
    before = out.copy()
    others: list[dict[str, Any]] = [
        {"a": a + 1, "b": b}, {"a": a, "b": b, "alpha": 2}, {"a": a, "b": b, "max_device_bytes": 2 * LIMIT},
        {"a": a, "b": b, "activation": "relu"}, {"a": a, "b": b, "bias": a[0]},
        {"a": a.astype(float), "b": b, "dtype": "float32"},
    ]  # fmt: skip
    for other in others:
        with pytest.raises(InvalidInput, match=r"is the journal of another product .*make that call again"):
            gemm(**{"out": out, "device": device.info.label, "max_device_bytes": LIMIT, **other})
    with pytest.raises(InvalidInput, match="is the journal of another product"):
        transpose(a, out, device=device.info.label, max_device_bytes=LIMIT)
    assert np.array_equal(out, before)
    matmul(a, b, out, device=device.info.label, max_device_bytes=LIMIT)
    assert close(out, a, b)


def test_a_product_over_c_is_not_resumed(interrupted: Callable[..., np.memmap], tmp_path: Path, device: Device) -> None:
    """What is lost of c cannot be computed again."""
    a, b, c = random(300, 300), random(300, 300), random(300, 300)
    out = mapped(str(tmp_path / "c"), c)
    gemm(a, b, out, beta=1, out=out, device=device.info.label, max_device_bytes=LIMIT)
    assert np.allclose(out, a @ b + c, atol=1e-3)
    again = interrupted(a=a, b=b, c=np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300)), beta=1)
    with pytest.raises(InvalidInput, match="bring back c"):
        gemm(a, b, again, beta=1, out=again, device=device.info.label, max_device_bytes=LIMIT)


def test_a_journal_that_is_no_journal(tmp_path: Path, device: Device) -> None:
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300))
    journal_path(tmp_path / "out").write_text("something else\n")
    with pytest.raises(TilewrightError, match="is no journal"):
        matmul(random(300, 300), random(300, 300), out, device=device.info.label, max_device_bytes=LIMIT)


@pytest.mark.parametrize("number", [-1, 10**9])
def test_a_journal_of_tiles_that_there_are_not(
    number: int, interrupted: Callable[..., np.memmap], device: Device
) -> None:
    a, b = random(300, 300), random(300, 300)
    out = interrupted(a=a, b=b)
    with journal_path(Path(str(out.filename))).open("a") as file:
        file.write(f"[{number},5]\n")
    with pytest.raises(TilewrightError, match="is no journal"):
        matmul(a, b, out, device=device.info.label, max_device_bytes=LIMIT)


def test_two_writers_of_one_output(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random(300, 300), random(300, 300)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(300, 300))
    second = np.memmap(tmp_path / "out", np.float32, "r+", shape=(300, 300))
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    stored = Run.stored
    refused: list[Any] = []

    def then_another(run: Run, worker: Any, tile: Any, check: int) -> None:
        stored(run, worker, tile, check)
        if not refused:
            with pytest.raises(InvalidInput, match="another call is writing to"):
                matmul(b, a, second, **where)
            refused.append(tile)

    monkeypatch.setattr(Run, "stored", then_another)
    matmul(a, b, out, **where)
    assert refused
    assert close(out, a, b)


def test_operands_in_the_file_of_the_result(tmp_path: Path, device: Device) -> None:
    """Two memmaps of one file, which NumPy does not take for one memory."""
    values = random(300, 300)
    first = mapped(str(tmp_path / "both"), values)
    second = np.memmap(tmp_path / "both", np.float32, "r+", shape=(300, 300))
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    b = random(300, 300)
    calls: list[Callable[[], Any]] = [
        lambda: matmul(first, b, second, **where),
        lambda: transpose(first, second, **where),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="shares memory with a"):
            call()
    gemm(b, b, first, beta=1, out=second, **where)
    assert np.allclose(second, b @ b + values, atol=1e-3)
    half = np.memmap(tmp_path / "both", np.float32, "r+", shape=(150, 300))
    matmul(second[150:], b, half, **where)
    assert np.allclose(half, (b @ b + values)[150:] @ b, atol=0.1)


def test_a_product_goes_on_in_the_file_of_its_operand(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each tile that is written changes the time of the file."""
    values, b = random(600, 300), random(300, 300)
    whole = mapped(str(tmp_path / "both"), values)
    stored, count = Run.stored, []

    def fail(run: Run, worker: Any, tile: Any, check: int) -> None:
        stored(run, worker, tile, check)
        count.append(tile.number)
        if len(count) == 3:
            raise StorageFailed("the disk is full")

    monkeypatch.setattr(Run, "stored", fail)
    with pytest.raises(StorageFailed, match="the disk is full"):
        matmul(whole[300:], b, whole[:300], device=device.info.label, max_device_bytes=LIMIT)
    monkeypatch.setattr(Run, "stored", stored)
    counted = Counted(monkeypatch)
    matmul(whole[300:], b, whole[:300], device=device.info.label, max_device_bytes=LIMIT)
    assert counted.total <= counted.tiles - 3
    assert close(np.asarray(whole[:300]), values[300:], b)


def test_reading_falls_back_where_the_system_has_no_calls_with_an_offset(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "preadv")
    monkeypatch.delattr(os, "pwrite")
    a, b = random(203, 251), random(251, 307)
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=(203, 307))
    matmul(
        mapped(str(tmp_path / "a"), a),
        mapped(str(tmp_path / "b"), b),
        out,
        device=device.info.label,
        max_device_bytes=LIMIT,
    )
    assert close(out, a, b)
