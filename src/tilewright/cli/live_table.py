"""The table that fills while a ladder runs."""

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..core.records import Record, Row
from ..measurement.measure import ROUNDS
from ..reports.table import cells, derive, header, notes, peaks_line
from ..runtime.device import Device

NARROW = 130  # below this many columns, sentences are printed under the table
VERY_NARROW = 70  # below this many columns, only names, times and rates are shown


class Screen(Console):
    """A console that raises BrokenPipeError if its reader stops early, as `head` does."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


console: Console = Screen()


class LiveTable:
    """Shows each row that `watch` gets. `finish` adds peaks and notes. Without a terminal, only the final table is printed."""

    def __init__(self, console: Console, title: str, device: Device, dtype: str) -> None:
        self._console = console
        self._title = f"{title} · {dtype} · {device.info.label}"
        self._rows: dict[int, Row] = {}
        self._record: Record | None = None
        self._live = Live(console=console, auto_refresh=False, transient=not console.is_terminal)

    def __enter__(self) -> "LiveTable":
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)
        if not self._console.is_terminal and error is None:
            self._console.print(self._drawing())

    def watch(self, index: int, row: Row) -> None:
        """Show a row's current state."""
        self._rows[index] = row
        if self._console.is_terminal:
            self._live.update(self._drawing(), refresh=True)

    def finish(self, record: Record) -> None:
        """Show the whole record with its derived columns."""
        self._record = record
        self._rows = dict(enumerate(record.rows))
        self._live.update(self._drawing(), refresh=True)

    def _drawing(self) -> Group:
        rows = [self._rows[index] for index in sorted(self._rows)]
        peaks = self._record.peaks if self._record else None
        narrow = self._console.width < NARROW
        table = Table(title=Text(self._title, style="table.title"), title_justify="left", box=None, header_style="bold")
        table.pad_edge, table.padding = False, (0, 1, 0, 0)
        tight = self._console.width < VERY_NARROW
        columns = header(rows)[:3] if tight else header(rows)[:-1] if narrow else header(rows)
        for place, name in enumerate(columns):
            cut = place < 8 and not tight
            table.add_column(name, justify="right" if 0 < place < 8 else "left", no_wrap=cut, overflow="fold")
        several = len({row.size for row in rows}) > 1
        below: dict[str, None] = {}  # sentences that do not fit into the table, each once
        for line in derive(rows, peaks):
            style = "red" if line.row.failed else "" if line.row.passed else "dim"
            name, *rest = cells(line)[: len(columns)]
            if narrow and cells(line)[-1]:
                below[f"{line.row.label}: {cells(line)[-1]}"] = None
            size = f" {'x'.join(map(str, line.row.size))}" if several else ""
            table.add_row(*(Text(text) for text in (name + size, *rest)), style=style)
        if self._record is None:
            return Group(table, self._progress(rows))
        return Group(table, Text("\n".join([*below, peaks_line(peaks), *notes(rows)]), style="dim"))

    def _progress(self, rows: list[Row]) -> ProgressBar:
        """Rounds measured so far, of the rows that passed."""
        running = [row for row in rows if row.passed]
        done = sum(min(len(row.samples.wall), ROUNDS) for row in running)
        return ProgressBar(total=max(len(running) * ROUNDS, 1), completed=done, width=60)
