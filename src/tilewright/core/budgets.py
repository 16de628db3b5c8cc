"""Budgets of a kernel: what a check allows. In the head of its file, or right above the kernel:
`// tilewright: max conflicts 1, max sectors A 4, no race`; in a TOML file:
`budget = { conflicts = 1, sectors.A = 4, race = 0 }`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, UnknownName
from .heads import read_heads
from .kernel_options import is_budget

# What is measured, and what each limit means when it is not exceeded.
MEASURES: dict[str, str] = {
    "conflicts": "the worst bank conflict of a local access: 4 for a 4-way conflict, 1 without",
    "sectors": "the most sectors that an access to global memory moves with one request, on average",
    "moved_bytes": "bytes of global memory that the requests of the launch move, in whole sectors",
    "faults": "faults of any kind",
    "race": "races within or between work-groups",
    "bounds": "accesses out of bounds, by wild pointers, and writes to read-only memory",
    "uninitialised": "reads of memory that was never set",
}
PER_BUFFER = ("conflicts", "sectors")
LEAST = {"conflicts": 1.0}  # what "no conflicts" means; for the others it is 0


@dataclass(frozen=True)
class Budget:
    """The most that a measure may be. `buffer` is "" for all buffers. `file` and `line` say where it is written."""

    measure: str
    limit: float
    buffer: str = ""
    file: str = ""
    line: int = 1

    @property
    def name(self) -> str:
        """ "sectors A"."""
        return f"{self.measure} {self.buffer}".rstrip()


def read_budgets(text: str, file: str, line: int = 1) -> tuple[Budget, ...]:
    """Budgets between commas: "max conflicts 1, max sectors A 4, no race". InvalidInput, with the place, for other words."""
    return tuple(_read(each.split(), file, line) for each in text.split(","))


def _read(words: list[str], file: str, line: int) -> Budget:
    refusal = InvalidInput(
        f"{file}:{line}: {' '.join(words)!r} is no budget: write max MEASURE NUMBER, max MEASURE BUFFER NUMBER or no MEASURE, "
        "such as max sectors A 4"
    )
    if words[:1] == ["no"] and len(words) == 2:
        return _budget(words[1], "", LEAST.get(words[1], 0.0), file, line)
    if words[:1] != ["max"] or not 3 <= len(words) <= 4:
        raise refusal
    try:
        limit = float(words[-1])
    except ValueError:
        raise refusal from None
    return _budget(words[1], words[2] if len(words) == 4 else "", limit, file, line)


def _budget(measure: str, buffer: str, limit: Any, file: str, line: int) -> Budget:
    if measure not in MEASURES:
        raise UnknownName(f"measure of a budget ({file}:{line})", measure, MEASURES)
    if buffer and measure not in PER_BUFFER:
        raise InvalidInput(f"{file}:{line}: {measure} {buffer}: only {' and '.join(PER_BUFFER)} are measured by buffer")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit) or limit < 0:
        raise InvalidInput(f"{file}:{line}: {measure} = {limit!r}: a limit is a number of at least 0")
    return Budget(measure, float(limit), buffer, file, line)


def budgets_of_table(table: Mapping[str, Any], file: str, line: int = 1) -> tuple[Budget, ...]:
    """Budgets of a TOML table: conflicts = 1, sectors = { A = 4 }. InvalidInput or UnknownName for anything else."""
    found = []
    for measure, limit in table.items():
        limits = limit.items() if isinstance(limit, Mapping) else [("", limit)]
        found += [_budget(measure, buffer, each, file, line) for buffer, each in limits]
    return tuple(found)


def head_budgets(path: Path, entry: str | None = None) -> tuple[Budget, ...]:
    """The budgets in the first comment lines of a kernel's file, and in the comment right above the `entry`, which win."""
    heads = read_heads(path)
    read = [
        each
        for line, text in (*heads.shared, *heads.of(entry))
        if is_budget(text)
        for each in read_budgets(text, str(path), line)
    ]
    return tuple({each.name: each for each in read}.values())
