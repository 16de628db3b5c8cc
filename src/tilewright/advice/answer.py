"""The answer of `why`: what was measured, the bound, the ranked causes. It prints itself, and goes to JSON."""

from dataclasses import dataclass
from typing import Any

from ..analysis.explain.drawing.source import SourceLine
from ..analysis.inspect.record import Inspection
from ..analysis.marked_lines import Mark, MarkedLine, marked, plain_text
from ..core.device import DeviceInfo, Peaks
from ..core.numbers import figure
from ..core.records import Fault, Row
from ..core.shown import Shown
from ..measurement.roofline import Limit, Roofline
from .cause import Cause


@dataclass(frozen=True, repr=False)
class Answer(Shown):
    """Why a kernel is slow or wrong. `print` it to read it; `tilewright why --html` draws it.

    `row` is the measurement, None if a device model took the device's place: `limits` and causes then have the rates of a
    typical device, and no time is printed. `baseline` is the fastest other library, if its time can be trusted. `causes`
    are ranked by their estimated gain. `faults` were found at the small size `counted_at`. `not_seen` are sentences about
    what was not looked at. `source` are the kernel's lines with the cost of each access.
    """

    kernel: str
    config: str
    problem: str
    dtype: str
    device: DeviceInfo
    row: Row | None
    baseline: Row | None
    peaks: Peaks
    limits: tuple[Limit, ...]
    causes: tuple[Cause, ...]
    faults: tuple[Fault, ...]
    counted_at: str
    rules: str
    not_seen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    roofline: Roofline | None = None
    source: tuple[SourceLine, ...] = ()
    inspection: Inspection | None = None

    @property
    def measured(self) -> bool:
        return self.row is not None and self.row.measured

    @property
    def failed(self) -> bool:
        """Whether the kernel is wrong or did not run: nothing is said about its speed then."""
        return not self.row.passed if self.row is not None else bool(self.faults)

    @property
    def binding(self) -> Limit | None:
        """The longest bound."""
        return max(self.limits, key=lambda each: each.seconds, default=None)

    @property
    def is_far(self) -> bool:
        """Whether it was measured and reaches less than half of its longest bound."""
        limit = self.binding
        return (
            self.row is not None
            and self.row.measured
            and limit is not None
            and 2 * limit.seconds < self.row.samples.median
        )

    def __str__(self) -> str:
        return plain_text(report(self))

    def one_line(self) -> str:
        if self.failed or not self.causes:
            return f"{self.kernel}, {self.problem}, {'wrong' if self.failed else 'no large cause'}"
        first = self.causes[0]
        return f"{self.kernel}, {self.problem}, {first.kind}: at most {times_words(first.gain)}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each cause, with times in seconds; None where nothing was measured."""
        return [
            {
                "kernel": self.kernel, "problem": self.problem, "cause": each.kind, "gain": each.gain, "part": each.part,
                "seconds": each.seconds if self.measured else None, "lines": " ".join(str(line.number) for line in each.lines),
                "counted": each.counted, "remedy": each.remedy, "rung": each.rung,
            }
            for each in self.causes
        ]  # fmt: skip


WORST = 6  # causes that are printed; the rest are named in one line
NOTHING = "no cause is known that would gain 5% or more by itself"


def report(answer: Answer) -> list[MarkedLine]:
    """The answer's lines: what was measured, then faults or the bound and its causes, then what was not looked at."""
    lines = [MarkedLine(headline(answer), Mark.HEADING), *marked(answer.notes, Mark.NOTE)]
    if answer.failed:
        lines += failure_lines(answer)
    else:
        lines += [*fault_lines(answer), MarkedLine(bound_sentence(answer)), MarkedLine(""), *cause_lines(answer)]
    unseen = [MarkedLine(f"not looked at: {each}", Mark.NOTE) for each in answer.not_seen]
    if answer.counted_at:
        words = f"counted on {answer.counted_at}, by the rules of {answer.rules}; every gain is an estimate and at most"
        unseen.append(MarkedLine(f"{words} what is said, because fixing one cause shows the next", Mark.NOTE))
    return [*lines, *([MarkedLine(""), *unseen] if unseen else [])]


