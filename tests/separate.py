"""Devices that pretend to have memory of their own, and tiny pinned pieces."""

import ml_dtypes
import numpy as np
import pytest

from tilewright.library.memory.host import HostMemory
from tilewright.runtime.opencl import staging
from tilewright.runtime.opencl.adopted import adopt
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.staging import Limits

PIECE = 4096  # bytes: few, so that small matrices have many pieces


def pretend(device: Device, threads: int, monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Small pieces for each thread of the test, on devices that seem to have memory of their own."""
    made = Limits(plain_bytes=256, piece_bytes=PIECE, share_bytes=PIECE, threads=threads)
    begin = HostMemory.__init__

    def separate(self: HostMemory, *given: object) -> None:
        begin(self, *given)  # type: ignore[arg-type]
        self.shares_memory = False

    monkeypatch.setattr(HostMemory, "__init__", separate)
    monkeypatch.setattr(staging, "USUAL", made)
    forget(device)
    return made


def forget(device: Device) -> None:
    """Drop pieces and ready calls, which have the limits and the memory of the test before."""
    for owner in (device, adopt(device.queue)):
        vars(owner.per_thread).clear()


def close(found: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a product is as near to that in float64 or complex128 as its type allows."""
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    coarse = 2.0**-7 if found.dtype == ml_dtypes.bfloat16 else 1e-5
    left, right = a.astype(wide), b.astype(wide)
    return bool((np.abs(found.astype(wide) - left @ right) <= coarse * (np.abs(left) @ np.abs(right)) + 1e-6).all())
