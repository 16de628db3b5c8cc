"""What tests of CUDA arrays share: a pretended GPU, and its driver's answers about pointers, streams and captures.

`conftest.py` makes the fixtures known to all tests.
"""

import ctypes
from typing import Any

import numpy as np
import pytest
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice

from tilewright.library import lookup, prepared, products
from tilewright.library.cuda_arrays import frameworks, of_others
from tilewright.library.cuda_arrays.exported import CudaResult
from tilewright.library.memory import choice
from tilewright.library.memory import cuda as cuda_memory
from tilewright.runtime.opencl.device import Device


class PretendedPointers:
    """CUDA's answer to which GPU an address is on."""

    def cuPointerGetAttribute(self, answer: Any, attribute: int, pointer: int) -> int:
        ctypes.cast(answer, ctypes.POINTER(ctypes.c_int))[0] = 0
        return 0

    def cuEventCreate(self, answer: Any, flags: int) -> int:
        answer._obj.value = 1
        return 0

    def cuEventRecord(self, event: int, stream: int) -> int:
        return 0

    def cuEventQuery(self, event: int) -> int:
        return 0

    def cuEventDestroy_v2(self, event: int) -> int:
        return 0


class PretendedStreams:
    """CUDA's answers about streams and contexts: `captures` has the captures' numbers by their streams, `context` is current.
    `numbers` has those of streams whose handle was another one's before."""

    def __init__(self) -> None:
        self.captures: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self.context = 1
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        counting = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))
        self.library = {"cuStreamIsCapturing": kind(self._asked), "cuStreamGetId": counting(self._numbered)}

    def _asked(self, stream: int, status: Any) -> int:
        status[0] = int(stream in self.captures)
        return 0

    def _numbered(self, stream: int, number: Any) -> int:
        assert stream not in self.captures, "CUDA ends the capture"
        number[0] = self.numbers.get(stream, 1000 + stream)
        return 0

    def cuStreamGetId(self, stream: int, number: Any) -> int:
        assert stream not in self.captures, "CUDA ends the capture"
        number._obj.value = self.numbers.get(stream, 1000 + stream)
        return 0

    def cuStreamIsCapturing(self, stream: int, status: Any) -> int:
        status._obj.value = int(stream in self.captures)
        return 0

    def cuStreamGetCaptureInfo_v2(self, stream: int, status: Any, number: Any, *rest: Any) -> int:
        status._obj.value, number._obj.value = int(stream in self.captures), self.captures.get(stream, 0)
        return 0

    def cuStreamGetCtx(self, stream: int, context: Any) -> int:
        context._obj.value = 1
        return 0

    def cuCtxGetCurrent(self, answer: Any) -> int:
        answer._obj.value = self.context
        return 0


@pytest.fixture
def gpu(sharing_device: Device, monkeypatch: pytest.MonkeyPatch) -> PretendedDevice:
    made = PretendedDevice(sharing_device)
    for module in (of_others, cuda_memory):
        monkeypatch.setattr(module, "library_device", lambda ordinal: made)
    monkeypatch.setattr(of_others, "driver_calls", PretendedPointers)
    return made


@pytest.fixture
def framework(gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch) -> PretendedArrays:
    made = PretendedArrays(gpu)
    monkeypatch.setitem(frameworks._found, PretendedArray, made)
    monkeypatch.setattr(choice, "MEMORIES", choice.MEMORIES.copy())
    for module in (lookup, prepared, products):
        monkeypatch.setattr(module, "MEMORIES", choice.MEMORIES)
    return made


@pytest.fixture
def streams(gpu: PretendedDevice) -> PretendedStreams:
    made = PretendedStreams()
    gpu.driver = made  # type: ignore[assignment]
    return made


def values(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal(shape)
    return (found * 5).astype(dtype) if dtype.startswith("int") else found.astype(dtype)


def host(result: CudaResult) -> np.ndarray:
    """A result as a NumPy array over its own memory."""
    described = dict(result.__cuda_array_interface__)
    described.pop("stream")
    holder = type("Holder", (), {"__array_interface__": described, "owner": result})()
    return np.asarray(holder)


def general(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that go the general way from now on."""
    gone: list[str] = []
    own = cuda_memory.CudaMemory.run

    def run(self: Any, *arguments: Any) -> None:
        gone.append("general")
        own(self, *arguments)

    monkeypatch.setattr(cuda_memory.CudaMemory, "run", run)
    return gone
