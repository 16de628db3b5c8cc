"""Streams of CUDA: their handles, and whether they are being captured."""

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ...errors import InvalidInput
from ...runtime.cuda.device import Device
from ...runtime.cuda.driver import CAPTURING, check
from ..cuda_arrays.array import UNCAPTURED


class StreamKey(NamedTuple):
    """What scratch memory belongs to: a stream, or a capture of it, whose number tells it from all others."""

    handle: int
    number: int
    capture: int


def stream_key(device: Device, stream: int) -> StreamKey:
    capture = capture_of(device, stream)
    return StreamKey(stream, 0 if capture else stream_number(device, stream), capture)


def stream_number(device: Device, stream: int) -> int:
    """The driver's number of a stream, which no other one ever has; 0 for default streams, and from drivers before CUDA 12.

    A handle does not tell streams apart: on an H100 that of a destroyed stream came again while its last kernel was running. The
    stream must not be in a capture, which the question would end.
    """
    ask = None if stream in UNCAPTURED else device.driver.cuStreamGetId
    if ask is None:
        return 0
    number = ctypes.c_uint64()
    check("asking for the number of a stream", ask(stream, ctypes.byref(number)))
    return number.value


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


def change_watch(device: Device, key: StreamKey, has_scratch: bool) -> Callable[[], bool]:
    """A function that tells in little time whether a stream that was in no capture is in one, or not the same stream any more.

    The latter counts only for a call that `has_scratch`: others may run on any stream with the handle. It is not asked in a
    capture.
    """
    status, number = ctypes.c_int(), ctypes.c_uint64()
    handle, library = ctypes.c_void_p(key.handle), device.driver.library
    ask = partial(library["cuStreamIsCapturing"], handle, ctypes.byref(status))
    if not has_scratch or not key.number:
        return lambda: bool(ask() or status.value)
    ask_number, own = partial(library["cuStreamGetId"], handle, ctypes.byref(number)), key.number
    return lambda: bool(ask() or status.value or ask_number() or number.value != own)


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
