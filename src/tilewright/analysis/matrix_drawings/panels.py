"""A matrix, or a part of one, with elements in shades: what both the picture and the text are made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Cell = tuple[int, int]
Cells = frozenset[Cell]
GROUP, STEP, ITEM = 1, 2, 3  # shades: the work-group in all, the step, one work-item


@dataclass(frozen=True)
class Panel:
    """Rows and columns `first` to `first + size` of a matrix. `shades` has the elements of each shade, a higher one covers a
    lower one. `outlined` elements get a frame. `labels` are words in elements. `along_rows`: memory's neighbours lie in a row
    (None: not said). The first and last rows and columns of `marked` are numbered. `frames` are elements that memory moves
    together."""

    title: str
    first: Cell
    size: Cell
    shades: Mapping[int, Cells]
    outlined: Cells = frozenset()
    labels: Mapping[Cell, str] = field(default_factory=dict)
    along_rows: bool | None = None
    marked: Cells = frozenset()
    frames: tuple[Cells, ...] = ()

    @property
    def rows(self) -> int:
        return self.size[0]

    @property
    def columns(self) -> int:
        return self.size[1]

    def shade(self, cell: Cell) -> int:
        return max((shade for shade, cells in self.shades.items() if cell in cells), default=0)

    def inside(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those cells that the panel shows, counted from its first one."""
        shown = ((row - self.first[0], column - self.first[1]) for row, column in cells)
        return [(row, column) for row, column in shown if 0 <= row < self.rows and 0 <= column < self.columns]


def bounds(cells: Iterable[Cell]) -> tuple[int, int, int, int] | None:
    """First and last row, first and last column; None of nothing."""
    rows, columns = [], []
    for row, column in cells:
        rows.append(row)
        columns.append(column)
    return (min(rows), max(rows), min(columns), max(columns)) if rows else None


def rectangles(cells: Iterable[Cell]) -> list[tuple[int, int, int, int]]:
    """The cells as rectangles (row, column, rows, columns): runs along rows, joined where the next rows have the same."""
    runs: dict[tuple[int, int], list[int]] = {}
    for row, columns in _by_row(cells).items():
        for begin, end in _runs(sorted(columns)):
            runs.setdefault((begin, end), []).append(row)
    found = []
    for (begin, end), rows in runs.items():
        for first, last in _runs(sorted(rows)):
            found.append((first, begin, last - first, end - begin))
    return found


def _by_row(cells: Iterable[Cell]) -> dict[int, set[int]]:
    rows: dict[int, set[int]] = {}
    for row, column in cells:
        rows.setdefault(row, set()).add(column)
    return rows


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as half-open runs."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number:
            found[-1][1] += 1
        else:
            found.append([number, number + 1])
    return [(begin, end) for begin, end in found]
