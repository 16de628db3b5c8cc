"""Kernels on a driver: what the interpreter's results and counts are compared with."""

from collections.abc import Mapping

import numpy as np

from tilewright.core.kernel import NDRange
from tilewright.core.source import parse_signature
from tilewright.runtime.opencl.device import Device

Arrays = dict[str, np.ndarray]


def run_driver(
    device: Device, source: str, arrays: Mapping[str, np.ndarray], global_size: int, local_size: int
) -> Arrays:
    """All buffers of a kernel after a run on the device."""
    rounds = device.info.kind == "cpu" or "nvidia" in device.info.features
    options = ("-cl-fp32-correctly-rounded-divide-sqrt",) if rounds else ()
    signature = parse_signature(source, "values")
    kernel = device.build(source, "values", signature, "float32", options).new_kernel()
    buffers = {}
    for index, parameter in enumerate(signature.parameters):
        array = arrays[parameter.name]
        buffers[parameter.name] = device.allocate(array.nbytes)
        device.write(buffers[parameter.name], array)
        kernel.set_arg(index, buffers[parameter.name])
    device.launch(kernel, NDRange((global_size,), (local_size,)), "values")
    device.finish("values")
    return {name: device.read(buffer, arrays[name].size, arrays[name].dtype) for name, buffer in buffers.items()}
