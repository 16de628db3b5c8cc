"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .device import DeviceInfo
from .kernel import Kernel
from .kernels import moves
from .kernels.cpu import moves as cpu_moves
from .kernels.cpu import product as cpu_product
from .kernels.cpu import swaps as cpu_swaps
from .kernels.fma import choice as fma
from .kernels.gemm.choice import ranked_kernels
from .kernels.mma import product as mma
from .kernels.moves import swaps as gpu_swaps
from .kernels.moves.swaps import Swap
from .kernels.split import product as split
from .kernels.wgmma import product as wgmma
from .plan import Plan, plan, violations
from .problem import Problem
from .tuned import tuned_for

# Families that know one maker's instructions, the fastest first; the portable kernels come after them.
FAMILIES = (split, wgmma, mma, fma)


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    ranked = product_candidates(problem, device)
    chosen = tuned_choice(ranked, problem, device)
    found = plan(chosen.kernels if chosen else ranked, problem, device)
    if chosen:
        found = replace(found, notes=(*found.notes, chosen.note))
    wanted = getattr(problem, "precision", "")
    if wanted and not any(step.kernel.precision == wanted for step in found.steps):
        own = f"no kernel here multiplies this by {wanted}: it is computed in {problem.dtype}'s own arithmetic"
        return replace(found, notes=(*found.notes, own))
    return found


@dataclass(frozen=True)
class TunedChoice:
    """The candidates with the one that a tuned table names before all others."""

    kernels: tuple[Kernel, ...]
    note: str


def tuned_choice(ranked: Sequence[Kernel], problem: Problem, device: DeviceInfo) -> TunedChoice | None:
    """What the nearest tuned table that knows the problem says of it; None if none does, or no candidate is what it names."""
    for tuned in tuned_for(problem, device):
        for kernel in ranked:
            if kernel.name == tuned.entry.kernel and str(kernel.config) == tuned.entry.config:
                if any(violations(kernel, kernel.config, problem, device)):
                    break
                return TunedChoice((kernel, *ranked), tuned.note)
    return None


def product_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """Every kernel for a product, the most promising first by the models' estimates, whether or not the device can run it."""
    if device.kind == "cpu":
        return tuple(cpu_product.candidates(problem, device))
    special = (kernel for family in FAMILIES for kernel in family.candidates(problem, device))
    return (*special, *ranked_kernels(problem, device))


def plan_move(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, a Transpose, stacks of them, a Move, or what turns squares in place."""
    if problem.operation == Swap.operation:
        swaps = cpu_swaps if device.kind == "cpu" else gpu_swaps
        return plan(swaps.swap_candidates(problem, device), problem, device)
    own = cpu_moves if device.kind == "cpu" else moves
    return plan(own.candidates(problem, device), problem, device)
