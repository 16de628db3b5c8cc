"""Progress of long calls in a notebook: one line, which is replaced while they run. Elsewhere nothing is printed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..measurement.progress import Announce, silent


def in_notebook() -> bool:
    """Whether this is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def progress_line(title: str) -> Iterator[Announce]:
    """What a call announces replaces the line: `title: building and verifying 2 of 9`. The line disappears at the end."""
    if not in_notebook():
        yield silent
        return
    display: Any = sys.modules["IPython"].display
    line = display.display(display.Pretty(f"{title} ..."), display_id=True)
    try:
        yield lambda phase: line.update(display.Pretty(f"{title}: {phase}"))
    finally:
        line.update(display.Pretty(""))
