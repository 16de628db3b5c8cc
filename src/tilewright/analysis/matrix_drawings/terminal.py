"""Draws panels as text of at most 80 columns, with block characters."""

from collections.abc import Sequence

from .panels import Panel

COLUMNS = 78
GLYPHS = {0: "·", 1: "░", 2: "▒", 3: "█", 4: "▓"}
NEXT = "+"


def text_panel(panel: Panel, every: int) -> list[str]:
    """A line for each row, a character for `every` x `every` elements: the darkest shade among them. Where every element has a
    label, the labels."""
    if numbered(panel):
        return labels_of(panel)
    rows, columns = -(-panel.rows // every), -(-panel.columns // every)
    table = [[0] * columns for _ in range(rows)]
    for shade in sorted(panel.shades):
        for row, column in panel.inside(panel.shades[shade]):
            table[row // every][column // every] = max(table[row // every][column // every], shade)
    lines = [[GLYPHS[each] for each in row] for row in table]
    for row, column in panel.inside(panel.outlined):
        if table[row // every][column // every] < 2:
            lines[row // every][column // every] = NEXT
    return ["".join(line) for line in lines]


def numbered(panel: Panel) -> bool:
    """Whether every element of a panel has a label."""
    return len(panel.inside(panel.labels)) == panel.rows * panel.columns


def labels_of(panel: Panel) -> list[str]:
    """The labels of a numbered panel, a line for each row."""
    first_row, first_column = panel.first
    table = [
        [panel.labels[first_row + row, first_column + column] for column in range(panel.columns)]
        for row in range(panel.rows)
    ]
    width = max(len(each) for row in table for each in row)
    return [" ".join(each.rjust(width) for each in row) for row in table]


def beside(left: Sequence[str], right: Sequence[str], gap: int = 3) -> list[str]:
    """Two blocks of lines side by side."""
    width = max(map(len, left), default=0) + gap
    lines = max(len(left), len(right))
    return [
        ((left[at] if at < len(left) else "").ljust(width) + (right[at] if at < len(right) else "")).rstrip()
        for at in range(lines)
    ]


def product_text(panels: Sequence[Panel]) -> list[str]:
    """A, B and C: B above C, A left of C."""
    a, b, c = panels
    every = scale((a.columns + b.columns,), COLUMNS - 3)
    titled = {each.title: [each.title, *text_panel(each, every)] for each in (a, b, c)}
    above = beside([" " * max(len(each) for each in titled[a.title])], titled[b.title])
    note = [f"each character is {every} x {every} elements"] if every > 1 else []
    return [*above, *beside(titled[a.title], titled[c.title]), *note]


def row_text(panels: Sequence[Panel]) -> list[str]:
    """Panels side by side, or one below the other where there is no room."""
    every = scale([each.columns for each in panels], COLUMNS)
    lines: list[str] = []
    row: list[str] = []
    for panel in panels:
        block = [panel.title, *text_panel(panel, every)]
        joined = beside(row, block) if row else block
        if row and max(map(len, joined)) > COLUMNS:
            lines, row = [*lines, *row, ""], block
        else:
            row = joined
    note = [f"each character is {every} x {every} elements"] if every > 1 else []
    return [*lines, *row, *note]


def scale(widths: Sequence[int], room: int) -> int:
    """How many elements one character stands for, along a side."""
    every = 1
    while max(widths) > room * every:
        every *= 2
    return every