def headline(answer: Answer) -> str:
    """What was measured, in one line."""
    head = f"{answer.kernel} ({answer.config}): {answer.problem}"
    if answer.row is None:
        return f"{head}, on {answer.device.name}: not measured"
    row = answer.row
    if not row.measured:
        return f"{head}, on {answer.device.label}: {row.status}"
    parts = [
        f"{head}, on {answer.device.label}: right, {time_words(row.samples.median)}, {figure(row.rate)} {row.unit}"
    ]
    peak = answer.peaks.gflops.get(answer.dtype, 0.0) if row.flops else answer.peaks.copy_gbs
    if peak:
        parts.append(f"{figure(100 * row.rate / peak)}% of the measured peak")
    if answer.baseline is not None and answer.baseline.rate:
        parts.append(f"{figure(100 * row.rate / answer.baseline.rate)}% of {answer.baseline.name}")
    return ", ".join(parts)


def failure_lines(answer: Answer) -> list[MarkedLine]:
    """Why the kernel is wrong: the obvious cause first, then the faults that `explain` found."""
    row = answer.row
    explained = row.explained.splitlines() if row is not None and row.explained else []
    reason = row.reason.strip().splitlines() if row is not None else []
    causes = [each for each in explained if each.startswith("likely cause")]
    rest = [each for each in explained if each not in causes]
    lines = [*marked(causes, Mark.FAULT), *fault_lines(answer), *marked(reason, Mark.FAULT), *marked(rest)]
    if row is None:
        lines.append(MarkedLine("nothing is said about its speed before these faults are gone"))
    return lines


def fault_lines(answer: Answer) -> list[MarkedLine]:
    """A line for each fault."""
    return [MarkedLine(f"fault: {each}", Mark.FAULT) for each in answer.faults]


def bound_sentence(answer: Answer) -> str:
    """What limits the kernel at most, in one sentence."""
    limit = answer.binding
    if limit is None or not limit.seconds:
        return "no bound is known: the device has no measured peak for this type"
    if answer.row is None:
        return f"on a typical device its longest part is {limit.name}"
    work = answer.row.flops or answer.row.nbytes
    best = f"{figure(work / limit.seconds * 1e-9)} {answer.row.unit}"
    reached = 100 * limit.seconds / answer.row.samples.median
    part = f"reaches {figure(reached)}% of that" if reached < 100 else "is at that bound"
    return f"bound: at most {best}, limited by {limit.name}; it {part}"


def cause_lines(answer: Answer) -> list[MarkedLine]:
    """The causes in order, each with its lines and its remedy."""
    if not answer.causes:
        return [MarkedLine(nothing_found(answer))]
    lines: list[MarkedLine] = []
    for place, cause in enumerate(answer.causes[:WORST], 1):
        gain = f"at most {times_words(cause.gain)} if only this is fixed"
        lines.append(MarkedLine(f"{place}. {cause.kind}: {gain}", Mark.COST))
        lines += [MarkedLine(f"   {each}", Mark.CODE) for each in cause.lines[:4]]
        lines.append(MarkedLine(f"   counted: {cause.counted}"))
        lines.append(MarkedLine(f"   costs:   {cost_words(answer, cause)}"))
        show = f" ({cause.show})" if cause.show else ""
        lines.append(MarkedLine(f"   do this: {cause.remedy}{show}", Mark.LESS))
    if rest := answer.causes[WORST:]:
        names = ", ".join(f"{each.kind} ({times_words(each.gain)})" for each in rest)
        lines.append(MarkedLine(f"smaller causes: {names}"))
    return lines


def nothing_found(answer: Answer) -> str:
    """What is said without a cause."""
    limit = answer.binding
    if limit is None:
        return NOTHING
    if answer.is_far:
        return f"{NOTHING}; what keeps it from its bound was not looked at: latency, clocks, misses of the caches"
    return f"{NOTHING}; the kernel is limited by {limit.name}, and by what was not looked at: latency, clocks, the caches' hits"


def cost_words(answer: Answer, cause: Cause) -> str:
    """What a cause costs: time and share, or the share alone if nothing was measured."""
    share = f"{figure(100 * cause.part)}%"
    if not answer.measured:
        return f"at most about {share} of the time on a typical device"
    return f"at most about {time_words(cause.seconds)}, {share} of the time"


def times_words(gain: float) -> str:
    """A factor, such as "3.1x"."""
    return f"{gain:,.0f}x" if gain >= 10 else f"{gain:.2g}x" if gain >= 1.095 else f"{gain:.2f}x"


def time_words(seconds: float) -> str:
    """A time with its unit."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{figure(seconds * factor)} {unit}"
    return f"{figure(seconds * 1e9)} ns"
