"""Sums of a kernel's traffic over its whole NDRange, and the changes between two kernels."""

from collections.abc import Sequence
from dataclasses import dataclass

from .explanation import Explanation
from .profile import LineAccess


@dataclass(frozen=True)
class Totals:
    """Traffic of a whole NDRange. `exact` if all groups were run, or if the executed groups are all alike. Otherwise the
    counts are scaled up from the executed groups.

    Constant memory is not among global memory: `constant_cost` is in addresses or sectors, as the model counts. Private
    arrays that lie off-chip have their own sums, too. Atomic updates of global memory are among its stores; `atomic_turns`
    says how often work-items of one sub-group had to wait for each other at one place, the first of them included.
    """

    global_load_sectors: int
    global_store_sectors: int
    global_load_requests: int
    global_store_requests: int
    local_load_wavefronts: int
    local_store_wavefronts: int
    local_load_requests: int
    local_store_requests: int
    conflicts: int
    exact: bool
    constant_requests: int = 0
    constant_cost: int = 0
    private_requests: int = 0
    private_sectors: int = 0
    atomic_requests: int = 0
    atomic_updates: int = 0
    atomic_turns: int = 0

    @property
    def sectors(self) -> int:
        return self.global_load_sectors + self.global_store_sectors

    @property
    def wavefronts(self) -> int:
        return self.local_load_wavefronts + self.local_store_wavefronts


def totals(explanation: Explanation) -> Totals:
    """The sums of one launch."""
    factor = explanation.group_count / len(explanation.groups)
    loads = [each for each in explanation.accesses if each.operation == "load"]
    stores = [each for each in explanation.accesses if each.operation != "load"]

    def total(accesses: list[LineAccess], local: bool, what: str) -> int:
        return summed([each for each in accesses if each.space == ("local" if local else "global")], what)

    def summed(accesses: Sequence[LineAccess], what: str) -> int:
        counted: int = sum(getattr(each, what) for each in accesses)
        return round(factor * counted)

    constant = [each for each in explanation.accesses if each.space == "constant"]
    atomic = [each for each in stores if each.is_atomic]

    return Totals(
        global_load_sectors=total(loads, False, "cost"),
        global_store_sectors=total(stores, False, "cost"),
        global_load_requests=total(loads, False, "requests"),
        global_store_requests=total(stores, False, "requests"),
        local_load_wavefronts=total(loads, True, "cost"),
        local_store_wavefronts=total(stores, True, "cost"),
        local_load_requests=total(loads, True, "requests"),
        local_store_requests=total(stores, True, "requests"),
        conflicts=total(loads + stores, True, "conflicts"),
        exact=explanation.group_count == len(explanation.groups) or _alike(explanation),
        constant_requests=summed(constant, "requests"),
        constant_cost=summed(constant, "cost"),
        private_requests=summed(explanation.private_accesses, "requests"),
        private_sectors=summed(explanation.private_accesses, "cost"),
        atomic_requests=summed(atomic, "requests"),
        atomic_updates=summed(atomic, "updates"),
        atomic_turns=summed(atomic, "turns"),
    )


def _alike(explanation: Explanation) -> bool:
    """Whether all executed groups did the same. The first, a middle and the last one are among them."""
    for access in explanation.accesses:
        costs = {(requests, cost) for _, requests, cost in access.by_group}
        if len(costs) > 1 or len(access.by_group) != len(explanation.groups):
            return False
    return True


_ROWS = (
    ("{pieces} loaded from global memory", "global_load_sectors"),
    ("{pieces} stored to global memory", "global_store_sectors"),
    ("load requests to global memory", "global_load_requests"),
    ("{passes} of loads from local memory", "local_load_wavefronts"),
    ("{passes} of stores to local memory", "local_store_wavefronts"),
    ("{passes} lost to bank conflicts", "conflicts"),
    ("{constants} of constant memory", "constant_cost"),
    ("{pieces} of private arrays, off-chip", "private_sectors"),
    ("turns of atomic updates", "atomic_turns"),
)


def changes(before: Explanation, after: Explanation) -> list[str]:
    """What changed since the kernel before, in sentences. Both must have solved the same problem."""
    old, new = totals(before), totals(after)
    lines = []
    for template, name in _ROWS:
        words = template.format(
            passes=after.model.local_passes, pieces=after.model.pieces, constants=after.model.constant_pieces
        )
        was, now = getattr(old, name), getattr(new, name)
        if was == now:
            continue
        if was == 0:
            lines.append(f"{words}: {now:,}, before none")
        elif now == 0:
            lines.append(f"{words}: none, before {was:,}")
        else:
            ratio = was / now if now < was else now / was
            lines.append(f"{words}: {now:,}, before {was:,} ({ratio:.3g} times {'fewer' if now < was else 'more'})")
    barriers = before.profile.barriers, after.profile.barriers
    if barriers[0] != barriers[1]:
        lines.append(f"barriers of a work-group: {barriers[1]}, before {barriers[0]}")
    estimate = "" if old.exact and new.exact else " (scaled up from the groups that were run)"
    groups = "in the only work-group" if before.group_count == after.group_count == 1 else "in all work-groups together"
    return [f"against {before.name}, {groups}{estimate}:", *(f"  {line}" for line in lines)]
