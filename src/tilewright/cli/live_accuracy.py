"""The table that fills while errors are measured: a line for each kind of data."""

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ..measurement.accuracy import ErrorRow
from ..measurement.progress import Phase
from ..reports.errors_table import MARKED, grid
from .fitting import Column, Line, drawn


class LiveAccuracy:
    """Shows each row that `watch` gets. Without a terminal, only the whole table is printed."""

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title
        self._rows: list[ErrorRow] = []
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
        if not self._console.is_terminal and self._rows:
            self._console.print(self._drawing())

    def watch(self, row: ErrorRow) -> None:
        """Show a row that was measured."""
        self._rows.append(row)
        self._refresh()

    def announce(self, phase: Phase) -> None:
        """Show what is going on."""
        self._phase = phase
        self._refresh()

    def _refresh(self) -> None:
        if self._console.is_terminal:
            self._live.update(self._drawing(), refresh=True)

    def _drawing(self) -> Group:
        head, lines = grid(self._rows)
        columns = [Column(name, place > 0) for place, name in enumerate(head)]
        table, _ = drawn(columns, [Line(line) for line in lines], self._console.width)
        last = [Text(str(self._phase), style="dim")] if self._phase else []
        return Group(Text(self._title, style="bold"), Text(MARKED, style="dim"), table, *last)
