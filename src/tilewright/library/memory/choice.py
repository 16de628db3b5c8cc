"""Which memory a call's arrays lie in."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from ...errors import InvalidInput, quoted
from ...runtime.forks import refuse_if_forked
from ...runtime.opencl.adopted import adopt
from ...runtime.opencl.device import check
from ..cuda_arrays.frameworks import framework_of
from ..engine import default_device
from .cuda import CudaMemory, cuda_memory
from .cuda_calls import calls_of
from .host import HostMemory
from .opencl import OpenCLMemory
from .opencl_arrays import check_events, check_queue, refuse_failed

Memory = HostMemory | OpenCLMemory | CudaMemory
# The memory of arrays by their exact type, for ready calls (`ready.py`). Subclasses go the general way.
# CUDA's frameworks are added when their first array comes.
MEMORIES: dict[type, Any] = {np.ndarray: HostMemory, Array: OpenCLMemory}


def memory_for(values: Sequence[Any], device: Any, queue: Any, wait_for: Any) -> Memory:
    """The memory of a call: CudaMemory if any operand is a CUDA array, OpenCLMemory if any is a PyOpenCL array, otherwise
    HostMemory.

    A call runs on `queue`, or on the first device array's queue, or on `device`, or on the default device.
    LaunchFailed in a process that was forked after its parent had used the driver.
    """
    for value in values:
        framework = framework_of(value)
        if framework is not None:
            _refuse_others(values, device)
            if framework.has_ready:
                MEMORIES.setdefault(type(value), calls_of(framework))
            memory = cuda_memory(values, framework, value, queue, wait_for)
            refuse_if_forked(memory.device.info.platform)
            return memory
    if queue is not None:
        check_queue(queue)
    events = () if wait_for is None else check_events(wait_for)
    arrays = [value for value in values if isinstance(value, Array)]
    if device is not None and (arrays or queue is not None):
        other = "device arrays have one" if arrays else "the queue has one"
        raise InvalidInput(f"device={quoted(device)} is for host operands without a queue; {other}, so leave it out")
    own = queue
    if arrays and own is None:
        own = next((array.queue for array in arrays if array.queue is not None), None)
        if own is None:
            raise InvalidInput("the PyOpenCL arrays have no queue: pass queue=")
    opened = default_device(device) if own is None else adopt(own)
    refuse_if_forked(opened.info.platform)
    if arrays:
        allocator = next((array.allocator for array in arrays if array.allocator is not None), None)
        return OpenCLMemory(opened, own, events, allocator)
    if events:
        refuse_failed(events)
        with check("waiting for the events of wait_for"):
            cl.wait_for_events(events)  # the host may read the arrays in this call
    return HostMemory(opened, own, device is not None or own is not None)


def _refuse_others(values: Sequence[Any], device: Any) -> None:
    """InvalidInput for what a call on CUDA arrays cannot have beside them."""
    if any(isinstance(value, Array) for value in values):
        raise InvalidInput("a PyOpenCL array stands beside a CUDA array: copy one of them to the other's kind")
    if device is not None:
        raise InvalidInput(
            f"device={quoted(device)} is for host operands without a queue; CUDA arrays have one, so leave it out"
        )
