"""Compares two records row by row: ratios of medians, with the spread of both."""

from dataclasses import dataclass

from ..core.records import Record, Row
from ..errors import RecordError


@dataclass(frozen=True)
class Comparison:
    """A row that both records have. Above 1 the second is faster. `low` and `high` come from the 20th and 80th percentiles
    of both."""

    name: str
    problem: str
    ratio: float
    low: float
    high: float

    @property
    def distinct(self) -> bool:
        """Whether the difference is larger than the spread."""
        return self.low > 1.0 or self.high < 1.0

    def __str__(self) -> str:
        verdict = "" if self.distinct else "  (within the spread)"
        return f"{self.name:36} {self.problem:32} {self.ratio:6.2f}x  [{self.low:.2f} .. {self.high:.2f}]{verdict}"


def compare(first: Record, second: Record) -> list[Comparison]:
    """The rows that both records measured in times above 0; RecordError if there is none."""
    known = {(row.label, row.problem): row for row in first.rows if row.comparable}
    pairs = [(known[key], row) for row in second.rows if row.comparable and (key := (row.label, row.problem)) in known]
    if not pairs:
        raise RecordError(
            f"'{first.title}' and '{second.title}' have no measured row in common: the first has {_problems(first)}, "
            f"the second {_problems(second)}; measure both at the same sizes"
        )
    return [_compare_rows(*pair) for pair in pairs]


def heading(first: Record, second: Record) -> str:
    """What the lines of a comparison mean."""
    devices = (record.environment.device.label for record in (first, second))
    return f"{' -> '.join(devices)}: ratio of medians [p20 .. p80]; above 1 the second is faster"


def _problems(record: Record) -> str:
    """The problems that a record measured."""
    return ", ".join(dict.fromkeys(row.problem for row in record.rows if row.comparable)) or "none"


def _compare_rows(first: Row, second: Row) -> Comparison:
    a, b = first.samples, second.samples
    ratio = a.median / b.median
    return Comparison(
        first.label,
        first.problem,
        ratio,
        a.quantile(0.2) / b.quantile(0.8),
        a.quantile(0.8) / b.quantile(0.2),
    )
