"""Where the cost of a kernel lies: sums for each line of its source, in each memory."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...core.language import Sentence
from ..explain.clc.lexer import Position
from ..explain.explanation import Explanation
from ..explain.profile import LineAccess
from ..explain.terms import term

Place = tuple[str, int]  # a file and a line of it


@dataclass(frozen=True)
class Memory:
    """A memory with a column of its own. `unit` is what its accesses cost."""

    key: str
    title: str
    unit: str


@dataclass(frozen=True)
class Cost:
    """The accesses of a line to one memory, over the whole NDRange: requests, their cost, and the least cost possible."""

    requests: int = 0
    cost: int = 0
    least: int = 0


def memories_of(explanation: Explanation) -> list[Memory]:
    """The memories that a kernel uses, in the order of the columns."""
    used = {each.space for each in (*explanation.accesses, *explanation.private_accesses)}
    names = [*(space for space in ("global", "local") if space in used), *sorted(used - {"global", "local"})]
    model = explanation.model
    units = {"local": model.local_passes, "constant": model.constant_pieces, "image": Sentence("not counted")}
    titles = {"private": Sentence("private (off-chip)")}
    return [Memory(each, titles.get(each, term(each)), units.get(each, model.pieces)) for each in names]


def costs_of(accesses: Iterable[LineAccess], factor: float) -> dict[Place, dict[str, Cost]]:
    """The costs of each line by memory. `factor` is the number of all work-groups over those that were run."""
    found: dict[Place, dict[str, Cost]] = {}
    for each in accesses:
        line = found.setdefault((each.position.file, each.position.line), {})
        before = line.get(each.space, Cost())
        line[each.space] = Cost(before.requests + each.requests, before.cost + each.cost, before.least + each.ideal)
    return {place: {memory: _scaled(cost, factor) for memory, cost in line.items()} for place, line in found.items()}


def _scaled(cost: Cost, factor: float) -> Cost:
    return Cost(round(cost.requests * factor), round(cost.cost * factor), round(cost.least * factor))


def positions_of(explanation: Explanation) -> list[Position]:
    """Where the source moves data or has findings."""
    accesses = (*explanation.accesses, *explanation.private_accesses)
    return [*(each.position for each in accesses), *(each.position for each in explanation.findings)]


def files_of(explanation: Explanation) -> list[str]:
    """The files that the page shows: the kernel's own, and others in which it moves data or has findings."""
    files = [explanation.entry_position.file, *(each.file for each in positions_of(explanation))]
    return list(dict.fromkeys(files))
