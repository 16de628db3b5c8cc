"""Tables on a terminal: columns that do not fit are left out, the least important first. What is piped keeps all of them."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..core.wide_text import width_of, wrapped

UNLIMITED = 10_000  # columns of what is no terminal
GAP = 1  # blanks between columns
LONG = 40  # columns that a column of sentences needs at least
BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_WIDTH = 8


@dataclass(frozen=True)
class Column:
    """A column of a table. `weight`: 0 stays, the highest goes first where there is no room. `wraps`: a column of sentences."""

    name: str
    right: bool = True
    weight: int = 0
    wraps: bool = False


@dataclass(frozen=True)
class Line:
    """A row of a table, with its style."""

    cells: tuple[str, ...]
    style: str = ""


@dataclass(frozen=True)
class Prose:
    """Sentences in a cell, broken where their language breaks lines: Rich breaks at blanks, of which Chinese has few."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text("\n".join(wrapped(self.text, options.max_width)), style=self.style, overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(width_of, self.text.split()), default=0) if self.text.isascii() else 2
        return Measurement(longest, width_of(self.text))


class Screen(Console):
    """A console that raises BrokenPipeError if its reader stops early, as `head` does. What is piped is not cut to a width,
    unless COLUMNS says so."""

    def __init__(self) -> None:
        piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
        super().__init__(width=UNLIMITED if piped else None)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def fitting(columns: Sequence[Column], lines: Sequence[Line], width: int) -> list[int]:
    """The places of the columns that fit into `width`. Of those with a weight, the empty ones are left out."""
    widths = [
        min(LONG, longest) if column.wraps else longest
        for column, longest in zip(columns, _longest(columns, lines), strict=True)
    ]
    kept = [
        place for place, column in enumerate(columns) if not column.weight or any(line.cells[place] for line in lines)
    ]
    for place in sorted(kept, key=lambda place: -columns[place].weight):
        if sum(widths[each] + GAP for each in kept) - GAP <= width or not columns[place].weight:
            break
        kept.remove(place)
    return kept


def _longest(columns: Sequence[Column], lines: Sequence[Line]) -> list[int]:
    return [
        max(
            width_of(text)
            for cell in (column.name, *(line.cells[place] for line in lines))
            for text in cell.split("\n")
        )
        for place, column in enumerate(columns)
    ]


def drawn(columns: Sequence[Column], lines: Sequence[Line], width: int) -> tuple[Table, list[int]]:
    """The table with the columns that fit, and their places."""
    places = fitting(columns, lines, width)
    return _drawn(columns, lines, places, _longest(columns, lines), width), places


class PrintedRows:
    """A table that is printed a few rows at a time. The first rows, and the widths that later ones are expected to need, decide
    which columns there are and how wide they are. Other columns later get a heading of their own."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._columns: list[Column] = []
        self._widest = Line(())

    def print(self, columns: Sequence[Column], lines: Sequence[Line], widths: Sequence[int]) -> list[int]:
        """Print rows, and the heading before the first ones. The result are the places of the columns that are shown.

        `widths`: for each column, how many characters its cells are expected to need at most.
        """
        is_new = self._columns != list(columns)
        if is_new:
            self._columns = list(columns)
            needed = zip(widths, *([width_of(text) for text in line.cells] for line in lines), strict=True)
            self._widest = Line(tuple("0" * max(each) for each in needed))
        places = fitting(columns, [self._widest], self._console.width)
        longest = _longest(columns, [self._widest])
        self._console.print(_drawn(columns, lines, places, longest, self._console.width, is_new))
        return places


def _drawn(
    columns: Sequence[Column],
    lines: Sequence[Line],
    places: Sequence[int],
    longest: Sequence[int],
    width: int,
    has_head: bool = True,
) -> Table:
    room = sum(longest[place] + GAP for place in places) - GAP <= width
    table = Table(box=None, show_header=has_head, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for place in places:
        column = columns[place]
        whole = room or (longest[place] <= width and not column.wraps)
        table.add_column(
            Text(column.name), justify="right" if column.right else "left", no_wrap=whole, overflow="fold",
            min_width=min(longest[place], width) if whole else None,
        )  # fmt: skip
    for line in lines:
        texts = [(columns[place], line.cells[place]) for place in places]
        table.add_row(*(Prose(text) if column.wraps else Text(text) for column, text in texts), style=line.style)
    return table


def bar(part: float) -> str:
    """A bar for 0 to 1, in eighths of a character."""
    eighths = round(max(0.0, min(part, 1.0)) * BAR_WIDTH * 8)
    return (BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8]).strip()
