"""Launches of other programs as plain data: a kernel's source, build options, NDRange and the values of its arguments."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .images import ImageValue, SamplerValue


@dataclass(frozen=True)
class RawValue:
    """An argument by value: the bytes that the program gave to clSetKernelArg."""

    data: bytes


@dataclass(frozen=True)
class BufferValue:
    """A buffer and its bytes before the launch. Parameters with one `memory` share the same buffer."""

    data: npt.NDArray[np.uint8]
    memory: int
    writable: bool = True


@dataclass(frozen=True)
class LocalValue:
    """The bytes of local memory that each work-group gets."""

    size: int


@dataclass(frozen=True)
class NullValue:
    """A null pointer in the place of a buffer."""


@dataclass(frozen=True)
class UnreadValue:
    """An argument that was not read, and the reason as the end of a sentence: "is an image"."""

    reason: str


SetValue = RawValue | BufferValue | ImageValue | SamplerValue | UnreadValue


@dataclass(frozen=True)
class EitherValue:
    """An argument that was set to null (with a size, as of local memory) and, at another time, to a value. Nothing says which was
    the last."""

    null: LocalValue
    value: SetValue


Value = SetValue | LocalValue | NullValue | EitherValue


@dataclass(frozen=True)
class CapturedKernel:
    """A kernel as its program built it. `source` is None, and `missing` says why, if only its binary is known. `options` are
    those of clBuildProgram, as one text."""

    entry: str
    source: str | None
    options: str
    missing: str = ""


@dataclass(frozen=True)
class CapturedLaunch:
    """One launch. Sizes are in work-items; `local_size` is None if the driver chose it. `values` stand in the order of the
    kernel's parameters."""

    kernel: CapturedKernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...]
    values: tuple[Value, ...] = ()
