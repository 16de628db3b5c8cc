"""Pinned arrays on NVIDIA GPUs: the same results, by copies of the device alone, while threads pin and let go."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tilewright import gemm, list_devices, matmul, pinned, transpose
from tilewright.runtime.opencl import conveyor, staging
from tilewright.runtime.opencl.conveyor import Conveyor
from tilewright.runtime.opencl.device import Device

LIMIT = 200_000_000  # bytes: tens of tiles of the products below
LIMITS: list[dict[str, Any]] = [{}, {"max_device_bytes": LIMIT}]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread may copy for the device."""

    def refuse(*given: Any) -> None:
        raise AssertionError("a copy went through pinned pieces")

    monkeypatch.setattr(conveyor, "_copy", refuse)
    monkeypatch.setattr(Conveyor, "_new_piece", refuse)
    monkeypatch.setattr(staging, "share", refuse)


def values(rows: int, columns: int, dtype: str, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal((rows, columns), np.float32) * 4).astype(dtype)


def close(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    bound = 1e-3 if found.dtype == np.float16 else 1e-5
    return bool(np.abs(found - wanted).max() < bound * np.abs(wanted).max())


@pytest.mark.parametrize("limits", LIMITS, ids=["one piece", "tiles"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_whole_arrays_are_copied_by_the_gpu_alone(
    dtype: str, limits: dict[str, Any], nvidia: Device, alone: None
) -> None:
    a, b, c = values(4096, 3072, dtype, 1), values(3072, 5120, dtype, 2), values(4096, 5120, dtype, 3)
    out, across = np.full((4096, 5120), np.nan, dtype), np.zeros((3072, 4096), dtype)
    where: dict[str, Any] = {"device": nvidia.info.label, **limits}
    with pinned(a, b, c, out, across, device=nvidia.info.label) as held:
        assert held.nbytes == sum(each.nbytes for each in (a, b, c, out, across))
        for _ in range(2):
            assert matmul(a, b, out, **where) is out
            assert close(out[::50], a[::50], b)
            out.fill(np.nan)
        gemm(a, b, c, beta=1, out=out, **where)
        wanted = a[::50].astype(np.float64) @ b + c[::50]
        assert np.abs(out[::50] - wanted).max() < (2e-3 if dtype == "float16" else 1e-5) * np.abs(wanted).max()
        transpose(a, across, **where)
        assert np.array_equal(across, a.T)


@pytest.mark.parametrize("limits", LIMITS, ids=["one piece", "tiles"])
def test_views_with_odd_sides(limits: dict[str, Any], nvidia: Device) -> None:
    a, b = values(3001, 2777, "float32", 1), values(2777, 2903, "float32", 2)
    out = np.zeros((3001, 2903), np.float32)
    where: dict[str, Any] = {"device": nvidia.info.label, **limits}
    with pinned(a, b, out, device=nvidia.info.label):
        for rows, inner, columns in (
            (slice(None), slice(None), slice(None)),
            (slice(7, 2000), slice(3, 1500), slice(11, 2000)),
            (slice(None, None, 2), slice(0, 999), slice(1, 2902)),
            (slice(0, 3000), slice(None), slice(None, None, 3)),
            (slice(None, None, -1), slice(5, 2000), slice(0, 700)),
        ):
            left, right, target = a[rows, inner], b[inner, columns], out[rows, columns]
            out.fill(7)
            assert matmul(left, right, target, **where) is target
            assert close(target, left, right)
            beside = np.ones(out.shape, bool)
            beside[rows, columns] = False
            assert (out[beside] == 7).all(), "elements beside the view were written"


@pytest.fixture
def pinning(nvidia: Device) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Two matrices that threads pin and let go of, again and again."""
    a, b = values(2500, 2700, "float32", 1), values(2700, 2600, "float32", 2)
    ended = threading.Event()

    def pin() -> None:
        while not ended.wait(0.002):
            with pinned(a, b, device=nvidia.info.label):
                ended.wait(0.003)

    threads = [threading.Thread(target=pin) for _ in range(2)]
    for thread in threads:
        thread.start()
    yield a, b
    ended.set()
    for thread in threads:
        thread.join()


def test_threads_that_pin_and_let_go_beside_products(nvidia: Device, pinning: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pinning
    for number in range(60):
        found = matmul(a, b, device=nvidia.info.label, **LIMITS[number % 2])
        assert close(found[::100], a[::100], b)


def test_two_gpus_copy_by_themselves(nvidia: Device, alone: None) -> None:
    gpus = [number for number, info in enumerate(list_devices()) if "nvidia" in info.features][:2]
    if len(gpus) < 2:
        pytest.skip("fewer than two NVIDIA GPUs are here")
    a, b, out = values(8192, 4096, "float32", 1), values(4096, 8192, "float32", 2), np.zeros((8192, 8192), np.float32)
    with pinned(a, b, out, device=gpus):
        matmul(a, b, out, device=gpus, max_device_bytes="300MB")
    assert close(out[::100], a[::100], b)
