"""Which kernels a product on a CPU device may run."""

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.problem import Problem
from .kernels import product_kernel, quad_kernels, vector_kernel


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a product on a CPU device, the most wanted first; 06_production.cl computes any."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    return (
        vector_kernel(problem, device, vector_bytes),
        *quad_kernels(problem, device, vector_bytes),
        product_kernel(problem, device, vector_bytes),
    )
