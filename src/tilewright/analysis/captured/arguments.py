"""The arguments of a captured launch as `explain_source` takes them: bytes become what the kernel's signature says."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.captured import BufferValue, LocalValue, NullValue, RawValue, UnreadValue, Value
from ...errors import InvalidInput
from ..explain import Argument, LocalMemory
from ..explain.clc.tree import Function
from ..explain.clc.types import Pointer, Scalar, Space, Struct, Type, Vector, element_of


def arguments_of(function: Function, values: Sequence[Value]) -> dict[str, Argument]:
    """A value for each parameter, by name. Parameters that share a buffer get one array, or views of one.

    InvalidInput names the first argument that cannot be given, and why.
    """
    parameters = function.parameters
    if len(values) != len(parameters):
        raise InvalidInput(
            f"{function.name} has {len(parameters)} parameters, but {len(values)} arguments were captured"
        )
    arrays: dict[tuple[int, str], npt.NDArray[Any]] = {}
    return {
        each.name: _argument(each.name, each.type, value, arrays)
        for each, value in zip(parameters, values, strict=True)
    }


def _argument(name: str, kind: Type, value: Value, arrays: dict[tuple[int, str], npt.NDArray[Any]]) -> Any:
    if isinstance(value, UnreadValue):
        raise InvalidInput(f"argument {name!r} {value.reason}")
    if isinstance(value, NullValue) or is_null(kind, value):
        return None
    if isinstance(value, LocalValue):
        return LocalMemory(value.size)
    if isinstance(value, BufferValue):
        if not isinstance(kind, Pointer):
            raise InvalidInput(f"argument {name!r} is a {kind}, but a buffer was given")
        return _array(kind, value, arrays)
    if isinstance(kind, Pointer):
        raise InvalidInput(
            f"argument {name!r} is a pointer, and {len(value.data)} bytes were given for it: an address, which is not followed"
        )
    return _by_value(name, kind, value)


def is_null(kind: Type, value: Value) -> bool:
    """Whether a null pointer was given for a buffer: a handle of zeros, or a size alone, as of local memory."""
    if not isinstance(kind, Pointer) or kind.space is Space.LOCAL:
        return False
    return isinstance(value, LocalValue) or (isinstance(value, RawValue) and not any(value.data))


def _array(kind: Pointer, value: BufferValue, arrays: dict[tuple[int, str], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The buffer's bytes as elements of the pointer's type; a rest that makes no whole element is left out."""
    element = element_of(kind.target)
    dtype = np.dtype(np.uint8) if element is None else element.dtype
    key = value.memory, dtype.str
    if key not in arrays:
        whole = value.data.size // dtype.itemsize * dtype.itemsize
        arrays[key] = value.data[:whole].view(dtype)
        arrays[key].flags.writeable = value.writable
    return arrays[key]


def _by_value(name: str, kind: Type, value: RawValue) -> Any:
    """A number, the elements of a vector, or the bytes of a struct."""
    if len(value.data) != kind.size:
        raise InvalidInput(f"argument {name!r} is a {kind} of {kind.size} bytes, but {len(value.data)} were given")
    if isinstance(kind, Struct):
        return np.frombuffer(value.data, np.uint8)
    if isinstance(kind, Scalar):
        return np.frombuffer(value.data, kind.dtype)[0]
    if isinstance(kind, Vector):
        return np.frombuffer(value.data, kind.element.dtype)[: kind.width]
    raise InvalidInput(f"argument {name!r} of type {kind} cannot be given")
