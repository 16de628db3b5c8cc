"""The table that fills while the library is measured: a line for each problem."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from ..core.records import Record, Row
from ..measurement.progress import Phase
from ..reports.benchmark_table import (
    COLUMNS,
    ENERGY,
    ProblemRows,
    by_problem,
    cells,
    energy,
    is_trusted,
    on_single_runs,
    others,
    summary,
    units,
)
from ..reports.trust import busy_words, is_busy
from .fitting import Column, Line, PrintedRows, drawn

WEIGHTS = {"p20 .. p80": 2, "of the best": 3, "median ratio": 0}
OTHERS_WEIGHT, ENERGY_WEIGHT = 4, 5
# For each of COLUMNS but the first: the characters of its longest usual text.
WIDTHS = (6, 8, 7, 12, len("0.01 .. 12.3"), 11)
RATE_WIDTH = 6


class LiveBenchmark:
    """Shows each problem that `watch` gets. `finish` adds means and remarks. Without a terminal each row is printed once, as
    soon as `so_far` gets the record that has it.

    `longest` is the length of the longest problem's name.
    """

    def __init__(self, console: Console, title: str, sustained: bool, longest: int = 0) -> None:
        self._console, self._title, self._sustained, self._longest = console, title, sustained, longest
        self._printed, self._table = 0, PrintedRows(console)
        self._problems: list[ProblemRows] = []
        self._phase: Phase | None = None
        self._record: Record | None = None
        self._live = Live(console=console, auto_refresh=False, transient=not console.is_terminal)

    def __enter__(self) -> "LiveBenchmark":
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.update(self._drawing() if self._problems else "")
        self._live.__exit__(kind, error, trace)
        if not self._console.is_terminal and self._record is not None and not isinstance(error, BrokenPipeError):
            self.so_far(self._record)
            self._console.print(Group(*self._below(self._record, is_busy(self._record.environment))))

    def watch(self, rows: Sequence[Row]) -> None:
        """Show a problem that was measured."""
        self._problems.append(tuple(rows))
        self._refresh()

    def announce(self, phase: Phase) -> None:
        """Show what is going on."""
        self._phase = phase
        self._refresh()

    def so_far(self, record: Record) -> None:
        """Print the problems that are new in a record, if there is no terminal."""
        if self._console.is_terminal:
            return
        self._problems, busy = by_problem(record), is_busy(record.environment)
        new = self._lines(busy)[self._printed :]
        if not self._printed:
            self._console.print(Group(Text(self._title, style="bold"), *warnings(record, busy)))
        self._printed += len(new)
        if new:
            columns = self._columns()
            rates = [RATE_WIDTH] * (len(columns) - 1 - len(WIDTHS))
            self._table.print(columns, new, [self._longest, *WIDTHS, *rates])

    def finish(self, record: Record) -> None:
        """Show the whole record, with what it says of the machine."""
        self._record, self._problems = record, by_problem(record)

    def _refresh(self) -> None:
        if self._console.is_terminal:
            self._live.update(self._drawing(), refresh=True)

    def _drawing(self) -> Group:
        busy = self._record is not None and is_busy(self._record.environment)
        warned = warnings(self._record, busy) if self._record is not None else []
        parts: list[RenderableType] = [Text(self._title, style="bold"), *warned]
        if self._problems:
            columns, lines = self._columns(), self._lines(busy)
            parts.append(drawn(columns, lines, self._console.width)[0])
        if self._record is None:
            return Group(*parts, *([Text(str(self._phase), style="dim")] if self._phase else []))
        return Group(*parts, *self._below(self._record, busy))

    def _below(self, record: Record, busy: bool) -> list[Text]:
        return [*warnings(record, busy), *(Text(text, style="dim") for text in remarks(record, busy))]

    def _columns(self) -> list[Column]:
        found = [Column(name, place > 0, WEIGHTS.get(name, 0)) for place, name in enumerate(COLUMNS)]
        found += [Column(name, weight=ENERGY_WEIGHT) for name in ENERGY if self._sustained]
        return found + [Column(name, weight=OTHERS_WEIGHT) for name in others(self._problems)]

    def _lines(self, busy: bool) -> list[Line]:
        names = others(self._problems)
        shown = units([row for group in self._problems for row in group])
        lines = []
        for group in self._problems:
            texts = cells(group, names, shown, busy)
            own, beside = texts[: len(COLUMNS)], texts[len(COLUMNS) :]
            middle = energy(group) if self._sustained else ()
            lines.append(Line((*own, *middle, *beside), style_of(group, busy)))
        return lines


def style_of(group: ProblemRows, busy: bool) -> str:
    """Red for a problem that failed, dim for one whose ratios cannot be trusted."""
    if any(row.failed for row in group[:2]):
        return "red"
    return "" if is_trusted(group, busy) else "dim"


def warnings(record: Record, busy: bool) -> list[Text]:
    """What stands above and below the table of a busy machine."""
    environment = record.environment
    return [Text(busy_words(environment.others or 0.0, environment.cores), style="yellow")] if busy else []


def remarks(record: Record, busy: bool) -> list[str]:
    """What is said below the table."""
    rows = by_problem(record)
    texts = [f"clock and power: {record.telemetry}"] if record.telemetry else []
    texts.append(f"baseline: {rows[0][0].lesson or rows[0][0].label}; ratios above 1: ours is faster")
    if record.absent:
        texts.append(f"not measured: {'; '.join(record.absent)}")
    return [*texts, *filter(None, [on_single_runs(rows)]), summary(rows, busy)]
