"""The findings: each kind of fault at each place once, with a count and one example."""

from dataclasses import dataclass, replace

from ....core.language import Sentence
from ..clc.lexer import Position

RACE = Sentence("data race")
BENIGN = Sentence("benign race")
GROUPS = Sentence("race between groups")
BENIGN_GROUPS = Sentence("benign race between groups")
BOUNDS = Sentence("out of bounds")
UNINITIALISED = Sentence("uninitialised read")
DIVERGENT = Sentence("divergent barrier")
COLLECTIVE = Sentence("divergent collective")
NO_SOURCE = Sentence("value of an inactive work-item")
MISALIGNED = Sentence("misaligned access")
READ_ONLY = Sentence("write to read-only memory")
WILD = Sentence("wild pointer")
ASYNC = Sentence("async copy")
OVERFLOW = Sentence("integer overflow")
DIVISION = Sentence("division by zero")
UNUSED = Sentence("unused unset value")
COUNTED = Sentence("race ordered by a counter")
SHIFT = Sentence("shift")
CONVERSION = Sentence("conversion out of range")
RACES = (RACE, GROUPS, BENIGN, BENIGN_GROUPS, COUNTED)
WITHIN, BETWEEN = "within a sub-group", "between sub-groups"  # the scope of a race inside a group
NOTES = (BENIGN, BENIGN_GROUPS, UNUSED, COUNTED, SHIFT, CONVERSION, NO_SOURCE)


class Irregular(Exception):
    """An irregularity in a batch of iterations, which must then run one by one."""


@dataclass(frozen=True)
class Finding:
    """One kind of fault at one place. `count` is its number of occurrences, `other` is the second access of a race, and
    `example` is the work-item and bytes of the first occurrence. `order` counts the findings by their first occurrence: what
    happened first may be the cause of the rest. The texts are English, and Sentences: what is made of them is translated.

    Of a race, `subject` is the memory, `scope` says whether it is only WITHIN sub-groups or also BETWEEN those of a group (""
    between groups), and `after` is the line of the barrier before both accesses, 0 before the first barrier."""

    kind: str
    position: Position
    text: str
    example: str = ""
    other: Position | None = None
    count: int = 1
    order: int = 0
    subject: str = ""
    scope: str = ""
    after: int = 0

    @property
    def is_race(self) -> bool:
        return self.kind in RACES

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
        self._found: dict[tuple[str, Position, str, Position | None], Finding] = {}
        self.closed = False  # while iterations are tried together, which are irregular if anything is found

    def add(
        self,
        kind: str,
        position: Position,
        text: str,
        example: str = "",
        other: Position | None = None,
        count: int = 1,
        where: tuple[str, str, int] = ("", "", 0),
    ) -> None:
        """`where` is a race's subject, its scope, and the line of the barrier before it."""
        if self.closed:
            raise Irregular
        subject, scope, after = where
        new = Finding(kind, position, text, example, other, 0, len(self._found), subject, scope, after)
        entry = self._found.setdefault((kind, position, text, other), new)
        wider = BETWEEN if BETWEEN in (scope, entry.scope) else entry.scope
        self._found[kind, position, text, other] = replace(entry, count=entry.count + count, scope=wider)

    def all(self) -> tuple[Finding, ...]:
        """In the order of the source; faults before notes at one place."""
        return tuple(
            sorted(self._found.values(), key=lambda each: (each.position, not each.is_fault, each.kind, each.text))
        )
