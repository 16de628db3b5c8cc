"""Products of NumPy arrays that are computed in tiles though nobody asked for that, since their copies are long."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiled_calls
from separate import close

from tilewright import gemm, matmul
from tilewright.library.engine import default_device
from tilewright.library.streamed import calls, launches, limits, overlap, running, worker
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

pytestmark = pytest.mark.usefixtures("limits")
random = tiled_calls.random


@pytest.fixture
def tiled(device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was computed in tiles, with all plain products of a device that pretends to have memory of its own being long."""
    found: list[str] = []
    run = running.run_in_tiles

    def noted(operation: Any, devices: Any, given: Any, result: Any, out: Any, what: str) -> None:
        found.append(f"{operation.m}x{operation.n}x{operation.k}")
        run(operation, devices, given, result, out, what)

    vars(default_device(device.info.label).per_thread).clear()  # ready calls of tests before
    tiled_calls.pretend("separate", monkeypatch)
    monkeypatch.setattr(overlap, "THREADS", overlap.LEAST_THREADS)
    monkeypatch.setattr(limits, "OVERLAPPED_BYTES", 0)
    monkeypatch.setattr(overlap, "hides_copies", lambda *given: True)
    monkeypatch.setattr(calls, "run_in_tiles", noted)
    yield found
    vars(default_device(device.info.label).per_thread).clear()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_the_same_call_gives_the_product(dtype: str, tiled: list[str]) -> None:
    a, b = random(300, 200, dtype=dtype), random(200, 170, dtype=dtype)
    for _ in range(2):
        assert close(matmul(a, b), a, b)
    out = np.full((300, 170), np.nan, dtype)
    assert matmul(a, b, out) is out
    assert close(out, a, b)
    assert matmul(a, b, (out,)) is out
    assert len(tiled) == 4


