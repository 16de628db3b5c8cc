"""NumPy's types for the scalar arguments of kernels, the same for every backend."""

from typing import Any

import numpy as np

from ..core.images import IMAGE_TYPES, SAMPLER_TYPE
from ..core.source import Parameter, Signature
from ..core.types import element_type, numpy_dtype
from ..errors import InvalidInput

TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "float": np.float32,
           "double": np.float64, "unsigned": np.uint32, "unsigned int": np.uint32,
           "unsigned long": np.uint64, "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
           "half": np.float16, "bool": np.uint8, "size_t": np.uint64}  # fmt: skip


def argument_types(kernel: str, signature: Signature, dtype: str) -> tuple[Any, ...]:
    """The type of each argument of a kernel for operands of `dtype`; None for pointers, images and samplers. InvalidInput
    names an unknown type."""
    objects = (*IMAGE_TYPES, SAMPLER_TYPE)
    return tuple(
        None if each.pointer or each.ctype in objects else _argument_type(kernel, each, dtype)
        for each in signature.parameters
    )


def _argument_type(kernel: str, parameter: Parameter, dtype: str) -> Any:
    """REAL is the element type, ACC its accumulator."""
    if parameter.ctype == "REAL":
        return numpy_dtype(dtype).type
    if parameter.ctype == "ACC":
        summed = element_type(element_type(dtype).accumulator)
        return _WRAPPING[summed.itemsize] if summed.exact else numpy_dtype(summed.name).type
    if parameter.raw:
        return _from_bytes
    if parameter.ctype not in TYPES:
        argument = f"the argument {parameter.name!r} has the type {parameter.ctype!r}"
        raise InvalidInput(f"{kernel}: {argument}; it may be {', '.join(TYPES)}, REAL or ACC")
    return TYPES[parameter.ctype]


def _as_uint(value: complex) -> np.uint32:
    """An integer modulo 2**32: kernels of int32 and of uint32 may be one program."""
    return np.uint32(int(value.real) % 2**32)


def _as_ulong(value: complex) -> np.uint64:
    return np.uint64(int(value.real) % 2**64)


_WRAPPING = {4: _as_uint, 8: _as_ulong}  # by bytes


def _from_bytes(value: bytes) -> np.ndarray:
    """A vector or struct as the runtimes take it."""
    return np.frombuffer(value, np.uint8)
