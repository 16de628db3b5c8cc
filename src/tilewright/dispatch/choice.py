"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.plan import Plan, plan, violations
from ..core.problem import Problem, has_scales, precision_of
from ..core.types import FLOAT8
from ..kernels import copy as moves
from ..kernels.copy import swaps as gpu_swaps
from ..kernels.copy.cpu import moves as cpu_moves
from ..kernels.copy.cpu import swaps as cpu_swaps
from ..kernels.copy.many import MANY, ManyMove
from ..kernels.copy.swaps import Swap
from ..kernels.product.call import call_of
from ..kernels.product.cpu import search as cpu_product
from ..kernels.product.cpu.elements import takes_vectors
from ..kernels.product.cuda_cores_tma import search as fma
from ..kernels.product.fp8 import config as fp8
from ..kernels.product.fp8.kernels import around
from ..kernels.product.fp16x3 import search as split
from ..kernels.product.mma import search as mma
from ..kernels.product.portable.search import ranked_kernels
from ..kernels.product.wgmma import search as wgmma
from .tuned import tuned_for, unusable_tables

# Families that know one maker's instructions, the fastest first; the portable kernels come after them.
FAMILIES = (split, wgmma, mma, fma)


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    ranked = product_candidates(problem, device)
    chosen = tuned_choice(ranked, problem, device)
    found = plan(chosen.kernels if chosen else ranked, problem, device)
    if chosen:
        found = replace(found, notes=(*found.notes, chosen.note))
    if device.kind != "cpu":
        left_out = (f"a tuned table is left out: {reason}" for reason in unusable_tables())
        found = replace(found, notes=(*found.notes, *left_out))
    wanted = precision_of(problem)
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
        for kernel in (*ranked, *fma.ranked(problem, device)):  # a race may find what the model gives no chance
            if kernel.name == tuned.entry.kernel and str(kernel.config) == tuned.entry.config:
                if any(violations(kernel, kernel.config, problem, device)):
                    break
                return TunedChoice((kernel, *ranked), tuned.note)
    return None


def every_candidate(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """As `product_candidates`, with those of every family that its model gives no chance: what a tuning races."""
    if takes_vectors(device):
        return product_candidates(problem, device)
    return (*fma.ranked(problem, device), *product_candidates(problem, device))


def product_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """Every kernel for a product, the most promising first by the models' estimates, whether or not the device can run it."""
    found = (_float8_candidates if problem.dtype in FLOAT8 else _own_candidates)(problem, device)
    if not has_scales(problem):
        return found
    return tuple(kernel if kernel.scales else around(kernel, widens=False) for kernel in found)


def _float8_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """Kernels of 8-bit floats: their own instruction, if that is precise enough, tensor cores for halves, and any other."""
    call = call_of(problem)
    halves, own = (fp8.core(call, widened, bare=bool(call.scale_a)) for widened in (True, False))
    if takes_vectors(device):
        return tuple(around(kernel, widens=True) for kernel in cpu_product.candidates(halves, device))
    special = (kernel for family in FAMILIES for kernel in family.candidates(problem, device))
    tensor = (kernel for family in FAMILIES for kernel in family.candidates(halves, device))
    wide = (around(kernel, widens=True) for kernel in tensor if problem.flops >= fp8.WORTH_FLOPS)
    return (*special, *wide, *ranked_kernels(own, device))


def _own_candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """Kernels that multiply the problem's own type."""
    if takes_vectors(device):
        return tuple(cpu_product.candidates(problem, device))
    special = (kernel for family in FAMILIES for kernel in family.candidates(problem, device))
    return (*special, *ranked_kernels(problem, device))


def plan_copy(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, a Transpose, stacks of them, a Move, one of many dimensions, or what turns squares in place."""
    if problem.operation == Swap.operation:
        swaps = cpu_swaps if takes_vectors(device) else gpu_swaps
        return plan(swaps.swap_candidates(problem, device), problem, device)
    if problem.operation == ManyMove.operation:
        return plan((MANY,), problem, device)
    own = cpu_moves if takes_vectors(device) else moves
    return plan(own.candidates(problem, device), problem, device)
