"""Draws rooflines with logarithmic axes: one kernel with a point for each memory, or the path of a whole ladder."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ..core.numbers import figure
from ..core.records import load
from ..core.svg import Drawing, text_width
from ..errors import Unsupported
from ..measurement.ladder_roofline import LadderRoofline
from ..measurement.roofline import Roofline
from .charts.axes import draw_heading
from .charts.placing import Box, Labels

LEFT, WIDTH, HEIGHT = 84.0, 860.0, 500.0
TONES = {"memory": "tone0", "loads and stores": "tone0", "local memory": "tone3", "multiply-adds": "tone1"}


@dataclass(frozen=True)
class Axes:
    """The picture's decades: intensity in flops per byte, rate in GFLOP/s."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float
    top: float

    @property
    def bottom(self) -> float:
        return self.top + HEIGHT

    def x(self, intensity: float) -> float:
        return LEFT + WIDTH * (math.log10(intensity) - self.low_x) / (self.high_x - self.low_x)

    def y(self, rate: float) -> float:
        return self.top + HEIGHT * (self.high_y - math.log10(rate)) / (self.high_y - self.low_y)


def load_roofline(path: Path) -> Roofline:
    """Read a saved roofline; RecordError says what is wrong with the file."""
    return load(path, Roofline, "a roofline")


def draw_roofline(found: Roofline) -> str:
    """One kernel as SVG text: a point for each way to count its bytes. Unsupported for copies and kernels that failed."""
    check_drawable(found)
    peak = found.peaks.gflops[found.dtype]
    points = _intensities(found)
    rate = found.flops / found.seconds * 1e-9
    drawing = Drawing()
    notes = [found.device.label, f"{figure(rate)} GFLOP/s: {found.fraction:.0%} of what {found.binding.name} allows"]
    top = draw_heading(drawing, f"{found.kernel}: {found.problem}", notes) + 24
    axes = _axes([each for _, each in points], [rate], found, top)
    labels = _ground(drawing, axes, found, "flops per byte")
    local = found.traffic is not None and found.traffic.local_bytes > 0
    if local:
        _slope(drawing, axes, labels, "local memory", found.peaks.local_gbs, peak)
    for _, intensity in points:
        labels.avoid_point(axes.x(intensity), axes.y(rate))
    _slope_label(drawing, axes, labels, "memory", found.peaks.copy_gbs, peak)
    if local:
        _slope_label(drawing, axes, labels, "local memory", found.peaks.local_gbs, peak)
    for name, intensity in points:
        x, y = axes.x(intensity), axes.y(rate)
        kind = "hollow" if name == "loads and stores" else "solid"
        words = f"{name}: {figure(intensity)}"
        drawing.point(x, y, f"{kind} {TONES[name.split(',')[0]]}", radius=5, title=words)
        labels.put(drawing, [(x, y)], words)
    return drawing.svg()


def draw_ladder_roofline(found: LadderRoofline, chosen: str = "") -> str:
    """The path of a ladder as SVG text: its measured rungs in order, at the flops for each byte that they load and store. The
    rung with the name `chosen` gets a ring, and its step from the rung before a stronger line."""
    rungs = [each for each in found.rungs if each.seconds and each.traffic is not None]
    if not rungs:
        raise Unsupported(f"{found.title}: no rung was measured and has known traffic, so there is no path to draw")
    for each in rungs:
        check_drawable(each)
    first = rungs[0]
    places = [
        (each.flops / each.traffic.requested_bytes, each.flops / each.seconds * 1e-9) for each in rungs if each.traffic
    ]
    drawing = Drawing()
    title = " · ".join((found.title, first.problem, first.device.label))
    top = draw_heading(drawing, title, _ladder_notes(found, rungs)) + 24
    axes = _axes([x for x, _ in places], [y for _, y in places], first, top)
    labels = _ground(drawing, axes, first, "flops per byte of loads and stores, before the caches")
    spots = [(axes.x(x), axes.y(y)) for x, y in places]
    if len(spots) > 1:
        drawing.curve(spots, "tone2 thin", "4 3")
    for before, after in pairwise(spots):
        labels.avoid_line(*before, *after)
    _ring(drawing, [each.kernel for each in rungs], spots, chosen)
    for each, (x, y) in zip(rungs, spots, strict=True):
        labels.avoid_point(x, y)
        _local_bound(drawing, axes, labels, each, x, y)
    _slope_label(drawing, axes, labels, "memory", first.peaks.copy_gbs, first.peaks.gflops[first.dtype])
    best = max((each for each in found.rungs if each.seconds), key=lambda each: each.flops / each.seconds)
    for each, (x, y), (intensity, rate) in zip(rungs, spots, places, strict=True):
        words = each.kernel.rsplit("/", 1)[-1] + (" (best)" if each is best and len(rungs) > 1 else "")
        hover = (
            f"{each.kernel}: {figure(rate)} GFLOP/s, {figure(intensity)} flops per byte; limited by {each.binding.name}"
        )
        drawing.point(x, y, "solid tone2", "diamond" if each is best else "circle", 5, hover)
        labels.put(drawing, [(x, y)], words, "ink head" if each is best else "ink")
    return drawing.svg()


