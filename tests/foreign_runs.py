"""Runs foreign-style kernels on an OpenCL device by PyOpenCL alone."""

import numpy as np
import pyopencl as cl
from foreign import Launch

from tilewright.analysis.explain import LocalMemory
from tilewright.core.source import parse_signature
from tilewright.runtime.opencl.device import Device

ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"


def run_on_driver(device: Device, launch: Launch) -> dict[str, np.ndarray]:
    """All buffers after a run on the device, by the names of their parameters."""
    options = [f"-D{name}={value}" for name, value in launch.macros.items()]
    if device.info.kind == "cpu" or "nvidia" in device.info.features:
        options.append(ROUNDED)
    kernel = cl.Kernel(cl.Program(device.context, launch.source).build(options), launch.entry)
    buffers: dict[str, cl.Buffer] = {}
    for index, parameter in enumerate(parse_signature(launch.source, launch.name, launch.entry).parameters):
        value = launch.arguments[parameter.name]
        if isinstance(value, LocalMemory):
            kernel.set_arg(index, cl.LocalMemory(value.size))
        elif not parameter.pointer:
            kernel.set_arg(index, value)
        else:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffers[parameter.name] = cl.Buffer(device.context, flags, hostbuf=value)
            kernel.set_arg(index, buffers[parameter.name])
    queue = cl.CommandQueue(device.context)
    cl.enqueue_nd_range_kernel(queue, kernel, launch.global_size, launch.local_size)
    return {name: fetched(queue, buffer, launch.arguments[name]) for name, buffer in buffers.items()}


def fetched(queue: cl.CommandQueue, buffer: cl.Buffer, like: object) -> np.ndarray:
    result = np.empty_like(np.asarray(like))
    cl.enqueue_copy(queue, result, buffer)
    return result