def test_the_next_call_finds_the_buffers_unless_there_are_limits(
    tiled: list[str], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    allocate = Device.allocate

    def noted(self: Device, nbytes: int, tries: int = 3) -> Any:
        made.append(nbytes)
        return allocate(self, nbytes, tries)

    monkeypatch.setattr(Device, "allocate", noted)
    pool = default_device(device.info.label).pool
    pool.release()
    a, b = random(300, 200), random(200, 170)
    assert close(matmul(a, b), a, b)
    assert pool.idle_bytes > a.nbytes + b.nbytes
    made.clear()
    assert close(matmul(2 * a, b), 2 * a, b)
    assert not made
    assert close(matmul(a, b, device=device.info.label, max_device_bytes="3MB"), a, b)
    assert made
    assert pool.idle_bytes == 0


def test_buffers_of_a_call_that_failed_are_not_used_again(
    tiled: list[str], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that failed may still be at work in them."""
    pool = default_device(device.info.label).pool
    pool.release()
    a, b = random(300, 200), random(200, 170)

    def fails(*given: Any) -> None:
        raise RuntimeError("no launch")

    with monkeypatch.context() as patch:
        patch.setattr(launches.Launches, "start", fails)
        with pytest.raises(RuntimeError, match="no launch"):
            matmul(a, b)
    assert pool.idle_bytes == 0
    assert close(matmul(a, b), a, b)


def test_what_others_keep_on_the_device_stays_unless_its_room_is_needed(
    tiled: list[str], device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def holder() -> bool:
        asked.append("to give back")
        return False

    pool = default_device(device.info.label).pool
    monkeypatch.setattr(pool, "holders", [*pool.holders, holder])
    a, b = random(300, 200), random(200, 170)
    assert close(matmul(a, b), a, b)
    assert not asked
    for given in ({"max_device_bytes": "3MB"}, {"max_host_bytes": "30MB"}):
        assert close(matmul(a, b, **given), a, b)  # type: ignore[call-overload]
        assert asked
        asked.clear()
    monkeypatch.setattr(running, "ROOM_SHARE", 2**50)
    assert close(matmul(a, b), a, b)
    assert asked
    assert len(tiled) == 4


@pytest.mark.parametrize(("trans_a", "trans_b"), ["NN", "NT", "TN", "CC"])
def test_gemm_with_an_epilogue(trans_a: Any, trans_b: Any, tiled: list[str]) -> None:
    a, b, bias = random(150, 90), random(90, 130), random(130)
    left, right = (np.ascontiguousarray(each.T) if way != "N" else each for each, way in ((a, trans_a), (b, trans_b)))
    found = gemm(left, right, alpha=2, trans_a=trans_a, trans_b=trans_b, bias=bias, activation="relu")
    assert np.allclose(found, np.maximum(2 * (a @ b) + bias, 0), 1e-4, 1e-3)
    assert np.array_equal(gemm(left, right, trans_a=trans_a, trans_b=trans_b, alpha=0), np.zeros((150, 130)))
    assert tiled == ["150x130x90", "150x130x0"]


SQUARE = random(120, 120)
IN_ONE_PIECE: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "its own transpose": lambda: (matmul(SQUARE, SQUARE.T), SQUARE @ SQUARE.T),
    "a stack": lambda: (matmul(SQUARE[None], SQUARE[None]), (SQUARE @ SQUARE)[None]),
    "a vector": lambda: (matmul(SQUARE, SQUARE[0].copy()), SQUARE @ SQUARE[0]),
    "other types": lambda: (matmul(SQUARE, random(120, 120, dtype="int32") * 0), SQUARE * 0),
    "an added matrix": lambda: (gemm(SQUARE, SQUARE.copy(), SQUARE, beta=1), SQUARE @ SQUARE + SQUARE),
    "axes": lambda: (matmul(SQUARE, SQUARE.copy(), axes=[(1, 0), (0, 1), (0, 1)]), SQUARE.T @ SQUARE),
}


@pytest.mark.parametrize("name", IN_ONE_PIECE)
def test_what_is_computed_in_one_piece(name: str, tiled: list[str]) -> None:
    found, wanted = IN_ONE_PIECE[name]()
    assert np.allclose(found, wanted, 1e-4, 1e-3)
    assert not tiled


def test_an_out_that_is_an_operand_is_computed_in_one_piece(tiled: list[str]) -> None:
    a, b = SQUARE.copy(), random(120, 120)
    wanted = a @ b
    assert matmul(a, b, a) is a
    assert np.allclose(a, wanted, 1e-4, 1e-3)
    assert not tiled


def test_wrong_sides_are_told_as_ever(tiled: list[str]) -> None:
    with pytest.raises(ValueError, match="120"):
        matmul(SQUARE, random(119, 120))
    assert not tiled


def test_a_bias_that_lies_in_out_is_read_before_it_is_written(tiled: list[str]) -> None:
    a, b, out = random(90, 60), random(60, 400), random(90, 400)
    wanted = a @ b + out[0]
    assert gemm(a, b, bias=out[0], out=out) is out
    assert np.allclose(out, wanted, 1e-4, 1e-3)
    out[0] = 5
    gemm(a, b, bias=out[0], out=out, max_device_bytes=120_000)
    assert np.allclose(out, a @ b + 5, 1e-4, 1e-3)
    assert len(tiled) == 2


def test_views_of_files_stay_in_one_piece_and_get_no_journal(tmp_path: Path, tiled: list[str]) -> None:
    a, b = random(120, 100), random(100, 90)
    out = np.asarray(tiled_calls.mapped(str(tmp_path / "out"), np.zeros((120, 90), np.float32)))
    matmul(a, b, out)
    assert close(out, a, b)
    matmul(np.asarray(tiled_calls.mapped(str(tmp_path / "a"), a)), b)
    assert not tiled
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "out"]


def test_few_processors_copy_first(tiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "THREADS", overlap.LEAST_THREADS - 1)
    matmul(SQUARE, random(120, 120))
    assert not tiled


def test_calls_at_a_time_each_make_kernels_once(tiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """To make the texts of kernels takes 0.1 s of Python, for which all threads wait."""
    made: list[int] = []
    both = threading.Barrier(2)

    class Counted(LoadedPlan):
        def __init__(self, plan: Any, device: Any) -> None:
            made.append(1)
            super().__init__(plan, device)

    class Together(launches.Launches):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            both.wait(30)  # no call has ended, and given its kernels back, before each has some

    monkeypatch.setattr(launches, "LoadedPlan", Counted)
    monkeypatch.setattr(worker, "Launches", Together)
    cases = [(random(310, 210), random(210, 170)) for _ in range(2)]
    counts = []
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            for (a, b), found in zip(cases, pool.map(lambda case: matmul(*case), cases), strict=True):
                assert close(found, a, b)
        counts.append(len(made))
    assert counts[0] >= 2
    assert counts[2] == counts[1]  # both may have planned in the first round, so that one had other plans in the second
