"""The families of kernels: for which devices and along which lines plans are scanned, and what a case costs to interpret."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import prod

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Step
from tilewright.core.problem import Gemm
from tilewright.errors import UnknownName

from .devices import DEVICES
from .lines import MOVED, PRODUCTS, few_product_lines, move_lines, product_lines
from .shapes import Case, Line, find_cases

SMALL_CPU, LARGE_CPU, ANY_GPU, NVIDIA, HOPPER = DEVICES
# Seconds of the interpreter for a vector's multiply-adds, an element moved and a work-item's multiply-add, on two cores.
VECTOR_S, MOVED_S, ITEM_S, LAUNCH_S = 1.0e-3, 1.7e-4, 5e-7, 0.2
LEAST_DEPTH = 4  # steps of K that packing and storing are worth


@dataclass(frozen=True)
class Sweep:
    """The kernels of a family on a device: products of some types, and copies of elements of some sizes."""

    family: str
    device: DeviceInfo
    products: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()

    @property
    def lines(self) -> list[Line]:
        lines_of = product_lines if self.device.kind == "cpu" else few_product_lines
        found = [line for dtype in self.products for line in lines_of(dtype)]
        return found + [line for dtype in self.moved for line in move_lines(dtype)]


SWEEPS = (
    Sweep("cpu", SMALL_CPU, PRODUCTS, MOVED),
    Sweep("cpu", LARGE_CPU, ("float32", "float16", "complex128"), ("int8", "float32")),
    Sweep("gemm", ANY_GPU, ("float32", "complex64", "float8_e5m2")),
    Sweep("gemm", NVIDIA, ("float64", "bfloat16")),
    Sweep("moves", ANY_GPU, (), MOVED),
    Sweep("hopper", HOPPER, ("float16", "float32", "complex128")),
)
FAMILIES = tuple(dict.fromkeys(sweep.family for sweep in SWEEPS))


def sweeps_of(family: str | None) -> tuple[Sweep, ...]:
    """The sweeps of a family, or all of them; UnknownName if there is none of that name."""
    if family is not None and family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)
    return tuple(sweep for sweep in SWEEPS if family in (None, sweep.family))


def cases_of(sweeps: Sequence[Sweep], processes: int = 1) -> list[Case]:
    """The cases of all sweeps, the cheap ones of each first. Several processes scan the lines."""
    if processes == 1:
        return [case for sweep in sweeps for case in find_cases(sweep.lines, sweep.device, cost)]
    work = [(sweep, number) for sweep in sweeps for number in range(len(sweep.lines))]
    with ProcessPoolExecutor(processes) as pool:
        found = [case for cases in pool.map(_cases_of_line, *zip(*work, strict=True)) for case in cases]
    return sorted({(case.device.name, str(case.problem)): case for case in found}.values(), key=cost)


def _cases_of_line(sweep: Sweep, number: int) -> list[Case]:
    return find_cases(sweep.lines[number : number + 1], sweep.device, cost)


def cost(case: Case) -> float:
    """Seconds that the interpreter takes, as far as that can be told: within a factor of three."""
    return sum(LAUNCH_S + step_cost(step) for step in case.plan.steps)


def step_cost(step: Step) -> float:
    problem = step.problem
    items = step.config.ndrange(problem).group_items
    if not isinstance(problem, Gemm):
        elements = sum(prod(each.shape) for each in problem.operands if each.written)
        return elements * (MOVED_S if items == 1 else ITEM_S)
    parts = 4 if problem.dtype.startswith("complex") else 1
    products = problem.batch * problem.m * problem.n * max(problem.k, LEAST_DEPTH) * parts
    if items > 1:
        return products * ITEM_S
    lanes = step.config.macros(problem).get("VW", 1)
    return problem.batch * problem.m * -(-problem.n // int(lanes)) * max(problem.k, LEAST_DEPTH) * parts * VECTOR_S
