"""CUDA's driver library by its C interface, and the meaning of its error codes.

It is called by ctypes: a launch takes 0.6 us of Python so, and nothing must be installed beside NVIDIA's driver.
"""

import ctypes
import sys
from functools import cache
from typing import Any

from ...errors import DevicePoisoned, LaunchFailed, NoDevice, OutOfDeviceMemory

LIBRARIES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")
TOO_MANY_TOGETHER = 720  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
NO_MEMORY = (2,)  # CUDA_ERROR_OUT_OF_MEMORY
POISONED = (700, 702, 710, 714, 715, 716, 717, 718, 719)  # faults of kernels after which the context cannot be used

_HANDLE, _ADDRESS, _INT, _UINT, _SIZE = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t)
_TEXT, _BYTE, _OUT = ctypes.c_char_p, ctypes.c_ubyte, ctypes.c_void_p
# The functions that are used, with the types of their arguments: CUDA Driver API, and the symbols of `cuda.h`.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (_UINT,),
    "cuDriverGetVersion": (_OUT,),
    "cuGetErrorName": (_INT, _OUT),
    "cuGetErrorString": (_INT, _OUT),
    "cuDeviceGet": (_OUT, _INT),
    "cuDeviceGetCount": (_OUT,),
    "cuDeviceGetName": (_OUT, _INT, _INT),
    "cuDeviceGetAttribute": (_OUT, _INT, _INT),
    "cuDeviceTotalMem_v2": (_OUT, _INT),
    "cuDevicePrimaryCtxRetain": (_OUT, _INT),
    "cuCtxGetCurrent": (_OUT,),
    "cuCtxSetCurrent": (_HANDLE,),
    "cuCtxPushCurrent_v2": (_HANDLE,),
    "cuCtxPopCurrent_v2": (_OUT,),
    "cuModuleLoadData": (_OUT, _OUT),
    "cuModuleGetFunction": (_OUT, _HANDLE, _TEXT),
    "cuFuncSetAttribute": (_HANDLE, _INT, _INT),
    "cuLaunchKernel": (_HANDLE, *[_UINT] * 7, _HANDLE, _OUT, _OUT),
    "cuMemAlloc_v2": (_OUT, _SIZE),
    "cuMemFree_v2": (_ADDRESS,),
    "cuMemHostAlloc": (_OUT, _SIZE, _UINT),
    "cuMemHostGetDevicePointer_v2": (_OUT, _HANDLE, _UINT),
    "cuMemsetD8Async": (_ADDRESS, _BYTE, _SIZE, _HANDLE),
    "cuMemcpyHtoDAsync_v2": (_ADDRESS, _OUT, _SIZE, _HANDLE),
    "cuMemcpyDtoHAsync_v2": (_OUT, _ADDRESS, _SIZE, _HANDLE),
    "cuMemcpyPeerAsync": (_ADDRESS, _HANDLE, _ADDRESS, _HANDLE, _SIZE, _HANDLE),
    "cuMemcpy3DPeerAsync": (_OUT, _HANDLE),
    "cuDeviceCanAccessPeer": (_OUT, _INT, _INT),
    "cuCtxEnablePeerAccess": (_HANDLE, _UINT),
    "cuPointerGetAttribute": (_OUT, _INT, _ADDRESS),
    "cuStreamCreate": (_OUT, _UINT),
    "cuStreamSynchronize": (_HANDLE,),
    "cuStreamWaitEvent": (_HANDLE, _HANDLE, _UINT),
    "cuStreamIsCapturing": (_HANDLE, _OUT),
    "cuStreamGetCaptureInfo_v2": (_HANDLE, _OUT, _OUT, _OUT, _OUT, _OUT),
    "cuStreamGetCtx": (_HANDLE, _OUT),
    "cuThreadExchangeStreamCaptureMode": (_OUT,),
    "cuEventCreate": (_OUT, _UINT),
    "cuEventDestroy_v2": (_HANDLE,),
    "cuEventRecord": (_HANDLE, _HANDLE),
    "cuEventQuery": (_HANDLE,),
    "cuEventElapsedTime": (_OUT, _HANDLE, _HANDLE),
}
# What drivers before CUDA 12 lack; None there.
OPTIONAL: dict[str, tuple[Any, ...]] = {"cuStreamGetId": (_HANDLE, _OUT)}
# Constants of `cuda.h`.
STREAM_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
EVENT_WITHOUT_TIME = 2  # CU_EVENT_DISABLE_TIMING
HOST_MEMORY_MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP
MOST_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
POINTERS_DEVICE = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
CAPTURE_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
CAPTURING = 1  # CU_STREAM_CAPTURE_STATUS_ACTIVE
ATTRIBUTES = {  # CU_DEVICE_ATTRIBUTE_...
    "MAX_THREADS_PER_BLOCK": 1, "MAX_BLOCK_DIM_X": 2, "MAX_BLOCK_DIM_Y": 3, "MAX_BLOCK_DIM_Z": 4,
    "MAX_SHARED_MEMORY_PER_BLOCK": 8, "WARP_SIZE": 10, "CLOCK_RATE": 13, "MULTIPROCESSOR_COUNT": 16, "INTEGRATED": 18,
    "PCI_BUS_ID": 33, "PCI_DEVICE_ID": 34, "PCI_DOMAIN_ID": 50, "COMPUTE_CAPABILITY_MAJOR": 75,
    "COMPUTE_CAPABILITY_MINOR": 76, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97,
}  # fmt: skip


