"""The table that fills while a ladder runs."""

from collections.abc import Sequence
from time import monotonic
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..core.language import translated
from ..core.records import Record, Row
from ..measurement.progress import Phase
from ..reports.table import (
    Line,
    by,
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
from .fitting import Column, PrintedRows, Prose, Screen, bar, drawn

console: Console = Screen()
# For each column of `header`: how soon it goes where there is no room.
WEIGHTS = {"ms": 5, "± %": 3, "% peak": 4, "x first": 6, "x prev": 7}
BARS = ""  # the heading of the column of bars
NOBODY = "x baseline"  # the heading of ratios if there is no baseline
RATE_WIDTH = 7  # characters of numbers such as 0.00123
REDRAW_S = 0.1  # the table is drawn at most as often


class LiveTable:
    """Shows each row that `watch` gets, and below them what `announce` gets. `finish` adds peaks and notes.

    Without a terminal only the final table is printed, because all rows of a size are measured in turns and end together. Of
    several `sizes` the rows of each are printed once, as soon as `so_far` gets the record that has them.
    """

    def __init__(
        self, console: Console, title: str, device: Device, dtype: str, sizes: Sequence[Sequence[int]] = ()
    ) -> None:
        self._console = console
        self._title, self._where = title, f"{dtype} · {device.info.label}"
        self._sizes, self._printed, self._pieces = sizes, 0, PrintedRows(console)
        self._columns: list[str] = []  # that were printed
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
        if self._console.is_terminal or isinstance(error, BrokenPipeError):
            return
        if self._record is not None and self._printed:
            self.so_far(self._record)
            self._console.print(Group(*self._below(self._record.rows, self._columns)))
        elif error is None or self._record is not None:
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

    def so_far(self, record: Record) -> None:
        """Print the rows of several sizes that are new in a record, if there is no terminal."""
        if self._console.is_terminal or len(self._sizes) < 2:
            return
        rows = record.rows
        if not self._printed:
            sizes = f"{by(self._sizes[0])} to {by(self._sizes[-1])}"
            warned = warning(rows, record.environment)
            self._console.print(Group(*self._above(sizes, warned)))
        lines = self._lines(rows, derive(rows, record.peaks, is_busy(record.environment)), True)[self._printed :]
        self._printed += len(lines)
        if lines:
            columns = columns_of(rows)
            widths = [RATE_WIDTH if column.right and column.name != NOBODY else 0 for column in columns]
            widths[0] = max(len(row.label) for row in rows) + 1 + len(by((max(map(max, self._sizes)),) * 3))
            places = self._pieces.print(columns, lines, widths)
            self._columns = [columns[place].name for place in places]

    def _refresh(self) -> None:
        if self._console.is_terminal and monotonic() - self._drawn_at > REDRAW_S:
            self._live.update(self._drawing(), refresh=True)
            self._drawn_at = monotonic()

    def _drawing(self) -> Group:
        rows = [self._rows[index] for index in sorted(self._rows)]
        environment = self._record.environment if self._record else None
        peaks = self._record.peaks if self._record else None
        lines = derive(rows, peaks, bool(environment and is_busy(environment)))
        parts = self._above(sizes_of(rows), warning(rows, environment))
        several = len({row.size for row in rows if not row.is_baseline}) > 1
        columns = columns_of(rows)
        table, places = drawn(columns, self._lines(rows, lines, several), self._console.width)
        parts.append(table)
        if self._record is None:
            return Group(*parts, *self._progress())
        return Group(*parts, *self._below(rows, [columns[place].name for place in places]))

    def _above(self, sizes: str, warned: str) -> list[RenderableType]:
        """The title, and what is said of a busy machine."""
        title = " · ".join(filter(None, (self._title, sizes, self._where)))
        return [Text(title, style="bold"), *([Text(warned, style="yellow")] if warned else [])]

    def _below(self, rows: Sequence[Row], columns: Sequence[str]) -> list[RenderableType]:
        """The warning once more, the sentences that the table's `columns` leave out, the peaks, notes and the legend."""
        environment, peaks = (self._record.environment, self._record.peaks) if self._record else (None, None)
        warned = warning(rows, environment)
        below = Text("\n".join([peaks_line(peaks), *notes(rows), legend(rows, columns)]), style="dim")
        sentences = [] if sentences_heading() in columns else [sentences_below(derive(rows, peaks))]
        return [*([Text(warned, style="yellow")] if warned else []), *sentences, below]

    def _lines(self, rows: Sequence[Row], lines: Sequence[Line], several: bool) -> list[fitting.Line]:
        """The table's rows, each with its size if there are several."""
        _, per_unit = rate_unit(rows)
        bars = self._console.is_terminal and "utf" in self._console.encoding.lower()
        fastest = max((row.rate for row in rows), default=0.0)
        shown = []
        for line, sentence in zip(lines, without_repeats(lines), strict=True):
            name, *rest = cells(line, per_unit)[:-1]
            size = f" {by(line.row.size)}" if several else ""
            drawn_bar = bar(line.row.rate / fastest) if bars and fastest else ""
            shown.append(fitting.Line((name + size, *rest, drawn_bar, sentence), style_of(line)))
        return shown

    def _progress(self) -> list[RenderableType]:
        """What is going on, and how much of it is done."""
        if self._phase is None:
            return []
        done = ProgressBar(total=max(self._phase.total, 1), completed=self._phase.done, width=40)
        return [Text(str(self._phase), style="dim"), done]


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The columns of a ladder's table, with their weights."""
    *names, _ = header(rows)
    found = [Column(name, place > 1, WEIGHTS.get(name, 2 if place > 4 else 0)) for place, name in enumerate(names)]
    return [*found, Column(BARS, False, 8), Column(sentences_heading(), False, 9, wraps=True)]


def sentences_heading() -> str:
    """The heading of the column of sentences."""
    return translated("what it changes")


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
        table.add_row(Text(own[0] if len(own) == 1 else f"{own[0]} .. {own[-1]}"), Prose(sentence))
    return table
