"""The table that fills while a ladder runs."""

from collections.abc import Sequence
from time import monotonic
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..core.records import Record, Row
from ..measurement.progress import Phase
from ..reports.table import (
    Line,
    cells,
    derive,
    header,
    legend,
    notes,
    peaks_line,
    rate_unit,
    sizes_of,
    without_repeats,
)
from ..reports.trust import is_busy, warning
from ..runtime.device import Device
from . import fitting
from .fitting import Column, Screen, bar, drawn

console: Console = Screen()
# For each column of `header`: how soon it goes where there is no room.
WEIGHTS = {"ms": 5, "± %": 3, "% peak": 4, "x first": 6, "x prev": 7}
SENTENCES = "what it changes"
BARS = ""  # the heading of the column of bars
REDRAW_S = 0.1  # the table is drawn at most as often


class LiveTable:
    """Shows each row that `watch` gets, and below them what `announce` gets. `finish` adds peaks and notes. Without a
    terminal, only the final table is printed."""

    def __init__(self, console: Console, title: str, device: Device, dtype: str) -> None:
        self._console = console
        self._title, self._where = title, f"{dtype} · {device.info.label}"
        self._rows: dict[int, Row] = {}
        self._record: Record | None = None
        self._phase: Phase | None = None
        self._drawn_at = 0.0
        self._live = Live(console=console, auto_refresh=False, transient=not console.is_terminal)

    def __enter__(self) -> "LiveTable":
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal and self._rows:
            self._live.update(self._drawing())  # drawn as it ends
        self._live.__exit__(kind, error, trace)
        if not self._console.is_terminal and (error is None or self._record is not None):
            self._console.print(self._drawing())

    def watch(self, index: int, row: Row) -> None:
        """Show a row's current state."""
        self._rows[index] = row
        self._refresh()

    def announce(self, phase: Phase) -> None:
        """Show what is going on."""
        self._phase = phase
        self._refresh()

    def finish(self, record: Record) -> None:
        """Show the whole record with its derived columns."""
        self._record = record
        self._rows = dict(enumerate(record.rows))

    def _refresh(self) -> None:
        if self._console.is_terminal and monotonic() - self._drawn_at > REDRAW_S:
            self._live.update(self._drawing(), refresh=True)
            self._drawn_at = monotonic()

    def _drawing(self) -> Group:
        rows = [self._rows[index] for index in sorted(self._rows)]
        environment = self._record.environment if self._record else None
        peaks = self._record.peaks if self._record else None
        warned = Text(warning(rows, environment), style="yellow")
        lines = derive(rows, peaks, bool(environment and is_busy(environment)))
        title = " · ".join(filter(None, (self._title, sizes_of(rows), self._where)))
        parts: list[RenderableType] = [Text(title, style="bold"), *([warned] if warned else [])]
        table, columns, sentences = self._table(rows, lines)
        parts.append(table)
        if self._record is None:
            return Group(*parts, *self._progress(rows))
        parts += [warned] if warned else []
        below = Text("\n".join([peaks_line(peaks), *notes(rows), legend(rows, columns)]), style="dim")
        return Group(*parts, *sentences, below)

    def _table(self, rows: Sequence[Row], lines: Sequence[Line]) -> tuple[Table, list[str], list[Table]]:
        """The table, the names of its columns, and the sentences that did not fit into it."""
        _, per_unit = rate_unit(rows)
        bars = self._console.is_terminal and "utf" in self._console.encoding.lower()
        fastest = max((row.rate for row in rows), default=0.0)
        several = len({row.size for row in rows if not row.is_baseline}) > 1
        shown = []
        for line, sentence in zip(lines, without_repeats(lines), strict=True):
            name, *rest = cells(line, per_unit)[:-1]
            size = f" {'x'.join(map(str, line.row.size))}" if several else ""
            drawn_bar = bar(line.row.rate / fastest) if bars and fastest else ""
            shown.append(fitting.Line((name + size, *rest, drawn_bar, sentence), style_of(line)))
        columns = columns_of(rows)
        table, places = drawn(columns, shown, self._console.width)
        names = [columns[place].name for place in places]
        return table, names, [] if SENTENCES in names else [sentences_below(lines)]

    def _progress(self, rows: Sequence[Row]) -> list[RenderableType]:
        """What is going on, and how much of it is done."""
        if self._phase is None:
            return []
        done = ProgressBar(total=max(self._phase.total, 1), completed=self._phase.done, width=40)
        return [Text(str(self._phase), style="dim"), done]


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The columns of a ladder's table, with their weights."""
    *names, last = header(rows)
    found = [Column(name, place > 1, WEIGHTS.get(name, 2 if place > 4 else 0)) for place, name in enumerate(names)]
    return [*found, Column(BARS, False, 8), Column(last, False, 9, wraps=True)]


def style_of(line: Line) -> str:
    """Red for a row that failed, bold for the best, dim for those that were refused."""
    if line.row.failed:
        return "red"
    return "bold" if line.best else "" if line.row.passed else "dim"


def sentences_below(lines: Sequence[Line]) -> Table:
    """Each sentence once, with the first and the last rung that it is of."""
    names: dict[str, list[str]] = {}
    for line in lines:
        if sentence := cells(line)[-1]:
            own = names.setdefault(sentence, [])
            own += [] if line.row.label in own else [line.row.label]
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(style="dim", overflow="fold")
    table.add_column(style="dim", overflow="fold")
    for sentence, own in names.items():
        table.add_row(Text(own[0] if len(own) == 1 else f"{own[0]} .. {own[-1]}"), Text(sentence))
    return table
