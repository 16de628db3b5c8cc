"""Draws panels as SVG, 360 pixels wide: a phone shows them as they are, everything else may enlarge them."""

from collections.abc import Sequence

from ...core.svg import CHARACTER, Drawing, text_width, wrapped
from .panels import Cells, Panel, bounds, rectangles

WIDTH = 344.0  # of a picture without its margin
LABEL = 24.0  # left of a panel, for row numbers
ABOVE = 27.0  # above a panel, for its title and column numbers
CHUNK_SHADES = 8  # of the pieces of 16 bytes that a swizzle moves
HIGHEST = 520.0  # of two panels, one above the other
READABLE = 9.0  # the least size of an element with a number
SMALL, LEAST_CELL, LARGEST_CELL = 9, 4.0, 15.0
STYLE = """
.s0{fill:#f6f8fa;stroke:#8c959f}.s1{fill:#c3dcf7}.s2{fill:#58a0ea}.s3{fill:#0a2f66}.s4{fill:#bc4c00}
.grid{fill:none;stroke:#57606a;stroke-opacity:.3;stroke-width:.5}
.next{fill:none;stroke:#bc4c00;stroke-width:1.6;stroke-dasharray:4 2}
.sector{fill:none;stroke:#1a7f37;stroke-width:1.4}.pad{fill:url(#hatch);stroke:#8c959f;stroke-width:.5}
.bad{fill:#cf222e}.good{fill:#116329}.cell{fill:#eaeef2}.gap{fill:none;stroke:#ffffff;stroke-width:.7}
.odd{fill:#d3dbe3}.hatchline{stroke:#8c959f;stroke-width:1}.chunk{fill:#0969da}
@media (prefers-color-scheme:dark){.s0{fill:#161b22;stroke:#6e7681}.s1{fill:#1c3d63}.s2{fill:#3c83d8}.s3{fill:#e6f3ff}
.s4{fill:#f0883e}
.grid{stroke:#adbac7}.next{stroke:#f0883e}.sector{stroke:#4ac26b}.good{fill:#1f8a3b}.cell{fill:#262c36}.gap{stroke:#0d1117}.chunk{fill:#58a6ff}.odd{fill:#363e4a}
}
.on0,.on1{fill:currentColor}.on2{fill:#04213f}.on3,.on4{fill:#ffffff}
@media (prefers-color-scheme:dark){.on2{fill:#ffffff}.on3{fill:#0a2f66}}
SHADES_OF_CHUNKS
svg{color:#1f2328}@media (prefers-color-scheme:dark){svg{color:#e6edf3}}
""".replace("SHADES_OF_CHUNKS", "".join(f".c{n}{{fill-opacity:{0.06 + 0.09 * n:.2f}}}" for n in range(CHUNK_SHADES)))
HATCH = (
    '<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path class="hatchline" d="M0 0V4"/></pattern>'
)


def draw_panel(drawing: Drawing, panel: Panel, x: float, y: float, cell: float) -> None:
    """A panel whose matrix begins at (x, y), with its title, its shades, and the numbers of the marked rows and columns."""
    width, height = panel.columns * cell, panel.rows * cell
    drawing.text(x, y - (16 if panel.marked else 5), panel.title, "ink head", size=11)
    drawing.box(x, y, width, height, "s0")
    for shade in sorted(panel.shades):
        _fill(drawing, panel, panel.shades[shade], x, y, cell, f"s{shade}")
    _grid(drawing, panel, x, y, cell)
    if panel.outlined:
        for row, column, rows, columns in rectangles(panel.inside(panel.outlined)):
            drawing.box(x + column * cell, y + row * cell, columns * cell, rows * cell, "next")
    for frame in panel.frames:
        for row, column, rows, columns in rectangles(panel.inside(frame)):
            drawing.box(x + column * cell, y + row * cell, columns * cell, rows * cell, "sector")
    _labels(drawing, panel, x, y, cell)
    _numbers(drawing, panel, x, y, cell)
    _memory_arrow(drawing, panel, x, y, cell)


def _labels(drawing: Drawing, panel: Panel, x: float, y: float, cell: float) -> None:
    """Words in elements, all of one size, in a colour that can be read on their shade."""
    lines: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for place, words in panel.labels.items():
        for row, column in panel.inside([place]):
            lines.setdefault((row, panel.shade(place)), []).append((x + (column + 0.5) * cell, words))
    longest = max((len(words) for line in lines.values() for _, words in line), default=1)
    size = min(9, int(0.93 * cell / CHARACTER / longest))
    for (row, shade), line in lines.items():
        drawing.texts(line, round(y + (row + 0.5) * cell + size * 0.36, 1), f"on{shade}", size)


