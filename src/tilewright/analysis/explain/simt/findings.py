"""The findings: each kind of fault at each place once, with a count and one example."""

from dataclasses import dataclass

from ..clc.lexer import Position

RACE = "data race"
BENIGN = "benign race"
GROUPS = "race between groups"
BENIGN_GROUPS = "benign race between groups"
BOUNDS = "out of bounds"
UNINITIALISED = "uninitialised read"
DIVERGENT = "divergent barrier"
COLLECTIVE = "divergent collective"
NO_SOURCE = "value of an inactive work-item"
MISALIGNED = "misaligned access"
READ_ONLY = "write to read-only memory"
WILD = "wild pointer"
ASYNC = "async copy"
OVERFLOW = "integer overflow"
DIVISION = "division by zero"
UNUSED = "unused unset value"
COUNTED = "race ordered by a counter"
SHIFT = "shift"
CONVERSION = "conversion out of range"
NOTES = (BENIGN, BENIGN_GROUPS, UNUSED, COUNTED, SHIFT, CONVERSION, NO_SOURCE)


class Irregular(Exception):
    """An irregularity in a batch of iterations, which must then run one by one."""


@dataclass(frozen=True)
class Finding:
    """One kind of fault at one place. `count` is its number of occurrences, `other` is the second access of a race, and
    `example` is the work-item and bytes of the first occurrence."""

    kind: str
    position: Position
    text: str
    example: str = ""
    other: Position | None = None
    count: int = 1

    @property
    def is_fault(self) -> bool:
        """False for findings that are allowed: benign races, races ordered by a counter, unset values without effect, shifts
        and conversions with a result that OpenCL C or the device defines."""
        return self.kind not in NOTES

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        example = f"; {self.example}" if self.example else ""
        return f"{self.position}: {self.kind}: {self.text}{example}{times}"


class Findings:
    """Collects findings."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Position, str, Position | None], list[object]] = {}
        self.closed = False  # while iterations are tried together, which are irregular if anything is found

    def add(
        self, kind: str, position: Position, text: str, example: str = "", other: Position | None = None, count: int = 1
    ) -> None:
        if self.closed:
            raise Irregular
        entry = self._found.setdefault((kind, position, text, other), [example, 0])
        entry[1] += count  # type: ignore[operator]

    def all(self) -> tuple[Finding, ...]:
        """In the order of the source; faults before notes at one place."""
        found = [
            Finding(kind, position, text, str(example), other, int(count))  # type: ignore[call-overload]
            for (kind, position, text, other), (example, count) in self._found.items()
        ]
        return tuple(sorted(found, key=lambda each: (each.position, not each.is_fault, each.kind, each.text)))
