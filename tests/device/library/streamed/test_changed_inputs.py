"""Operands that change between a call that ended early and the next one: what was computed of the old ones may not stay."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from separate import close
from tiled_calls import random

from tilewright import gemm, matmul, transpose
from tilewright.errors import InvalidInput, StorageFailed
from tilewright.library.streamed.executor import Run
from tilewright.library.streamed.journal import journal_path
from tilewright.runtime.opencl.device import Device

LIMIT = 300_000
SHAPE = (300, 300)
IN_MEMORY = Path("/dev/shm")  # a file system in memory, where there is one


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path
    elif os.access(IN_MEMORY, os.W_OK):
        with TemporaryDirectory(dir=IN_MEMORY) as made:
            yield Path(made)
    else:
        pytest.skip(f"there is no {IN_MEMORY}")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Makes a call that ends after three tiles."""
    stored = Run.stored

    def begin(call: Callable[[], Any]) -> None:
        count: list[int] = []

        def fail(run: Run, worker: Any, tile: Any, check: int) -> None:
            stored(run, worker, tile, check)
            count.append(tile.number)
            if len(count) == 3:
                raise StorageFailed("the disk is full")

        monkeypatch.setattr(Run, "stored", fail)
        with pytest.raises(StorageFailed, match="the disk is full"):
            call()
        monkeypatch.setattr(Run, "stored", stored)

    return begin


def new(path: Path, values: np.ndarray) -> np.memmap:
    """A file whose pages were written through a mapping, and may not be stored yet."""
    made: np.memmap = np.memmap(path, values.dtype, "w+", shape=values.shape)
    made[...] = values
    return made


def test_a_file_that_changes_through_a_mapping(folder: Path, device: Device, begun: Callable[..., None]) -> None:
    """Pages that wait to be stored may change without a new time of the file."""
    a, b, c = (new(folder / name, random(*SHAPE)) for name in "abc")
    out = np.memmap(folder / "out", np.float32, "w+", shape=SHAPE)

    def call() -> Any:
        return gemm(a, b, c, beta=1, out=out, device=device.info.label, max_device_bytes=LIMIT)

    for changed in (a, b, c):
        begun(call)
        changed[7, 3] += 1
        with pytest.raises(InvalidInput, match="is the journal of another product"):
            call()
        journal_path(folder / "out").unlink()
        call()
        assert np.allclose(out, np.asarray(a) @ b + c, atol=1e-3)


def test_an_unchanged_file_goes_on(folder: Path, device: Device, begun: Callable[..., None]) -> None:
    a, b = (new(folder / name, random(*SHAPE)) for name in "ab")
    out = np.memmap(folder / "out", np.float32, "w+", shape=SHAPE)

    def call() -> Any:
        return matmul(
            np.memmap(folder / "a", np.float32, "r", shape=SHAPE),
            b,
            out,
            device=device.info.label,
            max_device_bytes=LIMIT,
        )

    begun(call)
    assert call() is out
    assert close(out, np.asarray(a), np.asarray(b))


def test_an_operand_in_the_file_of_the_result(tmp_path: Path, device: Device, begun: Callable[..., None]) -> None:
    """That file's time says nothing."""
    whole, b = new(tmp_path / "both", random(600, 300)), random(*SHAPE)

    def call() -> Any:
        return matmul(whole[300:], b, whole[:300], device=device.info.label, max_device_bytes=LIMIT)

    begun(call)
    before = whole[310, 5].copy()
    whole[310, 5] += 1
    with pytest.raises(InvalidInput, match="is the journal of another product"):
        call()
    whole[310, 5] = before
    call()
    assert close(np.asarray(whole[:300]), np.asarray(whole[300:]), b)


class Sliced:
    """An array that can only be sliced, and does not say where it is stored."""

    def __init__(self, values: np.ndarray) -> None:
        self._values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, place: Any) -> np.ndarray:
        part: np.ndarray = self._values[place]
        return part


A, B, STACK, STACKS = random(*SHAPE), random(*SHAPE), random(2, *SHAPE), random(2, 2, *SHAPE)
FLAT = random(300 * 200)
OTHERS: dict[str, tuple[Any, Any]] = {  # two products whose operands have the same bytes, of the same shapes
    "transposed": (lambda **to: gemm(A, B, **to), lambda **to: gemm(A, B, trans_a="T", **to)),
    "a view": (lambda **to: matmul(A, B, **to), lambda **to: matmul(A.T, B, **to)),
    "by columns": (
        lambda **to: matmul(FLAT.reshape(300, 200), B[:200], **to),
        lambda **to: matmul(FLAT.reshape(200, 300).T, B[:200], **to),
    ),
    "c": (lambda **to: gemm(A, B, A, beta=1, **to), lambda **to: gemm(A, B, A.T, beta=1, **to)),
    "slices": (lambda **to: gemm(Sliced(A), B, **to), lambda **to: gemm(Sliced(A), B, trans_a="T", **to)),
    "other slices": (lambda **to: matmul(Sliced(A), B, **to), lambda **to: matmul(Sliced(A + 1), B, **to)),
    "a source": (lambda **to: transpose(A, **to), lambda **to: transpose(A.T, **to)),
    "another broadcast": (
        lambda **to: matmul(STACK[:, None], STACKS, **to),
        lambda **to: matmul(STACK[None], STACKS, **to),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_operands_of_the_same_bytes_in_another_place(
    name: str, tmp_path: Path, device: Device, begun: Callable[..., None]
) -> None:
    shape = (2, 2, *SHAPE) if name == "another broadcast" else SHAPE
    out = np.memmap(tmp_path / "out", np.float32, "w+", shape=shape)
    to: dict[str, Any] = {"out": out, "device": device.info.label, "max_device_bytes": LIMIT}
    first, other = OTHERS[name]
    begun(lambda: first(**to))
    with pytest.raises(InvalidInput, match="is the journal of another product"):
        other(**to)
    first(**to)
    result = np.array(out)
    out[...] = 0
    assert np.array_equal(first(**to), result)
    assert not np.array_equal(other(**to), result)


def test_two_writers_by_two_names(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    a, out = random(*SHAPE), np.memmap(tmp_path / "out", np.float32, "w+", shape=SHAPE)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    second = np.memmap(str(tmp_path / "link"), np.float32, "r+", shape=SHAPE)
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    stored = Run.stored
    refused: list[Any] = []

    def then_another(run: Run, worker: Any, tile: Any, check: int) -> None:
        stored(run, worker, tile, check)
        if not refused:
            refused.append(tile)
            with pytest.raises(InvalidInput, match="another call is writing to"):
                matmul(a.T, a, second, **where)

    monkeypatch.setattr(Run, "stored", then_another)
    matmul(a, a, out, **where)
    assert refused
    assert close(out, a, a)
