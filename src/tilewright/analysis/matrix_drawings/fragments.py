"""Which lane of a warp holds which elements of the matrices of one instruction."""

import numpy as np

from .drawing import MatrixDrawing, Values
from .matrices import numbers_of, origins
from .observe import Observed
from .panels import ITEM, STEP, Cell, Cells, Panel
from .picture import STYLE, legend, product_arrangement
from .terminal import product_text

LANE = 5  # the lane that is drawn darkest
QUAD = 4  # lanes that share a row


def fragments(seen: Observed) -> list[MatrixDrawing]:
    """The first matrix instruction of the work-group's first warp; nothing where there is none."""
    if not seen.recorders[0].products:
        return []
    products = [each.products[0] for each in seen.recorders]
    layout = products[0].layout
    shapes = (layout.sums_shape[0], layout.depth), (layout.depth, layout.sums_shape[1]), layout.sums_shape
    lanes = [part.lanes(shape) for part, shape in zip((layout.a, layout.b, layout.sums), shapes, strict=True)]
    corners = [_corner(seen, [getattr(each, name) for each in products], part, shape)
               for name, part, shape in zip("ab", (layout.a, layout.b), shapes, strict=False)]  # fmt: skip
    corners.append((corners[0][0], corners[1][1]))
    panels = [_panel(title, corner, own) for title, corner, own in zip("ABC", corners, lanes, strict=True)]
    picture = product_arrangement(panels)
    registers = [len(part.rows) for part in (layout.a, layout.b, layout.sums)]
    entries = [
        ("s3", f"lane {LANE}: " + ", ".join(f"{count} of {name}" for count, name in zip(registers, "ABC", strict=True))
         + " registers"),
        ("s2", f"lanes {LANE // QUAD * QUAD} to {LANE // QUAD * QUAD + QUAD - 1}"),
        ("", "the number: the lane that holds the element"),
    ]  # fmt: skip
    legend(picture, entries)
    text = [*product_text(panels), "", "the number: the lane that holds the element"]
    values: Values = {"instruction": layout.name, "kernel": seen.kernel.name}
    return [MatrixDrawing("fragments", "fragments", values, picture.svg(STYLE), "\n".join(text))]


def _corner(seen: Observed, registers: list[np.ndarray], part: object, shape: tuple[int, int]) -> Cell:
    """Row and column of the first element in the matrix, by the numbers that the registers of the first warp hold."""
    numbers = []
    for own in registers:
        table = np.ascontiguousarray(part.gather(own, shape)[0])  # type: ignore[attr-defined]
        numbers.append(numbers_of(table.reshape(-1).view(np.uint8), seen.problem.dtype, table.itemsize))
    _, places = origins(numbers, seen.problem)
    return int(places[:, 0].min()), int(places[:, 1].min())


def _panel(title: str, corner: Cell, lanes: np.ndarray) -> Panel:
    rows, columns = lanes.shape
    at = {(corner[0] + row, corner[1] + column): int(lanes[row, column])
          for row in range(rows) for column in range(columns)}  # fmt: skip
    shades: dict[int, Cells] = {
        STEP: frozenset(cell for cell, lane in at.items() if lane // QUAD == LANE // QUAD),
        ITEM: frozenset(cell for cell, lane in at.items() if lane == LANE),
    }
    labels = {cell: str(lane) for cell, lane in at.items()}
    return Panel(title, corner, (rows, columns), shades, labels=labels, marked=frozenset(at))
