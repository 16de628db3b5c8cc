"""The kinds of memory that arrays of the library's calls lie in."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array

from tilewright.runtime.opencl.device import Device

KINDS = ("host", "device")


class Place(NamedTuple):
    put: Callable[[np.ndarray], Any]  # an array there
    get: Callable[[Any], np.ndarray]
    where: dict[str, Any]  # keywords that make a call run on the device


def place_on(device: Device, kind: str) -> Place:
    if kind == "host":
        return Place(lambda array: array, lambda array: array, {"queue": device.plain_queue})
    queue = cl.CommandQueue(device.context, device.device)
    return Place(lambda array: cl_array.to_device(queue, array), lambda array: array.get(), {})
