"""One request of a sub-group on each matrix: which lane asks for which element, and what memory moves for it."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from ...core.language import translated
from ..explain.terms import term
from .accesses import Access
from .drawing import CAPTIONS, MatrixDrawing, Values
from .matrices import Matrix
from .observe import Observed
from .operands import by_name
from .panels import GROUP, STEP, Cell, Cells, Panel, bounds
from .picture import STYLE, legend, side_by_side
from .terminal import row_text

MOST_ROWS, MOST_COLUMNS = 64, 64  # of a matrix that are shown
CONTEXT = 8  # rows and columns that are shown at least, as far as there are any


def request(seen: Observed) -> MatrixDrawing:
    """The first request of the sub-group of the drawn work-item to each matrix, in the drawn step."""
    chosen = [(matrix, access) for matrix in by_name(seen) if (access := _access(seen, matrix)) is not None]
    drawn = [_panel(seen, matrix, access) for matrix, access in chosen]
    panels = [panel for panel, _ in drawn]
    parts = [translated(CAPTIONS["request_part"], **numbers) for _, numbers in drawn]
    picture = side_by_side(panels, largest=12.0)
    model = seen.model
    unused = any(each.shades[GROUP] - each.shades[STEP] for each in panels)
    alone = model.lanes == 1
    entries = [
        ("s2", "asked for" if alone else "asked for, by the lane of that number, or from that number on by several")
    ]
    entries += [("s1", "moved, but not asked for")] * unused
    entries.append(("sector", f"one {model.piece}: {model.sector} bytes, which memory moves together"))
    counts = [("", "; ".join(_count_of(numbers) for _, numbers in drawn))]
    legend(picture, [*entries, *counts])
    words = ["", "▒ asked for   ░ moved with it"]
    values: Values = {"sub_group": model.sub_group, "kernel": seen.kernel.name, "parts": translated("; ").join(parts)}
    text = "\n".join([*row_text(panels), *words, *wrap(counts[0][1], 78)])
    return MatrixDrawing("request", "request", values, picture.svg(STYLE), text)


def _access(seen: Observed, matrix: Matrix) -> Access | None:
    """The access of a matrix that is drawn: in the drawn step if there is one; the output's is a store."""
    writes = matrix.name == seen.output
    own = [
        each for each in seen.globals
        if seen.matrices[each.buffer].name == matrix.name and each.is_load != writes
    ]  # fmt: skip
    width = seen.model.lanes
    with_item = [each for each in own if (each.items // width == seen.item // width).any()]
    own = with_item or own  # one work-item may ask for all
    return next((each for each in own if seen.step_of(each) == seen.step), own[0] if own else None)


def _lanes(seen: Observed, access: Access) -> np.ndarray:
    """The places in the access of the lanes of the drawn sub-group, or of the first one where that has no part in it."""
    sub_groups = access.items // seen.model.lanes
    own = np.flatnonzero(sub_groups == seen.item // seen.model.lanes)
    return own if len(own) else np.flatnonzero(sub_groups == sub_groups[0])


def _panel(seen: Observed, matrix: Matrix, access: Access) -> tuple[Panel, Values]:
    model, lanes = seen.model, _lanes(seen, access)
    asked: dict[Cell, list[int]] = {}
    first: dict[Cell, list[int]] = {}
    sectors: set[int] = set()
    for offset, item in zip(access.offsets[lanes].tolist(), access.items[lanes].tolist(), strict=True):
        places = [(int(row), int(column)) for row, column in matrix.elements(np.array([offset]), access.size)]
        for place in places:
            asked.setdefault(place, []).append(item % model.lanes)
        first.setdefault(places[0], []).append(item % model.lanes)
        sectors.update(range(offset // model.sector, (offset + access.size - 1) // model.sector + 1))
    frames = [_cells(matrix.elements(np.array([each * model.sector]), model.sector)) for each in sorted(sectors)]
    moved: Cells = frozenset().union(*frames)
    labels = {} if model.lanes == 1 else {place: _label(numbers) for place, numbers in first.items()}
    corner, size = window([*moved, *asked], matrix)
    shades = {GROUP: moved, STEP: frozenset(asked)}
    verb = "load" if access.is_load else "store"
    panel = Panel(
        f"{verb} {matrix.title}", corner, size, shades, labels=labels, along_rows=matrix.along_rows,
        marked=frozenset(asked), frames=tuple(frames),
    )  # fmt: skip
    numbers: Values = {"operation": term(verb), "matrix": matrix.title, "lanes": len(lanes), "elements": len(asked),
               "sectors": len(sectors), "piece": model.piece, "bytes": model.sector}  # fmt: skip
    return panel, numbers


def _count_of(numbers: Values) -> str:
    pieces = f"{numbers['piece']}{'s' if numbers['sectors'] != 1 else ''}"
    return f"{numbers['operation']} {numbers['matrix']}: {numbers['sectors']} {pieces}"


def _cells(places: np.ndarray) -> Cells:
    return frozenset((int(row), int(column)) for row, column in places)


def _label(lanes: Sequence[int]) -> str:
    """The first of the lanes that ask for an element: there is no room for more."""
    return str(lanes[0])


def window(cells: Sequence[Cell], matrix: Matrix) -> tuple[Cell, Cell]:
    """The first cell and the size of the part of a matrix that is shown: where the cells are, and a little around them."""
    edges = bounds(cells)
    assert edges is not None
    top, height = _side(edges[0], edges[1], matrix.rows, MOST_ROWS)
    left, width = _side(edges[2], edges[3], matrix.columns, MOST_COLUMNS)
    return (top, left), (height, width)


def _side(first: int, last: int, size: int, most: int) -> tuple[int, int]:
    length = min(max(last - first + 1, CONTEXT), most, size)
    begin = min(first, size - length)
    return begin, length
