"""What is measured of a shape: the plan that is chosen, and other plans and libraries beside it."""

from dataclasses import dataclass, replace

from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product, product_candidates
from tilewright.dispatch.table_files import load_tables
from tilewright.errors import Unsupported
from tilewright.kernels.product.call import call_of
from tilewright.runtime.device import Device as AnyDevice
from tilewright.runtime.opencl.vpdpbusd import equipped


@dataclass(frozen=True)
class Other:
    """Another plan or library: the median of its time as a part of the choice's, in pairs of runs. Below 1 it is faster."""

    name: str
    of_ours: float


@dataclass(frozen=True)
class Shape:
    """What was measured of one product. `reason` says why nothing was."""

    kind: str
    title: str
    layout: str
    chosen: str = ""
    seconds: float = 0.0
    runs: int = 0
    plans: tuple[Other, ...] = ()
    rivals: tuple[Other, ...] = ()
    reason: str = ""

    @property
    def regret_of_plans(self) -> float:
        """Our time as a multiple of the best known plan's; 1 if the choice is that."""
        return max((1 / each.of_ours for each in self.plans), default=1.0)

    @property
    def regret(self) -> float:
        """Our time as a multiple of the best plan's or library's; 1 if none is faster."""
        return max([1.0, *(1 / each.of_ours for each in (*self.plans, *self.rivals))])


def plans_of(problem: Gemm, device: AnyDevice, candidates: int) -> list[Plan]:
    """The plan that is chosen, and the first of the candidates that make another one."""
    info = equipped(device.info, problem.dtype)
    found = [plan_product(problem, info, load_tables())]
    call = call_of(problem)
    for kernel in product_candidates(problem, info):
        if len(found) > candidates:
            break
        try:
            made = replace(plan_kernel(kernel, call, info), problem=problem)  # whose layouts the verification knows
        except Unsupported:
            continue
        if all(made.steps != each.steps for each in found):
            found.append(made)
    return found


def named(plan: Plan) -> str:
    return ", ".join(f"{step.kernel.name} ({step.config})" for step in plan.steps)