def _ring(drawing: Drawing, names: Sequence[str], spots: Sequence[tuple[float, float]], chosen: str) -> None:
    """The mark of one rung, if it is drawn."""
    if chosen not in names:
        return
    place = names.index(chosen)
    if place:
        drawing.curve(spots[place - 1 : place + 1], "tone1")
    drawing.point(*spots[place], "hollow tone1", radius=10)


def _ladder_notes(found: LadderRoofline, rungs: Sequence[Roofline]) -> list[str]:
    notes = ["Above the slope of memory caches serve the loads."]
    if any(each.traffic and each.traffic.local_bytes for each in rungs):
        notes[0] += " Short bars: the most that a rung's own use of local memory allows."
    drawn = {each.kernel for each in rungs}
    absent = [each for each in found.rungs if each.kernel not in drawn]
    reasons = (f"{each.kernel} ({each.note if each.seconds else each.row.status})" for each in absent)
    return [*notes, *(["Not drawn: " + ", ".join(reasons) + "."] if absent else [])]


def check_drawable(found: Roofline) -> None:
    """Unsupported says why a roofline has no picture: a copy, a kernel that failed, or an amount of 0."""
    if not found.flops:
        raise Unsupported(f"{found.kernel} makes no multiply-adds: its only limit is memory, which the text shows")
    if not found.seconds:
        raise Unsupported(f"{found.kernel} was not measured ({found.row.status}: {found.row.reason})")
    if not found.peaks.gflops.get(found.dtype):
        raise Unsupported(f"{found.kernel}: the peak of multiply-adds in {found.dtype} is 0: it was not measured")
    amounts = [found.seconds, found.peaks.copy_gbs, found.compulsory_bytes]
    if found.traffic is not None:
        amounts.append(found.traffic.requested_bytes)
        amounts += [found.peaks.local_gbs] if found.traffic.local_bytes else []
    if min(amounts) <= 0:
        raise Unsupported(
            f"{found.kernel}: a peak, a time or a number of bytes is 0, which a logarithmic axis cannot show"
        )


def _intensities(found: Roofline) -> list[tuple[str, float]]:
    """The name and flops per byte of each point."""
    points = [("memory, each byte once", found.flops / found.compulsory_bytes)]
    if found.traffic is not None:
        points.append(("loads and stores", found.flops / found.traffic.requested_bytes))
        if found.traffic.local_bytes:
            points.append(("local memory", found.flops / found.traffic.local_bytes))
    return points


def _axes(intensities: Sequence[float], rates: Sequence[float], found: Roofline, top: float) -> Axes:
    """Room for all points, for the ridge and for two decades of rates."""
    peak = found.peaks.gflops[found.dtype]
    reach = [*intensities, peak / found.peaks.copy_gbs]
    high_y = math.log10(max(*rates, peak)) + 0.16
    return Axes(
        math.log10(min(reach)) - 0.5, math.log10(max(reach)) + 0.6,
        min(math.log10(min(rates)) - 0.3, high_y - 2), high_y, top,
    )  # fmt: skip


