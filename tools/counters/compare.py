"""Compares predictions and counters line by line, and says what the compiler did where they differ."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tilewright.analysis.explain import Explanation

from .counterparts import Instruction

Place = tuple[str, int, str, str]  # file, line, "load" or "store", "global" or "local"
Row = Sequence[int]  # offset, then the counters in the order of device.COUNTERS
EQUAL, MERGED, MOVED, FEWER, UNEXPLAINED = "equal", "merged", "moved", "fewer", "unexplained"


@dataclass
class Traffic:
    """What one line does: requests, sectors (global) or wavefronts (local), and bytes that lanes asked for. `opcodes`
    says how often each instruction was executed, `widest` the most bytes of one access."""

    requests: int = 0
    cost: int = 0
    nbytes: int = 0
    widest: int = 0
    opcodes: dict[str, int] = field(default_factory=dict)

    def add(self, requests: int, cost: int, nbytes: int, size: int, opcode: str = "") -> None:
        self.requests += requests
        self.cost += cost
        self.nbytes += nbytes
        self.widest = max(self.widest, size)
        if opcode:
            self.opcodes[opcode] = self.opcodes.get(opcode, 0) + requests

    def equals(self, other: "Traffic") -> bool:
        """Same cost for the same bytes. Requests may differ: instructions whose lanes are all switched off count, too."""
        return (self.cost, self.nbytes) == (other.cost, other.nbytes)


@dataclass(frozen=True)
class Line:
    """One line of source in one launch: predicted and counted, and what is to be said of it. `narrow` says that its
    vload or vstore is predicted as single elements; `volatile` the verdict with volatile accesses, "" if there is none."""

    place: Place
    predicted: Traffic
    counted: Traffic
    narrow: bool
    verdict: str
    volatile: str = ""


def predicted_traffic(explanation: Explanation) -> dict[Place, Traffic]:
    found: dict[Place, Traffic] = defaultdict(Traffic)
    for each in explanation.accesses:
        place = (each.position.file, each.position.line, each.operation, "local" if each.is_local else "global")
        found[place].add(each.requests, each.cost, each.lane_bytes, each.size)
    return dict(found)


def counted_traffic(rows: Sequence[Row], instructions: Sequence[Instruction]) -> dict[Place, Traffic]:
    """The counters of one launch by source line. What moved data must be a memory instruction of the listing."""
    by_offset = {each.offset: each for each in instructions}
    found: dict[Place, Traffic] = defaultdict(Traffic)
    for offset, executed, threads, sectors, _, wavefronts, _ in rows:
        each = by_offset.get(offset)
        if each is None:
            if sectors or wavefronts:
                raise AssertionError(f"the instruction at {offset:#x} moved data but is no access in the listing")
            continue
        file, line = each.places[0] if each.places else ("", 0)
        cost = sectors if each.space == "global" else wavefronts
        found[file, line, each.operation, each.space].add(executed, cost, threads * each.size, each.size, each.opcode)
    return dict(found)


def compare(wide: Explanation, narrow: Explanation, counted: Mapping[Place, Traffic]) -> list[Line]:
    """Every line of a launch. vload and vstore are predicted as wide accesses or as single elements, whichever the
    compiler took: it widens them where it can prove the alignment."""
    both = predicted_traffic(wide), predicted_traffic(narrow)
    lines: list[Line] = []
    for place in sorted(set(both[0]) | set(counted)):
        got = counted.get(place, Traffic())
        first, second = (each.get(place, Traffic()) for each in both)
        split = not first.equals(second) and not first.equals(got)
        expected = second if split else first
        lines.append(Line(place, expected, got, split, EQUAL if expected.equals(got) else UNEXPLAINED))
    return [line if line.verdict == EQUAL else judged(line, lines) for line in lines]


def judged(line: Line, lines: Sequence[Line]) -> Line:
    """What the compiler did to a line whose counts differ, as far as the counts themselves prove it."""
    expected, got = line.predicted, line.counted
    together = [each for each in lines if each.verdict != EQUAL and each.place[2:] == line.place[2:]]
    verdict = UNEXPLAINED
    if expected.nbytes == got.nbytes and got.widest > expected.widest and got.requests < expected.requests:
        verdict = MERGED
    elif len(together) > 1 and sums(together, "predicted") == sums(together, "counted"):
        verdict = MOVED
    elif got.nbytes < expected.nbytes and got.cost <= expected.cost:
        verdict = FEWER
    elif expected.nbytes == got.nbytes and got.widest > expected.widest and got.cost < expected.cost:
        verdict = MERGED
    return Line(line.place, expected, got, line.narrow, verdict)


def sums(lines: Sequence[Line], which: str) -> tuple[int, int]:
    chosen: list[Traffic] = [getattr(each, which) for each in lines]
    return sum(each.cost for each in chosen), sum(each.nbytes for each in chosen)


def with_volatile(lines: Sequence[Line], volatile: Sequence[Line]) -> list[Line]:
    """`lines` with the verdicts of the same launch compiled with volatile accesses."""
    verdicts = {each.place: each.verdict for each in volatile}
    return [
        Line(each.place, each.predicted, each.counted, each.narrow, each.verdict, verdicts.get(each.place, ""))
        for each in lines
    ]


def line_record(line: Line) -> list[Any]:
    """A line as it stands in the record."""
    file, number, operation, space = line.place
    expected, got = line.predicted, line.counted
    return [
        file, number, operation, space, [expected.requests, expected.cost, expected.nbytes],
        [got.requests, got.cost, got.nbytes], got.opcodes, line.verdict, line.volatile,
    ]  # fmt: skip
