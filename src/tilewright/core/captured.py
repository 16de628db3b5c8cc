"""Launches of other programs as plain data: a kernel's source, build options, NDRange and the values of its arguments."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


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
class ImageValue:
    """An image: the bytes of its texels before the launch, row by row, with the words of OpenCL for the order (RGBA ...) and type
    (UNORM_INT8 ...) of its channels. `sides` are its texels along x, y, and z or layers."""

    data: npt.NDArray[np.uint8]
    order: str
    type: str
    sides: tuple[int, ...]


@dataclass(frozen=True)
class SamplerValue:
    """A sampler. `addressing` is none, clamp_to_edge, clamp, repeat or mirrored_repeat."""

    normalized: bool
    addressing: str
    linear: bool


@dataclass(frozen=True)
class UnreadValue:
    """An argument that was not read, and the reason as the end of a sentence: "is an image"."""

    reason: str


Value = RawValue | BufferValue | LocalValue | NullValue | ImageValue | SamplerValue | UnreadValue


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
