"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from .device import DeviceInfo
from .kernels import moves
from .kernels.cpu import product
from .plan import Plan, plan
from .problem import Problem


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    return plan(product.candidates(problem, device), problem, device)


def plan_move(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, Transpose or Move."""
    return plan(moves.candidates(problem, device), problem, device)