def _ground(drawing: Drawing, axes: Axes, found: Roofline, intensity: str) -> Labels:
    """Grid, shaded regions and the two roofs that every picture has; the places that labels must leave free."""
    peak, gbs = found.peaks.gflops[found.dtype], found.peaks.copy_gbs
    right = LEFT + WIDTH
    start = max(10.0**axes.low_x, 10.0**axes.low_y / gbs)
    foot, ridge, roof = (axes.x(start), axes.y(start * gbs)), axes.x(peak / gbs), axes.y(peak)
    drawing.box(LEFT, axes.top, WIDTH, HEIGHT, "empty")
    under_slope = [(LEFT, axes.bottom), foot, (ridge, roof), (ridge, axes.bottom)]
    drawing.area(under_slope, "tint tone0")
    drawing.area([(ridge, roof), (right, roof), (right, axes.bottom), (ridge, axes.bottom)], "tint tone1")
    _grid(drawing, axes, intensity)
    labels = Labels(Box(LEFT + 4, axes.top + 4, right - 4, axes.bottom - 22))
    _slope(drawing, axes, labels, "memory", gbs, peak)
    drawing.stroke(LEFT, roof, right, roof, "curve tone1")
    labels.avoid_line(LEFT, roof, right, roof)
    words = f"multiply-adds {figure(peak)} GFLOP/s"
    drawing.text(LEFT + 8, roof - 8, words, "ink head halo")
    labels.taken.append(Box(LEFT, roof - 22, LEFT + 16 + text_width(words), roof))
    for left, end, region in ((foot[0] + 20, ridge, "memory"), (ridge, right, "multiply-adds")):
        words = f"limited by {region}"
        if end - left > text_width(words) + 12:
            drawing.text((left + end) / 2, axes.bottom - 8, words, "soft", "middle")
    return labels


def _grid(drawing: Drawing, axes: Axes, intensity: str) -> None:
    for value in _ticks(axes.low_x, axes.high_x):
        at = axes.x(value)
        drawing.stroke(at, axes.top, at, axes.bottom)
        drawing.text(at, axes.bottom + 18, f"{value:,.6g}", "soft", "middle")
    for value in _ticks(axes.low_y, axes.high_y):
        at = axes.y(value)
        drawing.stroke(LEFT, at, LEFT + WIDTH, at)
        drawing.text(LEFT - 8, at + 4, f"{value:,.6g}", "soft", "end")
    drawing.text(LEFT + WIDTH / 2, axes.bottom + 40, intensity, "ink", "middle")
    drawing.text(LEFT - 8, axes.top - 12, "GFLOP/s", "ink", "end")


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade between two powers of ten; 1 alone if that would be many."""
    steps = (1, 2, 5) if high - low < 5 else (1,)
    values = [step * 10.0**decade for decade in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [value for value in values if 10**low <= value <= 10**high]


def _ends(axes: Axes, gbs: float, peak: float) -> tuple[float, float]:
    """The intensities at which the slope of a memory begins in the picture, and where it meets the peak."""
    return max(10**axes.low_x, 10**axes.low_y / gbs), peak / gbs


def _slope(drawing: Drawing, axes: Axes, labels: Labels, name: str, gbs: float, peak: float) -> None:
    start, ridge = _ends(axes, gbs, peak)
    if start >= ridge:
        return
    ends = (axes.x(start), axes.y(start * gbs), axes.x(ridge), axes.y(peak))
    drawing.stroke(*ends, f"curve {TONES[name]}")
    labels.avoid_line(*ends)


def _slope_label(drawing: Drawing, axes: Axes, labels: Labels, name: str, gbs: float, peak: float) -> None:
    start, ridge = _ends(axes, gbs, peak)
    if start < ridge:
        along = [start * (ridge / start) ** part for part in (0.35, 0.5, 0.2, 0.65, 0.8)]
        spots = [(axes.x(at), axes.y(at * gbs)) for at in along]
        labels.put(drawing, spots, f"{name} {figure(gbs)} GB/s", "ink head")


def _local_bound(drawing: Drawing, axes: Axes, labels: Labels, found: Roofline, x: float, y: float) -> None:
    """A short bar at the rate that local memory allows, if that is below the peak, with a thin line to the rung's point."""
    if found.traffic is None or not found.traffic.local_bytes:
        return
    most = found.flops / found.traffic.local_bytes * found.peaks.local_gbs
    if most > found.peaks.gflops[found.dtype]:
        return
    bound = axes.y(most)
    drawing.stroke(x, y, x, bound, "thin tone3")
    drawing.stroke(x - 9, bound, x + 9, bound, "curve tone3")
    labels.avoid_line(x - 9, bound, x + 9, bound)
