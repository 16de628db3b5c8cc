"""Sums of a kernel's traffic over its whole NDRange, and the changes between two kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...core.language import translated, translated_count
from ...core.numbers import figure
from ..marked_lines import Mark, MarkedLine
from .explanation import Explanation
from .models import Model
from .profile import LineAccess


@dataclass(frozen=True)
class Totals:
    """Traffic of a whole NDRange. `exact` if all groups were run, or if the executed groups are all alike. Otherwise the
    counts are scaled up from the executed groups.

    Constant memory is not among global memory: `constant_cost` is in addresses or sectors, as the model counts. Private
    arrays that lie off-chip have their own sums, too. Atomic updates of global memory are among its stores; `atomic_turns`
    says how often work-items of one sub-group had to wait for each other at one place, the first of them included. `new_lines`
    is of CPUs: how often a work-item goes on to another cache line at one place of the source.
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
    new_lines: int = 0

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
        new_lines=summed(explanation.accesses, "new_lines"),
    )


def _alike(explanation: Explanation) -> bool:
    """Whether all executed groups did the same. The first, a middle and the last one are among them."""
    for access in explanation.accesses:
        costs = {(requests, cost) for _, requests, cost in access.by_group}
        if len(costs) > 1 or len(access.by_group) != len(explanation.groups):
            return False
    return True


def _rows(model: Model) -> list[tuple[str, str]]:
    """What the sums are called, and their fields in Totals."""
    pieces, passes = model.pieces, model.local_passes
    return [
        (translated("{pieces} loaded from global memory", pieces=pieces), "global_load_sectors"),
        (translated("{pieces} stored to global memory", pieces=pieces), "global_store_sectors"),
        (translated("load requests to global memory"), "global_load_requests"),
        (translated("steps to another cache line of global memory"), "new_lines"),
        (translated("{passes} of loads from local memory", passes=passes), "local_load_wavefronts"),
        (translated("{passes} of stores to local memory", passes=passes), "local_store_wavefronts"),
        (translated("{passes} lost to bank conflicts", passes=passes), "conflicts"),
        (translated("{pieces} of constant memory", pieces=model.constant_pieces), "constant_cost"),
        (translated("{pieces} of private arrays, off-chip", pieces=pieces), "private_sectors"),
        (translated("turns of atomic updates"), "atomic_turns"),
    ]


def changes(before: Explanation, after: Explanation) -> list[str]:
    """What changed since the kernel before, in sentences. Both must have solved the same problem."""
    return [each.text for each in marked_changes(before, after)]


def marked_changes(before: Explanation, after: Explanation) -> list[MarkedLine]:
    """The same, each with whether it became less or more."""
    old, new = totals(before), totals(after)
    lines = []
    for words, name in _rows(after.model):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            lines.append(_change(words, was, now))
    barriers = before.profile.barriers, after.profile.barriers
    if barriers[0] != barriers[1]:
        text = translated("barriers of a work-group: {now}, before {was}", now=barriers[1], was=barriers[0])
        lines.append(MarkedLine(text))
    head = MarkedLine(_against(before, after, old.exact and new.exact))
    return [head, *(replace(each, text=f"  {each.text}") for each in lines)]


def _against(before: Explanation, after: Explanation, exact: bool) -> str:
    """The line above the changes."""
    if before.group_count == after.group_count == 1:
        if exact:
            return translated("against {kernel}, in the only work-group:", kernel=before.name)
        return translated(
            "against {kernel}, in the only work-group (scaled up from the groups that were run):", kernel=before.name
        )
    if exact:
        return translated("against {kernel}, in all work-groups together:", kernel=before.name)
    return translated(
        "against {kernel}, in all work-groups together (scaled up from the groups that were run):", kernel=before.name
    )


def _change(words: str, was: int, now: int) -> MarkedLine:
    if was == 0:
        return MarkedLine(translated("{what}: {now:,}, before none", what=words, now=now))
    if now == 0:
        return MarkedLine(translated("{what}: none, before {was:,}", what=words, was=was))
    ratio = figure(max(was, now) / min(was, now))
    values = {"what": words, "now": now, "was": was, "ratio": ratio}
    if now < was:
        text = translated_count(
            "{what}: {now:,}, before {was:,} ({ratio} time fewer)",
            "{what}: {now:,}, before {was:,} ({ratio} times fewer)",
            ratio, **values,
        )  # fmt: skip
        return MarkedLine(text, Mark.LESS)
    text = translated_count(
        "{what}: {now:,}, before {was:,} ({ratio} time more)",
        "{what}: {now:,}, before {was:,} ({ratio} times more)",
        ratio, **values,
    )  # fmt: skip
    return MarkedLine(text, Mark.MORE)
