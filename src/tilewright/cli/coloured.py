"""Prints marked lines: in colour and with hanging indents on a terminal, as they are into files and pipes."""

import sys
from collections.abc import Iterable

from ..analysis.marked_lines import Mark, MarkedLine
from ..core.wide_text import width_of, wrapped

STYLES = {
    Mark.PLAIN: "",
    Mark.HEADING: "bold",
    Mark.FAULT: "red",
    Mark.COST: "yellow",
    Mark.CODE: "dim",
    Mark.NOTE: "dim italic",
    Mark.MORE: "yellow",
    Mark.LESS: "green",
}
NARROWEST = 40  # columns: narrower terminals break lines themselves


def print_lines(lines: Iterable[MarkedLine]) -> None:
    """Print the lines. Long ones are broken between words on a terminal, and their rest is indented."""
    if not sys.stdout.isatty():
        for line in lines:
            print(line.text)
        return
    from rich.text import Text

    from .live_table import console

    for line in lines:
        for part in hanging(line.text, console.width):
            console.print(Text(part, style=STYLES[line.mark]), soft_wrap=True)


def hanging(text: str, width: int) -> list[str]:
    """A line as lines of at most `width` columns, those after the first indented by two columns more."""
    if width_of(text) <= width or width < NARROWEST:
        return [text]
    return wrapped(text, width, " " * min(len(text) - len(text.lstrip()) + 2, width // 2))
