"""Progress of long calls in a notebook: one line, which is replaced while they run. Elsewhere nothing is printed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.records import Row

Watcher = Callable[[int, Row], None]
Tell = Callable[[str], None]


def in_notebook() -> bool:
    """Whether this is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def progress_line(title: str) -> Iterator[Tell]:
    """A function that replaces the line by `title: words`. The line disappears at the end."""
    if not in_notebook():
        yield lambda words: None
        return
    display: Any = sys.modules["IPython"].display
    line = display.display(display.Pretty(f"{title} ..."), display_id=True)
    try:
        yield lambda words: line.update(display.Pretty(f"{title}: {words}"))
    finally:
        line.update(display.Pretty(""))


def row_watcher(tell: Tell) -> Watcher:
    """A watcher of rows that says how many are ready, how many runs were timed, and which row changed last."""
    rows: dict[int, Row] = {}

    def watch(index: int, row: Row) -> None:
        rows[index] = row
        runs = sum(len(each.samples.times) for each in rows.values())
        tell(f"{len(rows)} rows built and verified, {runs} runs timed; now {row.label}")

    return watch
