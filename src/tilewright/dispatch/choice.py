"""Which kernels the library tries for a problem on a device, in which order; the first that nothing speaks against runs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, takewhile

from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.plan import Plan, plan, violations
from ..core.problem import Problem
from ..core.types import FLOAT8
from ..errors import Unsupported
from ..kernels import copy as moves
from ..kernels.copy import swaps as gpu_swaps
from ..kernels.copy.cpu import moves as cpu_moves
from ..kernels.copy.cpu import swaps as cpu_swaps
from ..kernels.copy.many import MANY, ManyMove
from ..kernels.copy.swaps import Swap
from ..kernels.product.call import GemmCall, call_of
from ..kernels.product.cpu import search as cpu
from ..kernels.product.cpu.elements import takes_vectors
from ..kernels.product.cuda_cores_tma import search as cuda_cores_tma
from ..kernels.product.family import Candidate, Family, cheapest_first
from ..kernels.product.fp8 import config as fp8
from ..kernels.product.fp8.kernels import around
from ..kernels.product.fp16x3 import search as fp16x3
from ..kernels.product.gemv import search as gemv
from ..kernels.product.mma import search as mma
from ..kernels.product.portable import search as portable
from ..kernels.product.results import result_violations
from ..kernels.product.wgmma import search as wgmma
from .tuned import Tuned, tuned_for, unusable_tables

PORTABLE: tuple[Family, ...] = (portable, gemv)
# Those that know one maker's instructions go before them where estimates are equal.
FAMILIES: tuple[Family, ...] = (fp16x3, wgmma, mma, cuda_cores_tma, *PORTABLE)


def plan_product(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Gemm or StridedGemm, with why others lost. Unsupported if no kernel can solve it there."""
    call = call_of(problem)
    impossible = () if takes_vectors(device) else tuple(_impossible(call))
    if impossible:
        raise Unsupported("; ".join(impossible))
    chosen = tuned_choice(call, device)
    first = (chosen[0],) if chosen else ()
    found = replace(plan(chain(first, product_candidates(call, device)), call, device), problem=problem)
    if chosen:
        found = replace(found, notes=(*found.notes, chosen[1].note))
    if device.kind != "cpu":
        left_out = (f"a tuned table is left out: {reason}" for reason in unusable_tables())
        found = replace(found, notes=(*found.notes, *left_out))
    wanted = call.precision
    if wanted and not any(step.kernel.precision == wanted for step in found.steps):
        own = f"no kernel here multiplies this by {wanted}: it is computed in {problem.dtype}'s own arithmetic"
        return replace(found, notes=(*found.notes, own))
    return found


def _impossible(call: GemmCall) -> Iterator[str]:
    """What speaks against a product whatever kernel computes it."""
    yield from result_violations(call)
    if call.scale_a and call.dtype not in FLOAT8:  # sums that are scaled afterwards are float32
        yield from result_violations(call_of(fp8.core(call, widened=False, bare=True)))


def tuned_choice(call: GemmCall, device: DeviceInfo) -> tuple[Kernel, Tuned] | None:
    """The candidate that the nearest tuned table names which knows the problem; None if none does, or none is there."""
    for tuned in tuned_for(call, device):
        for kernel in product_candidates(call, device):
            if kernel.name == tuned.entry.kernel and kernel.config.key == tuned.entry.config:
                if any(violations(kernel, kernel.config, call, device)):
                    break
                return kernel, tuned
    return None


def product_candidates(problem: Problem, device: DeviceInfo) -> Iterator[Kernel]:
    """Every kernel for a product, the most promising first by the models' estimates, whether or not the device can run it.

    One is made when it is asked for.
    """
    call = call_of(problem)
    for kernel in _float8_candidates(call, device) if call.dtype in FLOAT8 else _own_candidates(call, device):
        yield kernel if kernel.scales or not call.scale_a else around(kernel, widens=False)


def ranked(families: Sequence[Family], call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The candidates of families, the cheapest first."""
    return cheapest_first(offer for family in families for offer in family.offers(call, device))


def _own_candidates(call: GemmCall, device: DeviceInfo) -> Iterator[Kernel]:
    """Kernels that multiply the product's own type."""
    families = (cpu,) if takes_vectors(device) else FAMILIES
    return (each.configured for each in ranked(families, call, device))


def _float8_candidates(call: GemmCall, device: DeviceInfo) -> Iterator[Kernel]:
    """Kernels of 8-bit floats: their own instruction, if that is precise enough, tensor cores for fp16, and any other."""
    halves, own = (call_of(fp8.core(call, widened, bare=bool(call.scale_a))) for widened in (True, False))
    if takes_vectors(device):
        yield from (around(each.configured, widens=True) for each in ranked((cpu,), halves, device))
        return
    special = [family for family in FAMILIES if family not in PORTABLE]
    yield from (each.configured for each in ranked(special, call, device))
    if call.flops >= fp8.WORTH_FLOPS:
        limit = next(ranked(PORTABLE, halves, device)).rank
        worth = takewhile(lambda each: each.rank < limit, ranked(special, halves, device))
        yield from (around(each.configured, widens=True) for each in worth)
    yield from (each.configured for each in ranked(PORTABLE, own, device))


def plan_move(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, a Transpose, stacks of them, a Move, one of many dimensions, or what turns squares in place."""
    if problem.operation == Swap.operation:
        swaps = cpu_swaps if takes_vectors(device) else gpu_swaps
        return plan(swaps.swap_candidates(problem, device), problem, device)
    if problem.operation == ManyMove.operation:
        return plan((MANY,), problem, device)
    own = cpu_moves if takes_vectors(device) else moves
    return plan(own.candidates(problem, device), problem, device)
