"""Products and transposes in tiles of arrays of zarr and h5py, by the slices that these libraries have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from separate import close
from tiled_calls import KINDS, pretend, random

from tilewright import gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput
from tilewright.runtime.opencl.device import Device

LIMIT = 300_000
CHUNKS = (64, 100)
Stored = Callable[[str, np.ndarray], Any]


@pytest.fixture(params=["zarr", "h5py"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Makes an array on disk, in chunks, by its name."""
    library = pytest.importorskip(request.param)
    if request.param == "zarr":

        def make(name: str, values: np.ndarray) -> Any:
            chunks = (1,) * (values.ndim - 2) + CHUNKS
            made = library.create_array(tmp_path / name, shape=values.shape, dtype=values.dtype, chunks=chunks)
            made[...] = values
            return made

        yield make
        return
    with library.File(tmp_path / "all.h5", "w") as file:
        yield lambda name, values: file.create_dataset(
            name, data=values, chunks=(1,) * (values.ndim - 2) + CHUNKS, compression="gzip"
        )


@pytest.fixture(params=KINDS)
def where(request: pytest.FixtureRequest, one_device: Device, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    pretend(request.param, monkeypatch)
    return {"device": one_device.info.label, "max_device_bytes": LIMIT}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16"])
def test_products(dtype: str, stored: Stored, where: dict[str, Any]) -> None:
    a, b = random(300, 250, dtype=dtype), random(250, 310, dtype=dtype)
    left, right = stored("a", a), stored("b", b)
    out = stored("out", np.zeros((300, 310), matmul(a[:1], b).dtype))
    assert matmul(left, right, out, **where) is out
    wanted = matmul(a, b, **where)
    assert np.array_equal(np.asarray(out[...]), wanted)
    assert np.array_equal(matmul(left, b, **where), wanted)
    assert dtype != "float32" or close(wanted, a, b)
    assert np.array_equal(gemm(right, left, trans_a="T", trans_b="T", **where), matmul(b.T, a.T, **where))


def test_transposes(stored: Stored, where: dict[str, Any]) -> None:
    a, stack = random(300, 250), random(3, 120, 150)
    out = stored("out", np.zeros((250, 300), np.float32))
    transpose(stored("a", a), out, **where)
    assert np.array_equal(np.asarray(out[...]), a.T)
    assert np.array_equal(matrix_transpose(stored("stack", stack), **where), np.swapaxes(stack, 1, 2))


def test_a_sum_over_c_and_a_result_over_an_operand(stored: Stored, where: dict[str, Any]) -> None:
    a, b, c = random(300, 250), random(250, 300), random(300, 300)
    left, right, added = stored("a", a), stored("b", b), stored("c", c)
    gemm(left, right, added, alpha=2, beta=-1, out=added, **where)
    assert np.allclose(np.asarray(added[...]), 2 * a @ b - c, atol=1e-3)
    square = stored("square", random(200, 200))
    with pytest.raises(InvalidInput, match="shares memory with a"):
        matmul(square, b[:200, :200], square, **where)
