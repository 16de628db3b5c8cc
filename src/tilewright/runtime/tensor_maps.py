"""Encodes tensor maps with NVIDIA's driver library, without the CUDA toolkit."""

import ctypes
from functools import cache
from typing import Any

from ..core.tensor_map import TensorMap
from ..errors import Unsupported

# CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion of the CUDA driver API.
TYPES = {
    "int8": 0,
    "uint8": 0,
    "float8_e4m3fn": 0,
    "float8_e5m2": 0,
    "uint32": 2,
    "int32": 3,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
    "tf32": 11,  # float32 in memory, rounded by TMA to a 10-bit fraction
}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
PROMOTE_TO_128_BYTES = 2
BYTES = 128
PLACEHOLDERS = (0x7F0000000000, 0x7F1234567000)  # addresses that kernels replace; nothing is read from them


def _call(what: str, code: int) -> None:
    if code:
        raise Unsupported(f"tensor maps need NVIDIA's driver library, whose {what} failed with code {code}")


@cache
def _driver() -> tuple[Any, ctypes.c_void_p]:
    """The library, and the first GPU's primary context. Encoding needs a current context, of any GPU.

    It is kept until the process ends, because creating one takes 0.1 s or more.
    """
    library, device, context = _library(), ctypes.c_int(), ctypes.c_void_p()
    _call("cuInit", library.cuInit(0))
    _call("cuDeviceGet", library.cuDeviceGet(ctypes.byref(device), 0))
    _call("cuDevicePrimaryCtxRetain", library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    return library, context


@cache
def _library() -> Any:
    for name in ("libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Unsupported("tensor maps need NVIDIA's driver library libcuda.so.1, which is not on the loader's path")


def _encoded_in_first_context(map_: TensorMap) -> tuple[bytes, bytes]:
    library, context = _driver()
    _call("cuCtxPushCurrent", library.cuCtxPushCurrent_v2(context))
    try:
        return _encode(library, map_, PLACEHOLDERS[0]), _encode(library, map_, PLACEHOLDERS[1])
    finally:
        library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


@cache
def encode(map_: TensorMap) -> bytes:
    """The map's 128 bytes with a placeholder for the address. Unsupported says what the driver refused.

    Kernels write the address into the first eight bytes. So encodings for two addresses must differ only there.
    """
    library = _library()
    current = ctypes.c_void_p()
    library.cuCtxGetCurrent(ctypes.byref(current))
    if current:  # encoding needs a context, of any GPU
        first, second = (_encode(library, map_, address) for address in PLACEHOLDERS)
    else:
        first, second = _encoded_in_first_context(map_)
    if first[8:] != second[8:] or first[:8] != PLACEHOLDERS[0].to_bytes(8, "little"):
        raise Unsupported("this driver's tensor maps do not begin with the address: TMA is not used")
    return first


def _encode(library: Any, map_: TensorMap, address: int) -> bytes:
    rank = len(map_.sizes)
    room = (ctypes.c_uint8 * (BYTES + 64))()
    aligned = -(-ctypes.addressof(room) // 64) * 64
    code = library.cuTensorMapEncodeTiled(
        ctypes.c_void_p(aligned),
        ctypes.c_int(TYPES[map_.dtype]),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*map_.sizes),
        (ctypes.c_uint64 * max(rank - 1, 1))(*map_.strides),
        (ctypes.c_uint32 * rank)(*map_.box),
        (ctypes.c_uint32 * rank)(*(1 for _ in map_.box)),
        ctypes.c_int(0),  # not interleaved
        ctypes.c_int(SWIZZLES[map_.swizzle]),
        ctypes.c_int(PROMOTE_TO_128_BYTES),
        ctypes.c_int(0),  # zeros outside the matrix
    )
    if code:
        raise Unsupported(f"NVIDIA's driver refused a tensor map with code {code}: {map_}")
    return ctypes.string_at(aligned, BYTES)
