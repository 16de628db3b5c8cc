"""One launch of a kernel on an OpenCL device, with the arguments that `explain_source` takes: the reference of its values."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from tilewright.analysis.explain import Image, Sampler, explain_source
from tilewright.analysis.explain.simt.images import channels_of
from tilewright.analysis.explain.simt.launch_arguments import LocalMemory
from tilewright.runtime.opencl.device import Device


def need(device: Device, *extensions: str, version: int = 0) -> None:
    """Skips the test where the driver has not got these extensions, or no OpenCL C of this version (30 for 3.0)."""
    missing = [each for each in extensions if each not in device.device.extensions.split()]
    if missing:
        pytest.skip(f"{device.info.platform} has no {', '.join(missing)}")
    words = device.device.opencl_c_version.split()
    if int(words[2].replace(".", "")) < version:
        pytest.skip(f"{device.info.platform} compiles {' '.join(words[:3])} only")


def extent_of(image: Image) -> tuple[int, ...]:
    """The texels of an image with an axis for its channels, x first; layers of an array come last."""
    return image.array.shape[-2::-1]


def image_of(device: Device, image: Image) -> Any:
    """An image of up to three dimensions; `image.order` and `image.type` must be named."""
    assert image.array.shape[-1] == channels_of(image.order)
    form = cl.ImageFormat(getattr(cl.channel_order, image.order), getattr(cl.channel_type, image.type))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    if image.array.ndim == 2:
        descriptor = cl.ImageDescriptor()
        descriptor.image_type = cl.mem_object_type.IMAGE1D_BUFFER
        descriptor.shape, descriptor.pitches = (len(image.array), 1, 1), (0, 0)
        descriptor.array_size = descriptor.num_mip_levels = descriptor.num_samples = 0
        buffer = cl.Buffer(device.context, flags, hostbuf=image.array)
        descriptor.buffer = buffer
        return cl.Image(device.context, cl.mem_flags.READ_WRITE, form, desc=descriptor)
    return cl.create_image(device.context, flags, form, shape=extent_of(image), hostbuf=image.array)


def sampler_of(device: Device, sampler: Sampler) -> Any:
    mode = getattr(cl.addressing_mode, sampler.addressing.upper())
    linear = cl.filter_mode.LINEAR if sampler.linear else cl.filter_mode.NEAREST
    return cl.Sampler(device.context, sampler.normalized, mode, linear)


def launch(
    device: Device,
    source: str,
    arguments: Mapping[str, Any],
    global_size: Sequence[int],
    local_size: Sequence[int],
    options: Sequence[str] = (),
) -> dict[str, np.ndarray]:
    """The arrays of the only kernel's arguments after a launch; they are given in the order of its parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # what a driver says of kernels that it did compile
        program = cl.Program(device.context, source).build(list(options), cache_dir=False)
    (kernel,) = program.all_kernels()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    held: dict[str, Any] = {}
    samplers = []  # setting an argument does not keep it, and NVIDIA's driver refuses a launch without its sampler
    for index, (name, value) in enumerate(arguments.items()):
        if isinstance(value, np.ndarray):
            held[name] = cl.Buffer(device.context, flags, hostbuf=value)
            value = held[name]
        elif isinstance(value, Image):
            value = held[name] = image_of(device, value)
        elif isinstance(value, Sampler):
            value = sampler_of(device, value)
            samplers.append(value)
        elif isinstance(value, LocalMemory):
            value = cl.LocalMemory(value.size)
        kernel.set_arg(index, value)
    cl.enqueue_nd_range_kernel(device.queue, kernel, tuple(global_size), tuple(local_size))
    out = {}
    for name, buffer in held.items():
        if isinstance(buffer, cl.Image) and arguments[name].array.ndim == 2:
            continue  # PyOpenCL cannot copy a buffer image
        if isinstance(buffer, cl.Image):
            out[name] = np.empty_like(arguments[name].array)
            region = (*extent_of(arguments[name]), 1, 1)[:3]
            cl.enqueue_copy(device.queue, out[name], buffer, origin=(0, 0, 0), region=region)
        else:
            out[name] = np.empty_like(arguments[name])
            cl.enqueue_copy(device.queue, out[name], buffer)
    device.queue.finish()
    return out


def compare(
    device: Device,
    source: str,
    arguments: Mapping[str, Any],
    global_size: Sequence[int],
    local_size: Sequence[int],
    options: Sequence[str] = ("-cl-std=CL3.0",),
    close: float = 0,
) -> None:
    """The driver and the interpreter leave the same bits in every buffer, or close numbers."""
    expected = launch(device, source, arguments, global_size, local_size, options)
    found = explain_source(
        source, global_size=global_size, local_size=local_size, arguments=arguments, groups="all", contract=False
    )
    assert found.faults == ()
    for name, array in expected.items():
        given = arguments[name]
        own = found.outputs.get(name, given.array if isinstance(given, Image) else given)
        if close:
            np.testing.assert_allclose(own, array, rtol=0, atol=close * np.abs(array).max(), err_msg=name)
        else:
            np.testing.assert_array_equal(own, array, err_msg=name)
