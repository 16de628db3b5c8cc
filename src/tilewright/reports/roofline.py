"""Draws rooflines as SVG with logarithmic axes, a slope and points for each memory, and writes them into Markdown pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from ..core.markdown import fenced
from ..core.records import load
from ..core.svg import Drawing
from ..errors import InvalidInput, RecordError, Unsupported
from ..measurement.roofline import Roofline, number

ROOFLINE_PICTURES = (".svg",)  # the endings of its pictures
LEFT, TOP, WIDTH, HEIGHT = 84.0, 56.0, 620.0, 380.0
COLOURS = {"memory": "#0969da", "memory, asked": "#54aeff", "local memory": "#8250df"}


@dataclass(frozen=True)
class Axes:
    """The picture's decades: intensity in flops per byte, rate in GFLOP/s."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float

    def x(self, intensity: float) -> float:
        return LEFT + WIDTH * (math.log10(intensity) - self.low_x) / (self.high_x - self.low_x)

    def y(self, rate: float) -> float:
        return TOP + HEIGHT * (self.high_y - math.log10(rate)) / (self.high_y - self.low_y)


def load_roofline(path: Path) -> Roofline:
    """Read a saved roofline; RecordError says what is wrong with the file."""
    return load(path, Roofline, "a roofline")


def roofline_block(words: Sequence[str], folder: Path) -> str:
    """The text of a saved roofline for a page. A second word names its picture, which is drawn again."""
    if len(words) not in (1, 2):
        raise RecordError(f"the mark roofline has {len(words)} words; it takes a record and an optional picture")
    found = load_roofline(folder / words[0])
    if len(words) == 2:
        save_roofline(found, folder / words[1])
    return fenced(str(found))


def save_roofline(found: Roofline, path: Path) -> None:
    """Write the picture. InvalidInput if the name does not end in .svg; Unsupported for copies and for kernels that failed."""
    if path.suffix.lower() not in ROOFLINE_PICTURES:
        raise InvalidInput(f"{path}: a roofline is drawn as .svg")
    path.write_text(draw_roofline(found) + "\n", encoding="utf-8")


def draw_roofline(found: Roofline) -> str:
    """The picture as SVG text."""
    if not found.flops:
        raise Unsupported(f"{found.kernel} makes no multiply-adds: its only limit is memory, which the text shows")
    if not found.seconds:
        raise Unsupported(f"{found.kernel} was not measured ({found.row.status}: {found.row.reason})")
    peak = found.peaks.gflops.get(found.dtype, 0.0)
    amounts = [found.seconds, peak, found.peaks.copy_gbs, found.compulsory_bytes, found.flops]
    if found.traffic is not None:
        amounts.append(found.traffic.requested_bytes)
        amounts += [found.peaks.local_gbs] if found.traffic.local_bytes else []
    if min(amounts) <= 0:
        raise Unsupported(
            f"{found.kernel}: a peak, a time or a number of bytes is 0, which a logarithmic axis cannot show"
        )
    points = _points(found)
    rate = found.flops / found.seconds * 1e-9
    intensities = [intensity for _, _, intensity in points] + [peak / found.peaks.copy_gbs]
    axes = Axes(
        math.floor(math.log10(min(intensities)) - 0.3), math.ceil(math.log10(max(intensities)) + 0.3),
        math.floor(math.log10(rate) - 0.7), math.ceil(math.log10(peak) + 0.05),
    )  # fmt: skip
    drawing = Drawing()
    drawing.text(LEFT, 22, f"{found.kernel}: {found.problem}", "ink head", size=14)
    drawing.text(LEFT, 40, found.device.label, "soft")
    _grid(drawing, axes)
    _peak_line(drawing, axes, "memory", found.peaks.copy_gbs, peak)
    if found.traffic is not None and found.traffic.local_bytes:
        _peak_line(drawing, axes, "local memory", found.peaks.local_gbs, peak)
    _line(drawing, axes.x(10**axes.low_x), axes.y(peak), LEFT + WIDTH, axes.y(peak), "#cf222e")
    drawing.text(LEFT + WIDTH, axes.y(peak) - 6, f"multiply-adds {number(peak)} GFLOP/s", "ink", "end")
    for place, (name, colour, intensity) in enumerate(points):
        _point(drawing, axes, intensity, rate, COLOURS[colour], f"{name}: {intensity:.3g} flops per byte", place)
    return drawing.svg()


def _points(found: Roofline) -> list[tuple[str, str, float]]:
    """The name, colour and intensity of each point."""
    points = [("each byte once", "memory", found.flops / found.compulsory_bytes)]
    if found.traffic is not None:
        points.append(("loads and stores", "memory, asked", found.flops / found.traffic.requested_bytes))
        if found.traffic.local_bytes:
            points.append(("local memory", "local memory", found.flops / found.traffic.local_bytes))
    return points


def _line(drawing: Drawing, x: float, y: float, to_x: float, to_y: float, colour: str, width: float = 2) -> None:
    drawing.shapes.append(
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'
    )


def _grid(drawing: Drawing, axes: Axes) -> None:
    drawing.box(LEFT, TOP, WIDTH, HEIGHT, "empty")
    for decade in range(int(axes.low_x), int(axes.high_x) + 1):
        at = axes.x(10.0**decade)
        _line(drawing, at, TOP, at, TOP + HEIGHT, "#d0d7de", 1)
        drawing.text(at, TOP + HEIGHT + 18, number(10.0**decade), "soft", "middle")
    for decade in range(int(axes.low_y), int(axes.high_y) + 1):
        at = axes.y(10.0**decade)
        _line(drawing, LEFT, at, LEFT + WIDTH, at, "#d0d7de", 1)
        drawing.text(LEFT - 8, at + 4, number(10.0**decade), "soft", "end")
    drawing.text(LEFT + WIDTH / 2, TOP + HEIGHT + 40, "flops per byte", "ink", "middle")
    drawing.text(8, TOP - 10, "GFLOP/s", "ink")


def _peak_line(drawing: Drawing, axes: Axes, name: str, gbs: float, peak: float) -> None:
    """The slope of one memory, up to the peak of multiply-adds."""
    start = max(10**axes.low_x, 10**axes.low_y / gbs)
    ridge = peak / gbs
    _line(drawing, axes.x(start), axes.y(start * gbs), axes.x(ridge), axes.y(peak), COLOURS[name])
    middle = math.sqrt(start * ridge)
    drawing.text(axes.x(middle) + 8, axes.y(middle * gbs) + 14, f"{name} {number(gbs)} GB/s", "ink")


def _point(drawing: Drawing, axes: Axes, intensity: float, rate: float, colour: str, words: str, place: int) -> None:
    x, y = axes.x(intensity), axes.y(rate)
    drawing.shapes.append(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"><title>{escape(words)}</title></circle>'
    )
    legend = TOP + HEIGHT - 14 - 18 * place
    drawing.shapes.append(f'<circle cx="{LEFT + WIDTH - 352:.1f}" cy="{legend - 4:.1f}" r="5" fill="{colour}"/>')
    drawing.text(LEFT + WIDTH - 340, legend, f"measured, {words}", "ink")
