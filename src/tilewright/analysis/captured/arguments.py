"""The arguments of a captured launch as `explain_source` takes them: bytes become what the kernel's signature says."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.captured import BufferValue, ImageValue, LocalValue, NullValue, RawValue, SamplerValue, UnreadValue, Value
from ...errors import InvalidInput
from ..explain import Argument, LocalMemory, Sampler
from ..explain.clc.image_types import SAMPLER, ImageType
from ..explain.clc.tree import Function
from ..explain.clc.types import Pointer, Scalar, Space, Struct, Type, Vector, element_of
from ..explain.simt.images import image_of


def arguments_of(function: Function, values: Sequence[Value]) -> dict[str, Argument]:
    """A value for each parameter, by name. Parameters that share a buffer get one array, or views of one.

    InvalidInput names the first argument that cannot be given, and why.
    """
    parameters = function.parameters
    if len(values) != len(parameters):
        raise InvalidInput(
            f"{function.name} has {len(parameters)} parameters, but {len(values)} arguments were captured"
        )
    memories: dict[int, npt.NDArray[np.uint8]] = {}
    return {
        each.name: _argument(each.name, each.type, value, memories)
        for each, value in zip(parameters, values, strict=True)
    }


def _argument(name: str, kind: Type, value: Value, memories: dict[int, npt.NDArray[np.uint8]]) -> Any:
    if isinstance(value, UnreadValue):
        raise InvalidInput(f"argument {name!r} {value.reason}")
    if isinstance(value, NullValue) or is_null(kind, value):
        return None
    if isinstance(value, LocalValue):
        return LocalMemory(value.size)
    if isinstance(value, BufferValue):
        if not isinstance(kind, Pointer):
            raise InvalidInput(f"argument {name!r} is a {kind}, but a buffer was given")
        return _array(kind, value, memories)
    if isinstance(value, ImageValue | SamplerValue) or isinstance(kind, ImageType) or kind is SAMPLER:
        return _image_or_sampler(name, kind, value)
    if isinstance(kind, Pointer):
        raise InvalidInput(
            f"argument {name!r} is a pointer, and {len(value.data)} bytes were given for it: an address, which is not followed"
        )
    return _by_value(name, kind, value)


def _image_or_sampler(name: str, kind: Type, value: Value) -> Argument:
    if isinstance(value, ImageValue) and isinstance(kind, ImageType):
        return image_of(value.data, value.order, value.type, value.sides)
    if isinstance(value, SamplerValue) and kind is SAMPLER:
        return Sampler(value.normalized, value.addressing, value.linear)
    given = type(value).__name__.removesuffix("Value").lower()
    raise InvalidInput(f"argument {name!r} is of type {kind}, but another kind of value was given: {given}")


def is_null(kind: Type, value: Value) -> bool:
    """Whether a null pointer was given for a buffer: a handle of zeros, or a size alone, as of local memory."""
    if not isinstance(kind, Pointer) or kind.space is Space.LOCAL:
        return False
    return isinstance(value, LocalValue) or (isinstance(value, RawValue) and not any(value.data))


def _array(kind: Pointer, value: BufferValue, memories: dict[int, npt.NDArray[np.uint8]]) -> npt.NDArray[Any]:
    """The buffer's bytes as elements of the pointer's type; a rest that makes no whole element is left out. Arrays of one buffer
    are views of the same bytes, whatever their types."""
    element = element_of(kind.target)
    dtype = np.dtype(np.uint8) if element is None else element.dtype
    whole = value.data.size // dtype.itemsize * dtype.itemsize
    array = memories.setdefault(value.memory, value.data)[:whole].view(dtype)
    array.flags.writeable = value.writable
    return array


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
