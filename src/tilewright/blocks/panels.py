"""How a matrix is cut into panels of columns for its way to other devices, and where a panel lies in memory. Plain numbers.

A device can begin when the first panel is there, so panels should be many: of p panels the last device of a chain of d waits
for d / p of a whole copy. A product of a panel should fill its device, so panels should be wide. 4096 rows and 2048 columns
are 256 tiles of 128 x 256 for the 132 SMs of an H200: 1.94 waves, 97 % of its rate. 1024 columns are 0.97 waves, and fewer
leave SMs idle. A panel also costs the host some 0.1 ms for each device. So 32768 columns are 16 panels of 2048: 2 GiB of
float16 take 4.8 ms over an NVLink of 450 GB/s, of which the second device waits for 0.3 ms.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ..library.shapes import Shape

MOST_PANELS = 16
LEAST_COLUMNS = 1024
COLUMN_STEP = 256  # columns of the widest tile of a kernel: no tile is cut by a panel's edge
ROW_BYTES = 16  # lines of copies begin at multiples of it: the widest access of a kernel


class Panel(NamedTuple):
    """Columns from `begin` to `end`."""

    begin: int
    end: int


class Rectangle(NamedTuple):
    """Bytes of a panel in its matrix: the first, those of a line, and the lines."""

    origin: int
    width: int
    height: int


def panels_of(columns: int) -> tuple[Panel, ...]:
    """All columns in panels of about equal width.

    >>> from tilewright.blocks.panels import panels_of
    >>> [panel.end for panel in panels_of(3000)], len(panels_of(100_000))
    ([1536, 3000], 16)
    """
    count = max(1, min(MOST_PANELS, columns // LEAST_COLUMNS))
    inner = [-(-columns * each // count // COLUMN_STEP) * COLUMN_STEP for each in range(1, count)]
    bounds = [0, *inner, columns]
    return tuple(Panel(begin, end) for begin, end in pairwise(bounds))


@dataclass(frozen=True)
class Stored:
    """A matrix in memory: lines, which are its rows or its columns, `pitch` elements apart, of elements side by side."""

    rows: int
    columns: int
    pitch: int
    itemsize: int
    by_columns: bool

    @property
    def strides(self) -> tuple[int, int]:
        """Elements from one row, and from one column, to the next."""
        return (1, self.pitch) if self.by_columns else (self.pitch, 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Lines, and elements from one to the next: what is allocated."""
        return (self.columns if self.by_columns else self.rows), self.pitch

    @property
    def pitch_bytes(self) -> int:
        return self.pitch * self.itemsize

    @property
    def length_bytes(self) -> int:
        """Of a line."""
        return (self.rows if self.by_columns else self.columns) * self.itemsize

    def rectangle(self, panel: Panel) -> Rectangle:
        width = panel.end - panel.begin
        if self.by_columns:
            return Rectangle(panel.begin * self.pitch_bytes, self.rows * self.itemsize, width)
        return Rectangle(panel.begin * self.itemsize, width * self.itemsize, self.rows)

    @property
    def copied(self) -> "Stored":
        """The same in new memory: lines without gaps, but for what aligns their beginnings."""
        step = max(1, ROW_BYTES // self.itemsize)
        pitch = -(-self.length_bytes // self.itemsize // step) * step
        return Stored(self.rows, self.columns, pitch, self.itemsize, self.by_columns)


def stored(shape: Shape, strides: Shape, itemsize: int) -> Stored | None:
    """How a matrix with these strides in elements lies; None if neither its rows nor its columns are lines."""
    (rows, columns), (down, right) = shape, strides
    if columns == 1 and down == 1:  # one line, not a line for each element
        return Stored(rows, columns, rows, itemsize, True)
    if (right == 1 or columns == 1) and (down >= columns or rows == 1):
        return Stored(rows, columns, max(down, columns), itemsize, False)
    if (down == 1 or rows == 1) and (right >= rows or columns == 1):
        return Stored(rows, columns, max(right, rows), itemsize, True)
    return None
