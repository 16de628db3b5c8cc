"""cuBLASXt as a baseline for products in tiles: it multiplies matrices of the host on GPUs, by tiles of its own.

It has no limit of device memory and no float16. Sides of its tiles are tried, and the fastest is the baseline. It pins the
matrices of each call: without, a product of 31,488 a side took an H200 3.5 times as long. (cuBLAS documentation,
"Using the cuBLASXt API".)
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tilewright.measurement.baselines.cublas import AS_IT_IS, library

ROUTINES = {"float32": ("cublasXtSgemm", ctypes.c_float), "float64": ("cublasXtDgemm", ctypes.c_double)}
TILE_SIDES = (2048, 4096, 8192)  # its default, 1024, is for smaller matrices
PINNED = 1  # cublasXtPinnedMemMode_t


@dataclass(frozen=True)
class Baseline:
    """The fastest way of cuBLASXt: call it, then look at `result`."""

    way: str
    call: Callable[[], None]
    result: np.ndarray
    close: Callable[[], None]  # two handles at a time end in a segmentation fault


def cublas_xt(a: np.ndarray, b: np.ndarray, gpus: int = 1) -> Baseline | None:
    """cuBLASXt for two square matrices by rows, on the first GPUs. None if it is not installed or has no such type."""
    own = library()
    if own is None or a.dtype.name not in ROUTINES or not hasattr(own, "cublasXtCreate"):
        return None
    handle = ctypes.c_void_p()
    _checked("cublasXtCreate", own.cublasXtCreate(ctypes.byref(handle)))
    _checked("cublasXtDeviceSelect", own.cublasXtDeviceSelect(handle, gpus, (ctypes.c_int * gpus)(*range(gpus))))
    result = np.zeros_like(a)
    tried: list[tuple[float, str, Callable[[], None]]] = []
    for side in TILE_SIDES:
        call = _with(own, handle, side, (a, b, result))
        begin = perf_counter()
        call()
        tried.append((perf_counter() - begin, f"tiles of {side}", call))
        print(f"cuBLASXt, {tried[-1][1]}: {tried[-1][0]:.2f} s", flush=True)
    _, way, fastest = min(tried, key=lambda each: each[0])
    return Baseline(way, fastest, result, lambda: _checked("cublasXtDestroy", own.cublasXtDestroy(handle)))


def _with(own: Any, handle: ctypes.c_void_p, side: int, arrays: tuple[np.ndarray, ...]) -> Callable[[], None]:
    """The product with tiles of one side. By columns, as cuBLAS reads them, the matrices are B, A and C transposed."""
    a, b, c = arrays
    name, number = ROUTINES[a.dtype.name]
    one, zero, order = number(1), number(0), ctypes.c_size_t(len(a))
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (b, a, c)]

    def call() -> None:
        _checked("cublasXtSetBlockDim", own.cublasXtSetBlockDim(handle, side))
        _checked("cublasXtSetPinningMemMode", own.cublasXtSetPinningMemMode(handle, PINNED))
        status = getattr(own, name)(
            handle, AS_IT_IS, AS_IT_IS, order, order, order, ctypes.byref(one), pointers[0], order, pointers[1], order,
            ctypes.byref(zero), pointers[2], order,
        )  # fmt: skip
        _checked(name, status)

    return call


def _checked(name: str, status: int) -> None:
    if status:
        raise RuntimeError(f"{name} returned {status}")
