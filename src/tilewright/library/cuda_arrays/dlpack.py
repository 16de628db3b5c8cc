"""DLPack's structures: arrays read from a producer's capsule, and results handed out in one.

The layout is that of dlpack.h (version 0.8 and later, unversioned capsules): https://dmlc.github.io/dlpack/latest/c_api.html
"""

import ctypes
from typing import Any

import numpy as np

from ...core.types import numpy_dtype
from ...errors import InvalidInput, UnsupportedType
from .array import CudaArray, dense_strides

CUDA, CUDA_MANAGED = 2, 13  # DLDeviceType
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLDataTypeCode of NumPy's kinds
_NARROW = {(4, 16): "bfloat16", (10, 8): "float8_e4m3fn", (12, 8): "float8_e5m2"}  # code and bits of ml_dtypes' types
_NAME = b"dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_of = ctypes.pythonapi.PyCapsule_New
_capsule_of.restype, _capsule_of.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_held: dict[int, Any] = {}  # what lives until a consumer calls the deleter, by the address of the structure


def _delete(address: int) -> None:
    _held.pop(address, None)


_delete_from_c = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_delete)


def tensor_of(capsule: Any) -> _Tensor:
    """The description in a producer's capsule, in the capsule's memory."""
    managed = ctypes.cast(_pointer_of(capsule, _NAME), ctypes.POINTER(_Managed)).contents
    tensor: _Tensor = managed.tensor
    return tensor


def read_capsule(capsule: Any, name: str, given: Any) -> CudaArray:
    """The array of a producer's capsule. It lives as long as the capsule, which the array keeps."""
    tensor = tensor_of(capsule)
    if tensor.device_type not in (CUDA, CUDA_MANAGED):
        raise InvalidInput(f"{name} is on no CUDA device (DLPack device type {tensor.device_type})")
    shape = tuple(tensor.shape[side] for side in range(tensor.ndim))
    strides = tuple(tensor.strides[side] for side in range(tensor.ndim)) if tensor.strides else dense_strides(shape)
    pointer = (tensor.data or 0) + tensor.byte_offset
    return CudaArray(pointer, shape, strides, _type_of(tensor, name), tensor.device_id, (given, capsule))


def _type_of(tensor: _Tensor, name: str) -> np.dtype:
    code, bits = int(tensor.code), int(tensor.bits)
    if tensor.lanes == 1 and (code, bits) in _NARROW:
        return numpy_dtype(_NARROW[code, bits])
    kind = next((kind for kind, own in _CODES.items() if own == code), None)
    try:
        if kind is not None and not bits % 8 and tensor.lanes == 1:
            return np.dtype(f"{kind}{bits // 8}" if kind != "b" else "bool")
    except TypeError:  # such as complex numbers of 32 bits
        pass
    raise UnsupportedType(f"{name} has elements of DLPack's type {code} with {bits} bits and {tensor.lanes} lanes")


def _code_of(dtype: np.dtype) -> tuple[int, int]:
    narrow = next((own for own, name in _NARROW.items() if name == dtype.name), None)
    return narrow or (_CODES[dtype.kind], 8 * dtype.itemsize)


def make_capsule(array: CudaArray) -> Any:
    """A capsule for a consumer, which takes over a reference to `array.given`: the memory's owner."""
    sides = len(array.shape)
    extents = (ctypes.c_int64 * max(sides, 1))(*array.shape), (ctypes.c_int64 * max(sides, 1))(*array.strides)
    managed = _Managed()
    tensor = managed.tensor
    tensor.data, tensor.device_type, tensor.device_id, tensor.ndim = array.pointer, CUDA, array.ordinal, sides
    (tensor.code, tensor.bits), tensor.lanes, tensor.byte_offset = _code_of(array.dtype), 1, 0
    tensor.shape, tensor.strides = (ctypes.cast(each, ctypes.POINTER(ctypes.c_int64)) for each in extents)
    managed.deleter = ctypes.cast(_delete_from_c, ctypes.c_void_p).value
    address = ctypes.addressof(managed)
    _held[address] = (managed, extents, array.given)
    return _capsule_of(address, _NAME, ctypes.cast(_unused_from_c, ctypes.c_void_p))


def _unused(capsule: int) -> None:
    """Called when a capsule dies: nobody took its contents if it still has its first name."""
    if _is_named(capsule, _NAME):
        _held.pop(_raw_pointer(capsule, _NAME), None)


_is_named = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_unused_from_c = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_unused)
