"""Streams of CUDA: their handles, and whether they are being captured."""

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from ...errors import InvalidInput
from ...runtime.cuda.device import Device
from ...runtime.cuda.driver import CAPTURING, check
from ..cuda_arrays.array import UNCAPTURED


def capture_of(device: Device, stream: int) -> int:
    """The number of the capture that a stream is in; 0 if it is in none."""
    if stream in UNCAPTURED:
        return 0
    status, number = ctypes.c_int(), ctypes.c_uint64()
    what = "asking whether a stream is captured"
    check(what, device.driver.cuStreamIsCapturing(stream, ctypes.byref(status)))
    if status.value != CAPTURING:  # what most calls find: to ask for the number takes twice as long
        return 0
    function = device.driver.cuStreamGetCaptureInfo_v2
    check(what, function(stream, ctypes.byref(status), ctypes.byref(number), None, None, None))
    return number.value if status.value == CAPTURING else 0


def capture_watch(device: Device, stream: int) -> Callable[[], bool]:
    """A function that tells whether a stream is in a capture, or in none that is valid, in little time."""
    status = ctypes.c_int()
    ask = partial(device.driver.library["cuStreamIsCapturing"], ctypes.c_void_p(stream), ctypes.byref(status))
    return lambda: bool(ask() or status.value)


def stream_handle(queue: Any) -> int:
    """The handle of a stream: a number, or an object of PyTorch, CuPy or Numba, or one with `__cuda_stream__`."""
    if isinstance(queue, int) and not isinstance(queue, bool):
        return queue
    if hasattr(queue, "__cuda_stream__"):
        own = queue.__cuda_stream__
        return int((own() if callable(own) else own)[1])
    for attribute in ("cuda_stream", "ptr", "handle"):
        own = getattr(queue, attribute, None)
        if own is not None:
            return int(getattr(own, "value", own) or 0)
    raise InvalidInput(
        f"queue is a {type(queue).__name__}; with CUDA arrays, pass a stream of their framework, or its handle"
    )