class Driver:
    """The functions of the library, by their names. Each returns a status, which `check` or `answer` looks at."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.functions = {name: self._function(name, kinds) for name, kinds in FUNCTIONS.items()}
        self.functions |= {
            name: self._function(name, kinds) if hasattr(library, name) else None for name, kinds in OPTIONAL.items()
        }

    def _function(self, name: str, kinds: tuple[Any, ...]) -> Any:
        function = getattr(self.library, name)
        function.argtypes, function.restype = kinds, ctypes.c_int
        return function

    def __getattr__(self, name: str) -> Any:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(name) from None


@cache
def driver_calls() -> Driver:
    """The driver library, started. NoDevice if there is none, or no GPU for it."""
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        try:
            driver = Driver(library)
        except AttributeError as missing:
            raise NoDevice(f"NVIDIA's driver is too old: {missing}") from missing
        code = driver.cuInit(0)
        if code:
            raise NoDevice(f"no CUDA device: {_meaning(driver, code)}")
        return driver
    raise NoDevice(f"no CUDA device: NVIDIA's driver library {LIBRARIES[0]} is not here")


def check(what: str, code: int) -> None:
    """Nothing for success; an error names the call, the code and its meaning."""
    if code:
        raise failure(what, code)


def answer(what: str, function: Any, *arguments: Any, kind: Any = ctypes.c_void_p) -> Any:
    """What a function writes to its first argument: a handle, or a value of a type of ctypes."""
    value = kind()
    check(what, function(ctypes.byref(value), *arguments))
    return value.value


def failure(what: str, code: int) -> LaunchFailed:
    """The error for a status that is not 0."""
    sentence = f"{what}: {_meaning(driver_calls(), code)}"
    if code in NO_MEMORY:
        return OutOfDeviceMemory(sentence, code)
    if code in POISONED:
        return DevicePoisoned(f"{sentence}; the context is poisoned by a fault: start a new process", code)
    if code == TOO_MANY_TOGETHER:
        fewer = "its work-groups wait for each other, and this process may not use SMs enough to run all at a time"
        return LaunchFailed(f"{sentence}; {fewer}: give it the whole GPU (MPS limits processes to a part)", code)
    return LaunchFailed(sentence, code)


def _meaning(driver: Driver, code: int) -> str:
    words = []
    for function in (driver.cuGetErrorName, driver.cuGetErrorString):
        text = ctypes.c_char_p()
        function(code, ctypes.byref(text))
        words.append((text.value or b"unknown").decode())
    return f"{words[0]} ({code}), {words[1]}"
