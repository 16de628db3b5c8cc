"""Results in memory of our own, for frameworks that take them by DLPack or by CUDA's array interface."""

import ctypes
from typing import Any

from ...core.types import FROM_ML_DTYPES
from ...errors import InvalidInput
from ...runtime.cuda.device import Device
from ...runtime.cuda.events import follow, forget, recorded
from .array import CudaArray
from .dlpack import CUDA, make_capsule

LEGACY_STREAM = 1  # CU_STREAM_LEGACY; 0 means the same
DEFAULT_STREAMS = (0, LEGACY_STREAM, 2)  # of every GPU; 2 is CU_STREAM_PER_THREAD


class CudaResult:
    """A result that other packages read, by `__dlpack__` or by `__cuda_array_interface__`. It owns its memory."""

    def __init__(self, array: CudaArray, device: Device, stream: int) -> None:
        self._array = array
        self._device = device
        self._stream = stream
        self.shape, self.dtype = array.shape, array.dtype

    def __repr__(self) -> str:
        return f"<CudaResult: {self.shape} {self.dtype} on GPU {self._array.ordinal}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.dtype.kind not in "biufc" or self.dtype.name in FROM_ML_DTYPES:
            raise AttributeError(f"CUDA's array interface has no name for {self.dtype}: use DLPack")
        strides = tuple(stride * self.dtype.itemsize for stride in self._array.strides)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._array.pointer, False),
            "strides": strides,
            "stream": self._stream or LEGACY_STREAM,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._array.ordinal

    def __dlpack__(self, *, stream: int | None = None, copy: bool | None = None, **options: Any) -> Any:
        """A capsule. Work that is enqueued on `stream` afterwards waits for the result; -1 asks for no wait."""
        if copy:
            raise BufferError("no copy is made here: copy the array afterwards")
        if stream != -1:
            order_streams(self._device, self._stream, stream or LEGACY_STREAM)
        return make_capsule(self._array)


def order_streams(device: Device, earlier: int, later: int) -> None:
    """Let work that is enqueued on one stream from now on wait for all that was enqueued on another."""
    if (earlier or LEGACY_STREAM) == (later or LEGACY_STREAM):
        return
    event = recorded(device, earlier)
    try:
        follow(device, later, event)
    finally:
        forget(device, event)


def check_stream(device: Device, stream: int) -> None:
    """InvalidInput for a stream of another GPU."""
    if stream in DEFAULT_STREAMS:
        return
    context = ctypes.c_void_p()
    with device.current() as driver:
        status = driver.cuStreamGetCtx(stream, ctypes.byref(context))
    if status or context.value != device.context:
        raise InvalidInput(f"queue: the stream {stream:#x} is not one of {device.info.label}, where the arrays are")
