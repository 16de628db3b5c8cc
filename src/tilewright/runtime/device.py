"""The operations of an opened device, the same for OpenCL and CUDA. Plans are run with them."""

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..core.device import DeviceInfo
from ..core.images import ImageValue, SamplerValue
from ..core.kernel import NDRange
from ..core.sizes import is_whole
from ..core.source import Signature
from ..core.tensor_map import TensorMap
from ..errors import InvalidInput, quoted

SHORTEST_NUMBER = 3  # digits of a number that may be a part of a name, such as 4090; shorter ones are indices
MOST_INDEX = 10**6  # larger numbers name no device
DEVICE_VARIABLE = "TILEWRIGHT_DEVICE"  # the default of `--device`, and of `device` in Python


def preset_device() -> str | None:
    """The device that the environment names; None if it names none."""
    return os.environ.get(DEVICE_VARIABLE) or None


def device_name(wanted: Any) -> str | None:
    """What names a device, as text; None for the preferred one. InvalidInput for anything but an index or a name."""
    if wanted is None or isinstance(wanted, str):
        return wanted
    if is_whole(wanted) and abs(wanted) < MOST_INDEX:
        return str(int(wanted))
    raise InvalidInput(f"device={quoted(wanted)} is a {type(wanted).__name__}; pass an index or a name")


def opened_or_name(wanted: Any) -> Any:
    """An opened device as it is; what names one as `device_name` reads it."""
    return wanted if hasattr(wanted, "info") else device_name(wanted)


def check_opened(device: Any) -> None:
    """InvalidInput for what is no opened device, such as its name."""
    if not hasattr(device, "info"):
        raise InvalidInput(f"device={quoted(device)}: pass an opened device, as open_device gives")


def place_of(wanted: str, devices: Sequence[tuple[str, str]]) -> int | None:
    """The index of the device that `wanted` names: an index, a kind, or a part of a label. `devices` are kinds and labels.

    None if there is none. A number of few digits is an index, never a part of a label.
    """
    is_number = wanted.isdecimal()  # a superscript is a digit, and no number
    if is_number and len(wanted) < len(str(MOST_INDEX)) and int(wanted) < len(devices):
        return int(wanted)
    is_part = len(wanted) >= SHORTEST_NUMBER or not is_number
    for index, (kind, label) in enumerate(devices):
        if wanted.lower() == kind or (is_part and wanted.lower() in label.lower()):
            return index
    return None


class Program(Protocol):
    """A built program, and the types of its kernel's arguments."""

    @property
    def argument_types(self) -> tuple[Any, ...]: ...

    @property
    def log(self) -> str: ...

    def new_kernel(self) -> Any:
        """A new kernel object, with `set_arg(index, value)`."""


class Device(Protocol):
    """An opened device. Buffers, kernels and events are those of the runtime; events have `profile.start` and `.end` in ns."""

    @property
    def info(self) -> DeviceInfo: ...

    @property
    def backend(self) -> str:
        """The runtime's name in records: "opencl" or "cuda"."""

    @property
    def dialect(self) -> str:
        """The language that `build` compiles: a constant of `kernel.Dialect`."""

    @property
    def supports_timestamps(self) -> bool:
        """Whether kernels that read the device's clock can time a burst on `plain_queue`."""

    @property
    def plain_queue(self) -> Any:
        """A queue without profiling, for `launch` and `finish`. None stands for the device's only queue."""

    @property
    def null(self) -> Any:
        """What a kernel's argument is set to that points to nothing."""

    def build(
        self, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str] = (), target: str = ""
    ) -> Program: ...

    def allocate(self, nbytes: int) -> Any: ...

    def tensor_map(self, map_: TensorMap) -> Any: ...

    def local_memory(self, nbytes: int) -> Any:
        """What a pointer to local memory of so many bytes for each work-group gets."""

    def image(self, name: str, ctype: str, value: ImageValue) -> Any:
        """An image for a parameter, with its texels and a `handle` to bind. Unsupported if the device or the runtime has none."""

    def sampler(self, name: str, value: SamplerValue) -> Any: ...

    def write_image(self, image: Any) -> None:
        """Give an image the texels that it was made with, and wait."""

    def read_image(self, image: Any) -> np.ndarray:
        """The bytes of an image's texels."""

    def part(self, buffer: Any, origin: int, nbytes: int) -> Any: ...

    def fill(self, buffer: Any, byte: int, origin: int, nbytes: int) -> None: ...

    def zeroed(self, nbytes: int) -> Any:
        """A buffer of zeros, complete when this returns."""

    def write(self, buffer: Any, array: np.ndarray) -> None: ...

    def read(self, buffer: Any, count: int, dtype: np.dtype, origin: int = 0) -> np.ndarray: ...

    def launch(
        self, kernel: Any, ndrange: NDRange, what: str, queue: Any = None, wait_for: Any = None, event: bool = True
    ) -> Any:
        """Enqueue one launch. The event, or None if `event` is false and the runtime can launch without one."""

    def finish(self, what: str, queue: Any = None) -> None: ...
