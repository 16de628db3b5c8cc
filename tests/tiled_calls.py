"""Calls in tiles for tests: where their tiles lie, and operands that make many of them."""

import numpy as np
import pytest

from tilewright.library.streamed import calls, device_memory, running
from tilewright.runtime.opencl import broadcast

RNG = np.random.default_rng(71)
KINDS = ("shared", "separate")


def pretend(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that have memory of their own, or not; pieces and slabs that are small, so that tiles have several."""
    if kind == "separate":
        for module in (calls, running):
            monkeypatch.setattr(module, "shares_memory", lambda device: False)
        monkeypatch.setattr(device_memory, "PIECE_BYTES", 8192)
        monkeypatch.setattr(device_memory, "PIECES", (6, 4))
        monkeypatch.setattr(device_memory, "LEAST_PIECE", 4096)
        monkeypatch.setattr(device_memory, "LEAST_SLAB", 6000)
        monkeypatch.setattr(device_memory, "SLAB_BYTES", 6000)
        monkeypatch.setattr(broadcast, "CHUNK_BYTES", 16_384)
        monkeypatch.setattr(broadcast, "PIECE_BYTES", 8192)


def random(*shape: int, dtype: str = "float32") -> np.ndarray:
    found = RNG.standard_normal(shape)
    kind = np.dtype(dtype)
    if kind.kind in "iub":
        return RNG.integers(0, 2 if kind.kind == "b" else 100, shape).astype(kind)
    if kind.kind == "c":
        found = found + 1j * RNG.standard_normal(shape)
    return found.astype(kind)


def mapped(path: str, values: np.ndarray, order: str = "C") -> np.memmap:
    """A new file that holds some values."""
    made: np.memmap = np.memmap(path, values.dtype, "w+", shape=values.shape, order=order)  # type: ignore[call-overload]
    made[...] = values
    made.flush()
    return made
