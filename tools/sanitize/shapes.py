"""Finds the sizes at which plans change: scans lines of problems, halves the gaps, and takes both sides of each change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Step
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, Problem
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.dispatch.table_files import load_tables
from tilewright.errors import Unsupported
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cpu.config import CpuConfig

from .. import bisection

Variant = tuple[object, ...]


@dataclass(frozen=True)
class Line:
    """Problems that differ in one size: `make(size)` for sizes from `first` to `last`."""

    name: str
    make: Callable[[int], Problem]
    first: int = 1
    last: int = 4096


@dataclass(frozen=True)
class Case:
    """A problem next to a change of plan, and its plan for a device."""

    device: DeviceInfo
    plan: Plan

    @property
    def problem(self) -> Problem:
        return self.plan.problem

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all that is launched."""
        return tuple(dict.fromkeys(step.kernel.name for step in self.plan.steps))

    @property
    def variant(self) -> Variant:
        return variant(self.plan)


def planned(problem: Problem, device: DeviceInfo) -> Plan | None:
    """The library's plan, or None where it has none for this problem."""
    try:
        return plan_product(problem, device, load_tables()) if isinstance(problem, Gemm) else plan_copy(problem, device)
    except Unsupported:
        return None


def variant(plan: Plan | None) -> Variant:
    """What was chosen: kernels, configurations and what they compile to, buffers, and how blocks cut a CPU's product."""
    if plan is None:
        return ()
    return tuple(step_variant(step) for step in plan.steps)


def step_variant(step: Step) -> Variant:
    macros = tuple(sorted(step.config.macros(step.problem).items()))
    own = (step.kernel.name, str(step.config), macros, step.buffers, tuple(name for name, _ in step.scratch))
    if step.config.ndrange(step.problem).empty:
        return (*own, "nothing to do")
    if not isinstance(step.config, CpuConfig):
        return own
    call = call_of(step.problem).row_major
    blocks = step.config.blocks(call)
    cuts = (min(3, step.config.blocks_of_k(call)), blocks.groups_m > 1, blocks.groups_n > 1)
    return (*own, *cuts, blocks.stream, blocks.a_in_place)


def grid(first: int, last: int, fine: bool) -> list[int]:
    """Sizes from `first` to `last`: each a third larger than the one before if it is `fine`, else each twice as large."""
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(last, sizes[-1] + max(1, sizes[-1] // 3 if fine else sizes[-1])))
    return sizes


def changes(line: Line, device: DeviceInfo) -> Iterator[tuple[Case, Case]]:
    """The neighbours along a line whose plans differ; of plans that come and go between two sizes of the grid not all."""
    known: dict[int, Plan | None] = {}

    def plan_at(size: int) -> Plan | None:
        if size not in known:
            known[size] = planned(line.make(size), device)
        return known[size]

    sizes = grid(line.first, line.last, device.kind == "cpu")  # plans for GPUs compare some hundred candidates each
    for low, high in bisection.changes(sizes, lambda size: variant(plan_at(size))):
        before, after = plan_at(low), plan_at(high)
        if before is not None and after is not None:
            yield Case(device, before), Case(device, after)


def find_cases(lines: Sequence[Line], device: DeviceInfo, cost: Callable[[Case], float]) -> list[Case]:
    """For each pair of plans that meet somewhere the cheapest neighbours, and the start of each line; cheap ones first."""
    cheapest: dict[object, tuple[float, tuple[Case, ...]]] = {}

    def offer(key: object, found: tuple[Case, ...]) -> None:
        price = sum(map(cost, found))
        if key not in cheapest or price < cheapest[key][0]:
            cheapest[key] = price, found

    for line in lines:
        start = planned(line.make(line.first), device)
        if start is not None:
            offer(variant(start), (Case(device, start),))
        for before, after in changes(line, device):
            offer((before.variant, after.variant), (before, after))
    found = {str(case.problem): case for _, pair in cheapest.values() for case in pair}
    return sorted(found.values(), key=cost)


def chosen(found: Sequence[Case], count: int) -> list[Case]:
    """Up to `count` cases for each kernel and type, of cases that are sorted by cost: first one of each plan, then others."""
    seen: set[Variant] = set()
    fresh: list[Case] = []
    others: list[Case] = []
    for case in found:
        (others if case.variant in seen else fresh).append(case)
        seen.add(case.variant)
    taken: dict[tuple[str, ...], int] = {}
    kept = []
    for case in (*fresh, *others):
        keys = [(name, case.problem.dtype, case.device.name) for name in case.kernels]
        if any(taken.get(key, 0) < count for key in keys):
            kept.append(case)
            taken |= {key: taken.get(key, 0) + 1 for key in keys}
    return kept
