"""Compares two records row by row: which is faster, by how much, and whether that is more than the spread."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean
from typing import Any

from ..core.numbers import figure
from ..core.records import Record, Role, Row
from ..errors import RecordError
from .table import heading
from .trust import SINGLE, is_busy


@dataclass(frozen=True)
class Comparison:
    """A row that both records have. Above 1 the second is faster.

    `ratio` is that of median times, or of rates if the problems differ in size. `low` and `high` come from the 20th and
    80th percentiles of both; they are None if a side ran only once, so that its spread is unknown. `is_kernel` is false
    for baselines.
    """

    name: str
    problem: str
    ratio: float
    low: float | None
    high: float | None
    is_kernel: bool = True

    @property
    def has_spread(self) -> bool:
        """Whether the spread is known, so that the difference can be judged."""
        return self.low is not None

    @property
    def distinct(self) -> bool:
        """Whether the difference is larger than the spread. It is not known to be if the spread is unknown."""
        return self.low is not None and self.high is not None and (self.low > 1.0 or self.high < 1.0)

    @property
    def spread(self) -> str:
        """The range of the ratio: "[0.95 .. 1.02]", "[unknown]"."""
        if self.low is None or self.high is None:
            return "[unknown]"
        return f"[{_ratio(self.low)} .. {_ratio(self.high)}]"

    @property
    def verdict(self) -> str:
        """Which side is faster."""
        if not self.has_spread:
            return "(measured once)"
        if not self.distinct:
            return "(within the spread)"
        return "second is faster" if self.ratio > 1 else "first is faster"

    def to_dict(self) -> dict[str, Any]:
        """The fields and `distinct`, for JSON."""
        names = ("name", "problem", "ratio", "low", "high", "is_kernel", "distinct")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        return self.line(len(self.name), self.problem)

    def line(self, width: int, problem: str = "") -> str:
        """A line of a table whose names have `width` columns."""
        return f"{self.name:{width}}  {problem}{times(self.ratio):>9}  {self.spread:18} {self.verdict}"


def times(ratio: float) -> str:
    """A ratio as people read it: "1.25x", "0.00413x"."""
    return f"{_ratio(ratio)}x"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else figure(value)


def compare(first: Record, second: Record, any_size: bool = False) -> list[Comparison]:
    """The rows that both records measured in times above 0; RecordError if there is none.

    With `any_size` rows are paired by name alone, and rates are compared, each at the largest size of its record.
    """
    pairs = _pairs_of_any_size(first, second) if any_size else _pairs(first, second)
    if not pairs:
        advice = (
            "measure the same rungs" if any_size else "measure both at the same sizes, or compare rates by --any-size"
        )
        raise RecordError(
            f"'{first.title}' and '{second.title}' have no measured row in common: the first has {_problems(first)}, "
            f"the second {_problems(second)}; {advice}"
        )
    return [_compare_rows(*pair) for pair in pairs]


def broken(first: Record, second: Record) -> list[Row]:
    """The kernels that the first record measured, and that went wrong in the second."""
    right = {(row.label, row.problem) for row in first.rows if row.comparable}
    return [row for row in second.rows if row.failed and (row.label, row.problem) in right]


def headings(first: Record, second: Record, names: tuple[str, str]) -> list[str]:
    """Both sides with their files ("" for none), devices and sizes, busy machines, a BLAS's variables, and what a ratio means."""
    one, other = (f"{name}: " if name else "" for name in names)
    return [
        f"first   {one}{heading(first)}",
        f"second  {other}{heading(second)}",
        *_busy_lines(first, second),
        *_settings_lines(first, second),
        "ratio of medians [p20 .. p80]; above 1 the second is faster",
    ]


def _busy_lines(first: Record, second: Record) -> Iterator[str]:
    for side, found in (("first", first.environment), ("second", second.environment)):
        if is_busy(found):
            used = f"other programs used {figure(found.others or 0.0)} of {found.cores} cores"
            yield f"the {side} was measured on a busy machine: {used}, so its rates are too low"


