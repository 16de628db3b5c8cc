"""The order in which the library tries kernels for a problem on a device. The first one without violations runs."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.plan import Plan, plan, violations
from ..core.problem import Problem
from ..core.types import FLOAT8
from ..errors import Unsupported
from ..kernels import copy as gpu_copies
from ..kernels.copy import transpose_in_place as gpu_in_place
from ..kernels.copy.copy_nd import COPY_ND, StridedCopyND
from ..kernels.copy.cpu import kernels as cpu_copies
from ..kernels.copy.cpu import transpose_in_place as cpu_in_place
from ..kernels.copy.transpose_in_place import StridedInPlaceTranspose
from ..kernels.product.call import GemmCall, call_of
from ..kernels.product.cpu import search as cpu
from ..kernels.product.cpu.elements import takes_vectors
from ..kernels.product.cuda_cores_tma import search as cuda_cores_tma
from ..kernels.product.family import Family, ranked
from ..kernels.product.fp8 import search as fp8
from ..kernels.product.fp8.config import core
from ..kernels.product.fp8.kernels import wrapped
from ..kernels.product.fp16x3 import search as fp16x3
from ..kernels.product.gemv import search as gemv
from ..kernels.product.mma import search as mma
from ..kernels.product.portable import search as portable
from ..kernels.product.results import result_violations
from ..kernels.product.wgmma import search as wgmma
from .symmetric import HALVED, cheaper_way
from .tuned import NO_TABLES, Tables, Tuned, tuned_for

# Families for the instructions of one vendor come first: they win if estimates are equal.
ONE_VENDOR: tuple[Family, ...] = (fp16x3, wgmma, mma, cuda_cores_tma)
PORTABLE: tuple[Family, ...] = (portable, gemv)
FAMILIES: tuple[Family, ...] = (*ONE_VENDOR, *PORTABLE)


def plan_product(problem: Problem, device: DeviceInfo, tables: Tables = NO_TABLES) -> Plan:
    """The plan for a Gemm or StridedGemm, with the reasons against other kernels. Unsupported if no kernel can solve it.

    Pure: it depends on its arguments alone. Measured winners count if `tables` has them (`table_files.load_tables`).
    """
    call = call_of(problem)
    impossible = () if takes_vectors(device) else tuple(_impossible(call))
    if impossible:
        raise Unsupported("; ".join(impossible))
    chosen = tuned_choice(call, device, tables)
    first = (chosen[0],) if chosen else ()
    if call.symmetric:
        found = replace(_symmetric_plan(call, device), problem=problem)
    else:
        found = replace(plan(chain(first, product_candidates(call, device)), call, device), problem=problem)
    if chosen:
        found = replace(found, notes=(*found.notes, chosen[1].note))
    if device.kind != "cpu":
        unusable = (f"a tuned table is not used: {reason}" for reason in tables.unusable)
        found = replace(found, notes=(*found.notes, *unusable))
    wanted = call.precision
    if wanted and not any(step.kernel.precision == wanted for step in found.steps):
        own = f"no kernel for this device and problem computes in {wanted}: it is computed in {problem.dtype}'s own arithmetic"
        return replace(found, notes=(*found.notes, own))
    return found


def _symmetric_plan(call: GemmCall, device: DeviceInfo) -> Plan:
    """The plan for A times its own transpose: by half of C where that takes less time than all of it."""
    if takes_vectors(device):
        found = plan(product_candidates(call, device), call, device)
        return replace(found, notes=(*found.notes, HALVED))
    way = cheaper_way(call, device, lambda way: ranked(FAMILIES, way, device))
    found = plan((each.configured for each in way.candidates), way.call, device)
    return replace(found, notes=(*found.notes, way.note))


def _impossible(call: GemmCall) -> Iterator[str]:
    """Reasons against a product that hold for every kernel."""
    yield from result_violations(call)
    if call.scale_a and call.dtype not in FLOAT8:  # sums that are scaled afterwards are float32
        yield from result_violations(call_of(core(call, converted=False, bare=True)))


def tuned_choice(call: GemmCall, device: DeviceInfo, tables: Tables) -> tuple[Kernel, Tuned] | None:
    """The candidate named by the nearest tuned table with this problem. None if no table has it, or no candidate fits."""
    for tuned in tuned_for(call, device, tables):
        for kernel in product_candidates(call, device):
            if kernel.name == tuned.entry.kernel and kernel.config.key == tuned.entry.config:
                if any(violations(kernel, kernel.config, call, device)):
                    break
                return kernel, tuned
    return None


def product_candidates(problem: Problem, device: DeviceInfo) -> Iterator[Kernel]:
    """All kernels for a product, sorted by the cost models' estimates. The device may be unable to run some.

    They are made lazily.
    """
    call = call_of(problem)
    for kernel in _candidates(call, device):
        yield kernel if kernel.scales or not call.scale_a else wrapped(kernel, converts=False)


def _candidates(call: GemmCall, device: DeviceInfo) -> Iterator[Kernel]:
    """The kernels for a product, perhaps without those that can scale it."""
    families = (cpu,) if takes_vectors(device) else FAMILIES
    if call.dtype not in FLOAT8:
        return (each.configured for each in ranked(families, call, device))
    if takes_vectors(device):
        return fp8.converted(call, device, families)
    return fp8.candidates(call, device, ONE_VENDOR, PORTABLE)


def plan_copy(problem: Problem, device: DeviceInfo) -> Plan:
    """The plan for a Copy, a Transpose, stacks of them, a StridedCopy, one of many dimensions, or a transpose in place."""
    if problem.operation == StridedInPlaceTranspose.operation:
        in_place = cpu_in_place if takes_vectors(device) else gpu_in_place
        return plan(in_place.in_place_candidates(problem, device), problem, device)
    if problem.operation == StridedCopyND.operation:
        return plan((COPY_ND,), problem, device)
    own = cpu_copies if takes_vectors(device) else gpu_copies
    return plan(own.candidates(problem, device), problem, device)
