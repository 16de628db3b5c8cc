"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from .device import DeviceInfo
from .kernels import moves
from .kernels.cpu import moves as cpu_moves
from .kernels.cpu import product as cpu_product
from .kernels.gemm.choice import ranked_kernels
from .plan import Plan, plan
from .problem import Problem


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    ranked = cpu_product.candidates if device.kind == "cpu" else ranked_kernels
    return plan(ranked(problem, device), problem, device)


def plan_move(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, Transpose or Move."""
    own = cpu_moves if device.kind == "cpu" else moves
    return plan(own.candidates(problem, device), problem, device)
