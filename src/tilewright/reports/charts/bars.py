"""Horizontal bars from zero on a linear axis, with labelled lines across them."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.svg import Drawing, shortened, text_width
from .axes import LEFT, WIDTH, draw_heading, linear_ticks

ROW, THICK = 24.0, 14.0
NAME = 44  # characters of a bar's label
FAR = 2.5  # a line at more than this many times the longest bar is named above the chart and not drawn
WIDE = 6.0  # pixels of a whisker that can be seen
LEGIBLE = 300.0  # pixels of the bars' room


@dataclass(frozen=True)
class Bar:
    """One bar. `kind` is "kernel", "best", "baseline" or "failed". `low` and `high` are the ends of its spread.

    `words` stand at its end, `hover` shows under the pointer, `group` is the heading above the first bar of a group.
    """

    label: str
    value: float
    words: str
    kind: str = "kernel"
    low: float = 0.0
    high: float = 0.0
    hover: str = ""
    group: str = ""


@dataclass(frozen=True)
class Mark:
    """A line across all bars: a peak, or the rate of a baseline (`dashed`)."""

    value: float
    words: str
    dashed: bool = False


@dataclass(frozen=True)
class _Scale:
    left: float
    room: float
    most: float

    def x(self, value: float) -> float:
        return self.left + self.room * value / self.most


def draw_bars(title: str, notes: Sequence[str], bars: Sequence[Bar], marks: Sequence[Mark], axis: str) -> Drawing:
    """The chart of bars that have at least one value above 0. `axis` is the unit of values."""
    longest = max(bar.value for bar in bars)
    near = [mark for mark in marks if mark.value <= FAR * longest]
    far = [mark.words for mark in marks if mark not in near]
    drawing = Drawing()
    y = draw_heading(drawing, title, [*notes, *(f"Beyond the right edge: {words}." for words in far)]) + 6
    scale = _scale(bars, near)
    y = _mark_labels(drawing, scale, near, y)
    top = y
    rows = Drawing()
    for index, bar in enumerate(bars):
        if bar.group and (not index or bars[index - 1].group != bar.group):
            _plated(rows, LEFT, y, bar.group, "ink head")
            y += ROW
        _row(rows, scale, bar, y)
        y += ROW
    _grid(drawing, scale, axis, top, y)
    for mark in near:
        drawing.stroke(scale.x(mark.value), top - 4, scale.x(mark.value), y, _tone(mark), "6 4" if mark.dashed else "")
    drawing.place(rows, 0, 0)
    return drawing


def _scale(bars: Sequence[Bar], marks: Sequence[Mark]) -> _Scale:
    """Room for labels on the left, and for the words at the ends of the bars."""
    left = LEFT + max(text_width(shortened(bar.label, NAME)) for bar in bars) + 10
    most = max([bar.value for bar in bars] + [bar.high for bar in bars] + [mark.value for mark in marks])
    room = WIDTH - left - 8
    for bar in bars:  # a bar with its words ends within the picture
        share, words = max(bar.value, bar.high) / most, text_width(bar.words) + 12
        if bar.kind != "failed" and share > 0:
            room = min(room, (WIDTH - left - words) / share)
    return _Scale(left, max(room, LEGIBLE), most)


def _mark_labels(drawing: Drawing, scale: _Scale, marks: Sequence[Mark], y: float) -> float:
    """The lines' labels above the bars, one below the other where they would touch: where the bars begin."""
    if not marks:
        return y
    ends: list[float] = []  # where the last label of each line of labels ends
    for mark in sorted(marks, key=lambda each: each.value):
        half = text_width(mark.words) / 2
        middle = min(max(scale.x(mark.value), LEFT + half), WIDTH - half)
        line = next((at for at, end in enumerate(ends) if middle - half > end), len(ends))
        ends[line : line + 1] = [middle + half + 12]
        drawing.text(middle, y + 12 + 16 * line, mark.words, "ink head", "middle")
    return y + 16 * len(ends) + 10


def _tone(mark: Mark) -> str:
    return "curve tone4" if mark.dashed else "curve tone1"


def _grid(drawing: Drawing, scale: _Scale, axis: str, top: float, bottom: float) -> None:
    for value in linear_ticks(scale.most):
        x = scale.x(value)
        drawing.stroke(x, top, x, bottom, "axis" if value == 0 else "line")
        drawing.text(x, bottom + 18, f"{value:,.6g}", "soft", "middle")
    drawing.text(scale.left, bottom + 38, axis, "ink")


def _row(drawing: Drawing, scale: _Scale, bar: Bar, y: float) -> None:
    label = shortened(bar.label, NAME)
    best = bar.kind == "best"
    drawing.text(scale.left - 8, y + 16, label, "ink head" if best else "ink", "end", title=bar.hover or bar.label)
    if bar.kind == "failed":
        most = int((WIDTH - scale.left - 8) / text_width("m"))
        _plated(drawing, scale.left + 6, y, shortened(bar.words, most), "soft", bar.words)
        return
    kind = "hollow tone5" if bar.kind == "baseline" else "solid tone2" if best else "solid tone0"
    middle = y + ROW / 2
    drawing.box(scale.left, middle - THICK / 2, max(scale.room * bar.value / scale.most, 1), THICK, kind, bar.hover)
    if bar.low > 0 and scale.x(bar.high) - scale.x(bar.low) >= WIDE:
        drawing.stroke(scale.x(bar.low), middle, scale.x(bar.high), middle, "axis")
        for end in (bar.low, bar.high):
            drawing.stroke(scale.x(end), middle - 4, scale.x(end), middle + 4, "axis")
    end = scale.x(max(bar.value, bar.high)) + 8
    _plated(drawing, end, y, bar.words, "ink head" if best else "ink", bar.hover)


def _plated(drawing: Drawing, x: float, y: float, words: str, kind: str, hover: str = "") -> None:
    """Words of the row at `y` that hide the lines behind them."""
    drawing.box(x - 3, y + 4, text_width(words) + 6, ROW - 8, "page")
    drawing.text(x, y + 16, words, kind, title=hover)