def _fill(drawing: Drawing, panel: Panel, cells: Cells, x: float, y: float, cell: float, kind: str) -> None:
    """Elements of one shade; single ones are at least so large that they can be seen."""
    least = max(cell, 1.6)
    steps = []
    for row, column, rows, columns in rectangles(panel.inside(cells)):
        wide, high = max(columns * cell, least), max(rows * cell, least)
        steps.append(f"M{x + column * cell:.1f} {y + row * cell:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z")
    if steps:
        drawing.path("".join(steps), kind, x + panel.columns * cell, y + panel.rows * cell)


def _grid(drawing: Drawing, panel: Panel, x: float, y: float, cell: float) -> None:
    """Lines between elements, or between every eighth where they are small."""
    every = 1 if cell >= LEAST_CELL else 8
    width, height = panel.columns * cell, panel.rows * cell
    lines = [
        f"M{x + at * cell:.1f} {y:g}v{height:.1f}"
        for at in range(1, panel.columns)
        if (at + panel.first[1]) % every == 0
    ]
    lines += [
        f"M{x:g} {y + at * cell:.1f}h{width:.1f}" for at in range(1, panel.rows) if (at + panel.first[0]) % every == 0
    ]
    if lines:
        drawing.path("".join(lines), "grid", x + width, y + height)


def _numbers(drawing: Drawing, panel: Panel, x: float, y: float, cell: float) -> None:
    """The first and last row and column of what is marked."""
    edges = bounds((row + panel.first[0], column + panel.first[1]) for row, column in panel.inside(panel.marked))
    if edges is None:
        return
    first, last, left, right = edges
    for row in dict.fromkeys((first, last) if (last - first) * cell >= SMALL else (first,)):
        at = y + (row - panel.first[0] + 0.5) * cell + 3
        drawing.text(x - 3, at, str(row), "soft", "end", SMALL)
    apart = text_width(str(right), SMALL) + text_width(str(left), SMALL)
    for column in dict.fromkeys((left, right) if (right - left) * cell >= apart / 2 + 4 else (left,)):
        at = x + (column - panel.first[1] + 0.5) * cell
        drawing.text(at, y - 4, str(column), "soft", "middle", SMALL)


def _memory_arrow(drawing: Drawing, panel: Panel, x: float, y: float, cell: float) -> None:
    """An arrow along the contiguous side, below or right of the matrix."""
    if panel.along_rows is None:
        return
    width, height = panel.columns * cell, panel.rows * cell
    if panel.along_rows:
        drawing.arrow(x, y + height + 6, x + min(width, 46), y + height + 6)
    else:
        drawing.arrow(x + width + 6, y, x + width + 6, y + min(height, 46))


def product_arrangement(panels: Sequence[Panel], width: float = WIDTH) -> Drawing:
    """A, B and C: B above C, A left of C: an element of C lies in the row of A and the column of B that it is made of."""
    a, b, c = panels
    drawing = Drawing()
    label = LABEL if any(each.marked for each in (a, b, c)) else 0.0
    cell = min(LARGEST_CELL, (width - 2 * label - 14) / (a.columns + b.columns), HIGHEST / (a.rows + b.rows))
    left, right = label, label + a.columns * cell + 10 + label
    right = max(right, left + text_width(a.title, 11) + 10)  # titles need room beside each other
    above = ABOVE if label else 20.0
    top = above
    middle = top + b.rows * cell + (12 if label else 4) + above
    draw_panel(drawing, b, right, top, cell)
    draw_panel(drawing, a, left, middle, cell)
    draw_panel(drawing, c, right, middle, cell)
    return drawing


def side_by_side(panels: Sequence[Panel], largest: float = LARGEST_CELL) -> Drawing:
    """Panels from left to right, and in further rows where there is no room. All elements have one size."""
    drawing = Drawing()
    widest = max(each.columns for each in panels)
    together = sum(each.columns for each in panels)
    room = WIDTH - (LABEL + 12) * len(panels)
    cell = min(largest, room / together)
    if cell < min(largest, READABLE if any(each.labels for each in panels) else LEAST_CELL):
        cell = min(largest, (WIDTH - LABEL - 12) / widest)
    x, y, lowest = 0.0, 0.0, 0.0
    for panel in panels:
        width = LABEL + max(panel.columns * cell, text_width(panel.title, 11)) + 12
        if x and x + width > WIDTH + 1:
            x, y = 0.0, lowest + 8
        draw_panel(drawing, panel, x + LABEL, y + ABOVE, cell)
        x += width
        lowest = max(lowest, y + ABOVE + panel.rows * cell + 10)
    return drawing


def legend(drawing: Drawing, entries: Sequence[tuple[str, str]]) -> None:
    """What each kind of shape means, below everything: (kind, words)."""
    y = drawing.height + 8
    for kind, words in entries:
        lines = wrapped(words, WIDTH - 24, 11)
        if kind == "arrow":
            drawing.arrow(0, y + 7, 14, y + 7)
        elif kind:
            drawing.box(0.7, y + 1, 13, 11, kind)
        for line in lines:
            drawing.text(20 if kind else 0, y + 11, line, "ink", size=11)
            y += 15
