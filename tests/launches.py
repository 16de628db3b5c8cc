"""One launch of a kernel on an OpenCL device, with the arguments that `explain_source` takes: the reference of its values."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.simt.launch import LocalMemory
from tilewright.runtime.opencl.device import Device


def need(device: Device, *extensions: str, version: int = 0) -> None:
    """Skips the test where the driver has not got these extensions, or no OpenCL C of this version (30 for 3.0)."""
    missing = [each for each in extensions if each not in device.device.extensions.split()]
    if missing:
        pytest.skip(f"{device.info.platform} has no {', '.join(missing)}")
    words = device.device.opencl_c_version.split()
    if int(words[2].replace(".", "")) < version:
        pytest.skip(f"{device.info.platform} compiles {' '.join(words[:3])} only")


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
    for index, (name, value) in enumerate(arguments.items()):
        if isinstance(value, np.ndarray):
            held[name] = cl.Buffer(device.context, flags, hostbuf=value)
            value = held[name]
        elif isinstance(value, LocalMemory):
            value = cl.LocalMemory(value.size)
        kernel.set_arg(index, value)
    cl.enqueue_nd_range_kernel(device.queue, kernel, tuple(global_size), tuple(local_size))
    out = {}
    for name, buffer in held.items():
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
        own = found.outputs.get(name, arguments[name])
        if close:
            np.testing.assert_allclose(own, array, rtol=0, atol=close * np.abs(array).max(), err_msg=name)
        else:
            np.testing.assert_array_equal(own, array, err_msg=name)
