"""A ladder at several sizes: a line for each rung and baseline, named at its right end."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.records import Record, Row
from ...core.svg import TONES, Drawing, text_width
from ..beside import side
from ..table import failure, heading
from .axes import LEFT, WIDTH, draw_heading, figure, linear_ticks, spread, unit_for
from .rates import fastest

LABEL = 15.0  # from one label to the next
MOST_NOTES = 8  # of rungs that are not drawn
SHAPES = ("circle", "square", "diamond", "triangle")


@dataclass(frozen=True)
class Line:
    """The points of one name: places on the axis of sizes, and rates. `tone` is one for both backends of a kernel."""

    name: str
    points: tuple[tuple[int, float], ...]
    is_baseline: bool
    is_cuda: bool
    tone: int

    @property
    def dashes(self) -> str:
        return "6 4" if self.is_baseline else "2 3" if self.is_cuda else ""


@dataclass(frozen=True)
class _Frame:
    left: float
    right: float
    top: float
    bottom: float
    places: int
    most: float

    def x(self, place: float) -> float:
        return self.left + 24 + (self.right - self.left - 48) * place / max(self.places - 1, 1)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * value / self.most


def is_sweep(record: Record) -> bool:
    """Whether the kernels were measured at more than one size."""
    return len({row.size for row in record.rows if not row.is_baseline and row.measured and row.size}) > 1


def draw_sizes(record: Record) -> Drawing:
    """The chart of a sweep. Sizes stand at equal distances, from the smallest to the largest."""
    rows = [row for row in record.rows if row.measured and row.size]
    sizes = sorted({row.size for row in rows}, key=lambda size: (_volume(size), size))
    lines = _lines(rows, sizes)
    unit, scale = unit_for(max(row.rate for row in rows), rows[-1].unit)
    best = fastest(rows)
    dotted = " Dotted: CUDA." if any(line.is_cuda for line in lines) else ""
    notes = [f"{unit} by size. Dashed: what rungs are compared with.{dotted}", *_not_drawn(record.rows)]
    drawing = Drawing()
    top = draw_heading(drawing, heading(record, sizes=False), notes) + 8
    names = [_name(line, scale, best) for line in lines]
    room = max(text_width(name) for name in names) + 46
    width = max(WIDTH - room - 72, 74.0 * len(sizes))
    frame = _Frame(
        LEFT + 56, LEFT + 56 + width, top, top + max(380.0, LABEL * len(lines) + 16), len(sizes),
        max(row.rate for row in rows) / scale * 1.04,
    )  # fmt: skip
    _grid(drawing, frame, [_side(size) for size in sizes], unit)
    ends = spread([frame.y(line.points[-1][1] / scale) for line in lines], LABEL, frame.top + 8, frame.bottom - 4)
    for line, name, end in zip(lines, names, ends, strict=True):
        _line(drawing, frame, line, scale, (name, end, best is not None and line.name == best.label))
    return drawing


def _not_drawn(rows: Sequence[Row]) -> list[str]:
    """Each rung and reason once, with its sizes: the first few, and how many others there are."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if not row.passed:
            found.setdefault((row.label, failure(row)), []).append(side(row))
    notes = [f"Not drawn: {label} at {_few(sizes)}: {reason}" for (label, reason), sizes in found.items()]
    more = len(notes) - MOST_NOTES
    return [*notes[:MOST_NOTES], *([f"Not drawn, either: {more} others."] if more > 0 else [])]


def _few(sizes: Sequence[str]) -> str:
    return ", ".join(sizes) if len(sizes) <= 3 else f"{sizes[0]} to {sizes[-1]}"


def _volume(size: tuple[int, ...]) -> int:
    product = 1
    for each in size:
        product *= each
    return product


def _side(size: tuple[int, ...]) -> str:
    return str(size[0]) if len(set(size)) == 1 else "x".join(map(str, size))


def _lines(rows: Sequence[Row], sizes: Sequence[tuple[int, ...]]) -> list[Line]:
    """A line for each name, in the order of the rows."""
    found = []
    kernels = list(dict.fromkeys(row.name for row in rows))
    for name in dict.fromkeys(row.label for row in rows):
        own = [row for row in rows if row.label == name]
        points = sorted((sizes.index(row.size), row.rate) for row in own)
        first = own[0]
        tone = kernels.index(first.name)
        found.append(Line(name, tuple(points), first.is_baseline, first.label != first.name, tone))
    return found


def _name(line: Line, scale: float, best: Row | None) -> str:
    mark = " best" if best is not None and best.label == line.name else ""
    return f"{line.name} {figure(line.points[-1][1] / scale)}{mark}"


def _grid(drawing: Drawing, frame: _Frame, sizes: Sequence[str], unit: str) -> None:
    for value in linear_ticks(frame.most):
        drawing.stroke(frame.left, frame.y(value), frame.right, frame.y(value), "line" if value else "axis")
        drawing.text(frame.left - 8, frame.y(value) + 4, f"{value:,.6g}", "soft", "end")
    step = max(-(-int(max(map(text_width, sizes)) + 12) * len(sizes) // int(frame.right - frame.left)), 1)
    for place, size in enumerate(sizes):
        drawing.stroke(frame.x(place), frame.bottom, frame.x(place), frame.bottom + 5, "axis")
        if place % step == 0:
            drawing.text(frame.x(place), frame.bottom + 20, size, "soft", "middle")
    drawing.text(frame.left, frame.bottom + 42, f"size (one number: all sides are equal), rates in {unit}", "ink")


def _line(drawing: Drawing, frame: _Frame, line: Line, scale: float, label: tuple[str, float, bool]) -> None:
    words, end, best = label
    tone, shape = f"tone{line.tone % TONES}", SHAPES[line.tone // TONES % len(SHAPES)]
    points = [(frame.x(place), frame.y(rate / scale)) for place, rate in line.points]
    drawing.curve(points, tone, line.dashes)
    for x, y in points:
        drawing.point(x, y, f"{'hollow' if line.is_baseline else 'solid'} {tone}", shape, 3.5, line.name)
    x, y = points[-1]
    drawing.curve([(x + 6, y), (frame.right + 6, end), (frame.right + 16, end)], f"{tone} thin", "2 2")
    drawing.point(frame.right + 22, end, f"{'hollow' if line.is_baseline else 'solid'} {tone}", shape, 3.5)
    drawing.text(frame.right + 32, end + 4, words, "ink head" if best else "ink")
