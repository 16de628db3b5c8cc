"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from dataclasses import replace

from .device import DeviceInfo
from .kernel import Kernel
from .kernels import moves
from .kernels.cpu import moves as cpu_moves
from .kernels.cpu import product as cpu_product
from .kernels.gemm.choice import ranked_kernels
from .kernels.moves.swaps import Swap, swap_candidates
from .kernels.split import product as split
from .plan import Plan, plan
from .problem import Problem

# Families that know one maker's instructions, the fastest first; the portable kernels come after them.
FAMILIES = (split,)


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    found = plan(_candidates(problem, device), problem, device)
    wanted = getattr(problem, "precision", "")
    if wanted and not any(step.kernel.precision == wanted for step in found.steps):
        own = f"no kernel here multiplies this by {wanted}: it is computed in {problem.dtype}'s own arithmetic"
        return replace(found, notes=(*found.notes, own))
    return found


def _candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    if device.kind == "cpu":
        return tuple(cpu_product.candidates(problem, device))
    special = (kernel for family in FAMILIES for kernel in family.candidates(problem, device))
    return (*special, *ranked_kernels(problem, device))


def plan_move(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, a Transpose, stacks of them, a Move, or what turns squares in place."""
    if problem.operation == Swap.operation:
        return plan(swap_candidates(problem, device), problem, device)
    own = cpu_moves if device.kind == "cpu" else moves
    return plan(own.candidates(problem, device), problem, device)
