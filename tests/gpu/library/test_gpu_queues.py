"""Calls on PyOpenCL arrays of an NVIDIA GPU do not wait for what they enqueue."""

import numpy as np
import pyopencl as cl
import pyopencl.array

from tilewright import matmul
from tilewright.runtime.opencl.device import Device

SIDE = 8192  # its scratch memory is larger than what every device keeps: KEPT_SCRATCH_BYTES


def test_a_large_product_returns_while_it_runs(nvidia: Device) -> None:
    """Scratch memory that is freed while kernels use it makes NVIDIA's driver wait for them: for 20 ms, with Python's lock."""
    generator = np.random.default_rng(5)
    a, b = (generator.standard_normal((SIDE, SIDE), np.float32) for _ in range(2))
    left, right = (cl.array.to_device(nvidia.queue, each) for each in (a, b))
    out = cl.array.empty_like(left)
    for _ in range(2):  # makes what is made once
        matmul(left, right, out)
    nvidia.finish("products")
    for _ in range(5):  # 0.1 s
        matmul(left, right, out)
    assert out.events[-1].command_execution_status != cl.command_execution_status.COMPLETE
    rows = slice(0, SIDE, 1001)
    wanted = a[rows].astype(np.float64) @ b
    assert np.abs(out.get()[rows] - wanted).max() < 1e-5 * np.abs(wanted).max()
