"""The table that fills while errors are measured: a line for each kind of data."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ..measurement.accuracy import DATA, AccuracyRecord, ErrorRow
from ..measurement.progress import Phase
from ..reports.errors_table import MARKED, grid
from .fitting import Column, Line, PrintedRows, drawn

WIDTHS = (max(map(len, DATA)), len("0.000123 (1.2e-07)"))  # of the kinds of data, and of an error


class LiveAccuracy:
    """Shows each row that `watch` gets. Without a terminal each line is printed once, when `so_far` gets the record of all
    precisions of its kind of data."""

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title
        self._rows: list[ErrorRow] = []
        self._printed, self._table = 0, PrintedRows(console)
        self._phase: Phase | None = None
        self._live = Live(console=console, auto_refresh=False, transient=not console.is_terminal)

    def __enter__(self) -> "LiveAccuracy":
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._phase = None
        if self._console.is_terminal:
            self._live.update(self._drawing() if self._rows else "")
        self._live.__exit__(kind, error, trace)
        if not self._console.is_terminal and not isinstance(error, BrokenPipeError):
            self._print(self._rows)

    def watch(self, row: ErrorRow) -> None:
        """Show a row that was measured."""
        self._rows.append(row)
        self._refresh()

    def so_far(self, record: AccuracyRecord) -> None:
        """Print the kinds of data that are new in a record, if there is no terminal."""
        if not self._console.is_terminal:
            self._print(record.rows)

    def _print(self, rows: Sequence[ErrorRow]) -> None:
        head, lines = grid(rows)
        new = lines[self._printed :]
        if not new:
            return
        if not self._printed:
            self._console.print(Group(Text(self._title, style="bold"), Text(MARKED, style="dim")))
        self._printed += len(new)
        self._table.print(columns_of(head), [Line(line) for line in new], [WIDTHS[0], *[WIDTHS[1]] * (len(head) - 1)])

    def announce(self, phase: Phase) -> None:
        """Show what is going on."""
        self._phase = phase
        self._refresh()

    def _refresh(self) -> None:
        if self._console.is_terminal:
            self._live.update(self._drawing(), refresh=True)

    def _drawing(self) -> Group:
        head, lines = grid(self._rows)
        table, _ = drawn(columns_of(head), [Line(line) for line in lines], self._console.width)
        last = [Text(str(self._phase), style="dim")] if self._phase else []
        return Group(Text(self._title, style="bold"), Text(MARKED, style="dim"), table, *last)


def columns_of(head: Sequence[str]) -> list[Column]:
    """The table's columns."""
    return [Column(name, place > 0) for place, name in enumerate(head)]
