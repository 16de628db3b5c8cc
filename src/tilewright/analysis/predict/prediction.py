"""The record of a prediction, and its text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.numbers import figure
from ...core.shown import Shown


def seconds_text(seconds: float) -> str:
    """ "12.3 us" or "4.56 ms"."""
    return f"{figure(1e6 * seconds)} us" if seconds < 1e-3 else f"{figure(1e3 * seconds)} ms"


@dataclass(frozen=True)
class Term:
    """One bound: what the launch would take if nothing else limited it."""

    name: str
    seconds: float


@dataclass(frozen=True, repr=False)
class Prediction(Shown):
    """The time of a kernel on a device that need not be here. `seconds` lies in `low` to `high`; `terms` are the bounds, the
    largest first. Sizes are bytes of the whole launch; `l1_hits` and `l2_hits` are parts of the sectors asked for."""

    kernel: str
    problem: str
    device: str
    title: str
    seconds: float
    low: float
    high: float
    launch_seconds: float
    terms: tuple[Term, ...]
    l1_hits: float
    l2_hits: float
    l2_bytes: int
    dram_read_bytes: int
    dram_written_bytes: int
    cold_dram_read_bytes: int
    cold_l2_hits: float
    footprint_bytes: int
    waves: float
    resident_groups: int
    notes: tuple[str, ...] = ()

    @property
    def limiter(self) -> Term:
        return self.terms[0]

    @property
    def runner_up(self) -> Term:
        return self.terms[1]

    def __str__(self) -> str:
        return "\n".join(report(self))

    def one_line(self) -> str:
        return f"{self.kernel} on {self.title}: {seconds_text(self.seconds)}, limited by {self.limiter.name}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each bound."""
        return [
            {"kernel": self.kernel, "device": self.device, "bound": each.name, "seconds": each.seconds}
            for each in self.terms
        ]


def report(found: Prediction) -> Iterator[str]:
    """The lines of a prediction."""
    yield f"{found.kernel}, {found.problem}, on {found.title}: predicted, not measured"
    yield f"  time          {seconds_text(found.seconds)}, between {seconds_text(found.low)} and {seconds_text(found.high)}"
    yield f"  limited by    {found.limiter.name}, then {found.runner_up.name}"
    yield f"  caches        L1 serves {found.l1_hits:.0%} of the sectors loaded, L2 {found.l2_hits:.0%} of the rest"
    yield (
        f"  memory        {(found.dram_read_bytes + found.dram_written_bytes) / 1e6:,.4g} MB move; the kernel touches "
        f"{found.footprint_bytes / 1e6:,.4g} MB"
    )
    yield f"  work-groups   {found.resident_groups} on a multiprocessor, {found.waves:.3g} waves"
    yield ""
    yield "  bound                    time at least"
    for each in found.terms:
        if each.seconds >= 0.02 * found.terms[0].seconds:
            yield f"  {each.name:24} {seconds_text(each.seconds):>12}"
    yield f"  {'launch':24} {seconds_text(found.launch_seconds):>12}  added"
    for note in found.notes:
        yield f"note: {note}"
