"""An operand and the result that lie in one place under two names or mappings: in tiles, results would overwrite operands."""

import mmap
import os
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiled_calls import random

from tilewright import gemm, matmul, transpose
from tilewright.errors import InvalidInput
from tilewright.library.streamed import mappings
from tilewright.library.streamed.mappings import span_of
from tilewright.runtime.opencl.device import Device

LIMIT = 300_000
SIDE = 300
SHAPE = (SIDE, SIDE)


def refused(a: Any, out: Any, device: Device) -> None:
    """Neither a product nor a transpose is begun, and nothing is written."""
    where: dict[str, Any] = {"device": device.info.label, "max_device_bytes": LIMIT}
    before = np.array(a[...])
    with pytest.raises(InvalidInput, match="shares memory with a"):
        matmul(a, random(*SHAPE), out, **where)
    with pytest.raises(InvalidInput, match="shares memory with a"):
        transpose(a, out, **where)
    assert np.array_equal(before, a[...])


def mapped(path: Path, shape: tuple[int, ...] = SHAPE) -> np.memmap:
    made: np.memmap = np.memmap(path, np.float32, "r+", shape=shape)
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    random(SIDE, 2 * SIDE).tofile(tmp_path / "numbers")
    return tmp_path / "numbers"


def test_two_mappings_of_one_file_in_any_strides(path: Path, tmp_path: Path, device: Device) -> None:
    os.link(path, tmp_path / "other")
    gaps, reversed_ = mapped(path, (SIDE, 2 * SIDE))[:, ::2], mapped(path)[:, ::-1]
    for one, other in (
        (gaps, mapped(path)),
        (mapped(path), reversed_),
        (gaps, reversed_),
        (gaps, mapped(tmp_path / "other")),
    ):
        refused(one, other, device)
        refused(other, one, device)


def test_a_mapping_of_the_callers_own(path: Path, device: Device) -> None:
    with path.open("r+b") as file:
        own = np.frombuffer(mmap.mmap(file.fileno(), 0), np.float32)[: SIDE * SIDE].reshape(SHAPE)
    refused(own, mapped(path), device)
    refused(mapped(path), own, device)


def test_memory_that_processes_share(device: Device) -> None:
    one = SharedMemory(create=True, size=SIDE * SIDE * 4)
    other = SharedMemory(one.name)
    one.unlink()  # both stay until they are closed
    a, out = (np.ndarray(SHAPE, np.float32, each.buf) for each in (one, other))
    a[...] = 1
    if span_of(a) is not None:
        refused(a, out, device)
    del a, out
    other.close()
    one.close()


def test_each_element_of_c_may_be_its_own_of_out(path: Path, device: Device) -> None:
    c, out = (mapped(path, (SIDE, 2 * SIDE))[:, ::2] for _ in range(2))
    b, expected = random(*SHAPE), np.array(c)
    gemm(b, b, c, beta=1, out=out, device=device.info.label, max_device_bytes=LIMIT)
    assert np.allclose(out, b @ b + expected, atol=1e-3)


def test_parts_of_a_file_that_share_nothing(path: Path, device: Device) -> None:
    one, other = mapped(path, (2 * SIDE, SIDE))[:SIDE], mapped(path, (2 * SIDE, SIDE))[SIDE:, ::-1]
    expected = np.array(one).T
    assert transpose(one, other, device=device.info.label, max_device_bytes=LIMIT) is other
    assert np.array_equal(other, expected)


def test_memmaps_where_the_system_does_not_say(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gaps, rest = mapped(path, (SIDE, 2 * SIDE))[:, ::2], mapped(path, (2 * SIDE, SIDE))[SIDE:]
    usual = span_of(gaps), span_of(rest), span_of(np.ones(3))
    monkeypatch.setattr(mappings, "MAPS", path.with_name("nowhere"))
    told = span_of(gaps), span_of(rest), span_of(np.ones(3))
    assert told[2] is None is usual[2]
    assert told[0] is not None
    assert told[1] is not None
    assert (told[0].first, told[0].last) == (0, (2 * SIDE * SIDE - 1) * 4)
    assert (told[1].first, told[1].last) == (SIDE * SIDE * 4, 2 * SIDE * SIDE * 4)
    assert told[0].overlaps(told[1])
    path.unlink()
    assert span_of(gaps) is None


def test_one_dataset_of_hdf5(tmp_path: Path, device: Device) -> None:
    h5py: Any = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["a"] = random(*SHAPE)
        file["hard"], file["soft"] = file["a"], h5py.SoftLink("/a")
        (tmp_path / "link.h5").symlink_to(tmp_path / "file.h5")
        for name in ("hard", "soft"):
            refused(file["a"], file[name], device)
        with h5py.File(tmp_path / "link.h5", "r+") as other:
            refused(file["a"], other["a"], device)


def test_one_array_of_zarr(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr: Any = pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    one = zarr.create_array("a.zarr", shape=SHAPE, dtype="float32", chunks=(64, 64))
    one[...] = random(*SHAPE)
    (tmp_path / "link.zarr").symlink_to(tmp_path / "a.zarr")
    for name in ("a.zarr", str(tmp_path / "a.zarr"), "link.zarr"):
        refused(one, zarr.open_array(name, mode="r+"), device)
