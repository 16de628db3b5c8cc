"""The arguments of a captured launch as `explain_source` takes them: bytes become what the kernel's signature says."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.captured import BufferValue, EitherValue, LocalValue, NullValue, RawValue, SetValue, UnreadValue, Value
from ...core.images import ImageValue, SamplerValue
from ...errors import InvalidInput
from ..explain import Argument, LocalMemory
from ..explain.clc.image_types import SAMPLER, ImageType
from ..explain.clc.tree import Function
from ..explain.clc.types import Pointer, Scalar, Space, Struct, Type, Vector, element_of
from ..explain.simt.images import argument_of


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
    if isinstance(value, EitherValue):
        return _argument(name, kind, _one_of(name, kind, value), memories)
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


def _one_of(name: str, kind: Type, both: EitherValue) -> SetValue | LocalValue:
    """Which of two values the parameter's type allows. InvalidInput if it allows both."""
    if not isinstance(kind, Pointer):
        return both.value
    if kind.space is Space.LOCAL or is_null(kind, both.value):
        return both.null
    raise InvalidInput(
        f"argument {name!r} was set to null and, at another time, to a buffer, and the dump does not hold which came last; "
        "give the launch a kernel object of its own"
    )


def _image_or_sampler(name: str, kind: Type, value: Value) -> Argument:
    if (isinstance(value, ImageValue) and isinstance(kind, ImageType)) or (
        isinstance(value, SamplerValue) and kind is SAMPLER
    ):
        found: Argument = argument_of(_with_axes_of(kind, value))
        return found
    if isinstance(value, RawValue):
        raise InvalidInput(
            f"argument {name!r} is of type {kind}, and only its handle was captured, not what it stands for"
        )
    given = type(value).__name__.removesuffix("Value").lower()
    raise InvalidInput(f"argument {name!r} is of type {kind}, but another kind of value was given: {given}")


def _with_axes_of(kind: Type, value: ImageValue | SamplerValue) -> ImageValue | SamplerValue:
    """An image without axes of one texel beyond those of the parameter's type: dumps call images of one dimension flat ones."""
    if isinstance(value, SamplerValue) or not isinstance(kind, ImageType):
        return value
    axes = kind.coordinates
    return replace(value, sides=value.sides[:axes]) if set(value.sides[axes:]) == {1} else value


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