def _settings_lines(first: Record, second: Record) -> Iterator[str]:
    """What the sides say of variables that configure a BLAS, if that differs. On GPUs the library does not call NumPy."""
    environments = first.environment, second.environment
    given = [found.blas_settings if found.device.kind == "cpu" else {} for found in environments]
    if any(given) and given[0] != given[1]:
        one, other = (
            "does not say whether any was set" if each is None else f"had {_variables(each) or 'none'}"
            for each in given
        )
        yield (
            f"variables of a BLAS differ: the first {one}, the second {other}; the library's rows obey them where it calls "
            "NumPy, baselines do not"
        )


def _variables(settings: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def table(comparisons: Sequence[Comparison]) -> list[str]:
    """Aligned lines. The problem is left out if all rows have the same: the headings name it."""
    width = max(len(each.name) for each in comparisons)
    several = len({each.problem for each in comparisons}) > 1
    problems = max(len(each.problem) for each in comparisons) if several else 0
    return [each.line(width, f"{each.problem:{problems}}" if several else "") for each in comparisons]


def summary(comparisons: Sequence[Comparison]) -> str:
    """How many kernels are faster on each side, and the geometric mean of their ratios. It names no side where no row does.

    Rows without a known spread are counted apart. The mean is of the others, if there are any.
    """
    kernels = [each for each in comparisons if each.is_kernel] or list(comparisons)
    judged = [each for each in kernels if each.has_spread]
    faster = sum(each.distinct and each.ratio > 1 for each in judged)
    slower = sum(each.distinct and each.ratio < 1 for each in judged)
    unknown = len(kernels) - len(judged)
    mean = math.exp(fmean(math.log(each.ratio) for each in judged or kernels))
    side = "the second is faster" if mean > 1 else "the first is faster" if mean < 1 else "both are equally fast"
    if not faster and not slower:
        side = "no difference is beyond the spread" if judged else "measure longer to know which is faster"
    return (
        f"second faster in {faster} of {len(kernels)} rows, slower in {slower}, within the spread in "
        f"{len(judged) - faster - slower}{f', not judged in {unknown} ({SINGLE})' if unknown else ''}; geometric mean "
        f"{'of the judged ' if unknown and judged else ''}{times(mean)}: {side}"
    )


def _pairs(first: Record, second: Record) -> list[tuple[Row, Row]]:
    known = {(row.label, row.problem): row for row in first.rows if row.comparable}
    return [(known[key], row) for row in second.rows if row.comparable and (key := (row.label, row.problem)) in known]


def _pairs_of_any_size(first: Record, second: Record) -> list[tuple[Row, Row]]:
    """The rows with the most work of each name, where the problem is of the same kind."""
    known, wanted = _largest(first), _largest(second)
    return [(known[key], row) for key, row in wanted.items() if key in known]


def _largest(record: Record) -> dict[tuple[str, str], Row]:
    found: dict[tuple[str, str], Row] = {}
    for row in record.rows:
        key = (row.label, row.unit)
        if row.comparable and (key not in found or row.nbytes > found[key].nbytes):
            found[key] = row
    return found


def _problems(record: Record) -> str:
    """The problems that a record measured."""
    return ", ".join(dict.fromkeys(row.problem for row in record.rows if row.comparable)) or "none"


def _both(first: str, second: str) -> str:
    """Two problems in one text: "gemm 64x64x64 -> 128x128x128 float32"."""
    pairs = list(zip_longest(first.split(" "), second.split(" "), fillvalue=""))
    return " ".join(a if a == b else f"{a} -> {b}" for a, b in pairs)


def _compare_rows(first: Row, second: Row) -> Comparison:
    a, b = first.samples, second.samples
    same = first.problem == second.problem
    work = 1.0 if same else (second.flops or second.nbytes) / (first.flops or first.nbytes)
    known = a.has_spread and b.has_spread
    return Comparison(
        first.label,
        first.problem if same else _both(first.problem, second.problem),
        work * a.median / b.median,
        work * a.quantile(0.2) / b.quantile(0.8) if known else None,
        work * a.quantile(0.8) / b.quantile(0.2) if known else None,
        first.role is Role.KERNEL,
    )
