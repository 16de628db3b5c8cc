"""What a case runs on: a device with three queues, and the library's calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyopencl as cl

import tilewright
from tilewright.core.device import DeviceInfo
from tilewright.runtime.opencl.adopted import adopt
from tilewright.runtime.opencl.device import Device, list_devices, open_device

from .cuda_frameworks import Frameworks

Calls = Mapping[str, Callable[..., Any]]
QUEUES = 3


def library_calls() -> Calls:
    """The calls as the library has them."""
    from tilewright.library.copies import copy, matrix_transpose

    return {
        "matmul": tilewright.matmul, "gemm": tilewright.gemm, "transpose": tilewright.transpose,
        "matrix_transpose": matrix_transpose, "copy": copy,
    }  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """An opened device. `calls` are the library's unless a test puts a broken one in its place. `numbers` are those of all
    devices, its own first."""

    device: Device
    queues: tuple[Any, ...]
    reader: Any
    calls: Calls
    numbers: tuple[int, ...] = ()
    frameworks: Frameworks = field(default_factory=Frameworks)

    @property
    def info(self) -> DeviceInfo:
        return self.device.info

    @property
    def flushes(self) -> bool:
        """Whether the device may lose subnormal numbers: the driver says so."""
        return not self.device.device.single_fp_config & cl.device_fp_config.DENORM

    @cached_property
    def other_context(self) -> Any:
        """Another context of the same device, kept: Intel's queues do not keep theirs alive."""
        return cl.Context([self.device.device])

    @cached_property
    def elsewhere(self) -> Any:
        """A queue of the other context."""
        return cl.CommandQueue(self.other_context, self.device.device)

    @cached_property
    def out_of_order(self) -> Any:
        """A queue of the same context that starts commands in any order."""
        order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        return cl.CommandQueue(self.device.context, self.device.device, properties=order)

    @property
    def programs(self) -> int:
        """How many programs were built or loaded for the cases so far."""
        return len(self.device._programs)

    def finish(self) -> None:
        """Wait for all queues, those for faulty calls, too, if there are any."""
        odd = [self.__dict__[name] for name in ("elsewhere", "out_of_order") if name in self.__dict__]
        for queue in (*self.queues, self.reader, *odd):
            queue.finish()
        self.frameworks.finish()


def open_bench(number: str, as_gpu: bool = False, calls: Calls | None = None) -> Bench:
    """The device of that number, in a context of its own. With `as_gpu` the library takes it for a GPU: it copies host
    arrays there and chooses kernels for GPUs, which any device can run."""
    opened = open_device(number)
    queues = tuple(cl.CommandQueue(opened.context, opened.device) for _ in range(QUEUES))
    device = adopt(queues[0])
    for queue in queues[1:]:
        if adopt(queue) is not device:
            raise AssertionError("queues of one context and device were adopted as two devices")
    if as_gpu:
        device.info = replace(device.info, kind="gpu")
    own = int(number)
    numbers = (own, *(each for each in range(len(list_devices())) if each != own))
    return Bench(device, queues, cl.CommandQueue(opened.context, opened.device), calls or library_calls(), numbers)
