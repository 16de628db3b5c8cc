"""A map of a benchmark's ratios: the side of C across, the depth K upwards, losses in red."""

import math
from collections.abc import Sequence

from ...core.svg import Drawing
from ..benchmark_table import ProblemRows
from ..charts.ratios import Ratio, ratio_of
from .words import say

FEWEST = 12  # problems of a map
APART = 3  # different depths that a map needs
LEFT, TOP, WIDTH, HEIGHT = 70.0, 40.0, 640.0, 420.0
STRONG = 1.1  # a ratio beyond this gets a larger point


def draw_map(groups: Sequence[ProblemRows]) -> Drawing | None:
    """The map of products; None if they are few, or of few depths."""
    found = [(group[1].size, ratio_of(group)) for group in groups if len(group) > 1 and len(group[1].size) == 3]
    places = [
        (math.sqrt(size[0] * size[1]), float(size[2]), ratio) for size, ratio in found if ratio.median and min(size) > 0
    ]
    if len(places) < FEWEST or len({depth for _, depth, _ in places}) < APART:
        return None
    sides, depths = [math.log2(side) for side, _, _ in places], [math.log2(depth) for _, depth, _ in places]
    low_x, high_x = math.floor(min(sides)), math.ceil(max(sides))
    low_y, high_y = math.floor(min(depths)), math.ceil(max(depths))
    drawing = Drawing()
    _axes(drawing, (low_x, max(high_x, low_x + 1)), (low_y, max(high_y, low_y + 1)))
    for x, y, (_, _, ratio) in sorted(zip(sides, depths, places, strict=True), key=lambda each: -each[2][2].median):
        at_x = LEFT + WIDTH * (x - low_x) / max(high_x - low_x, 1)
        at_y = TOP + HEIGHT * (high_y - y) / max(high_y - low_y, 1)
        drawing.point(at_x, at_y, _tone(ratio), radius=_radius(ratio), title=f"{ratio.problem}: {ratio.median:.2f}")
    return drawing


def _axes(drawing: Drawing, x: tuple[int, int], y: tuple[int, int]) -> None:
    drawing.box(LEFT, TOP, WIDTH, HEIGHT, "empty")
    for tick in range(x[0], x[1] + 1):
        at = LEFT + WIDTH * (tick - x[0]) / (x[1] - x[0])
        drawing.stroke(at, TOP, at, TOP + HEIGHT)
        drawing.text(at, TOP + HEIGHT + 18, f"{2**tick:,}", "soft", "middle")
    for tick in range(y[0], y[1] + 1):
        at = TOP + HEIGHT * (y[1] - tick) / (y[1] - y[0])
        drawing.stroke(LEFT, at, LEFT + WIDTH, at)
        drawing.text(LEFT - 8, at + 4, f"{2**tick:,}", "soft", "end")
    drawing.text(LEFT, TOP + HEIGHT + 40, say("map.side"), "ink")
    drawing.text(LEFT - 54, TOP - 24, say("map.depth"), "ink")
    drawing.point(LEFT + 250, TOP - 28, "solid tone0")
    drawing.text(LEFT + 260, TOP - 24, say("map.win"), "soft")
    drawing.point(LEFT + 350, TOP - 28, "late")
    drawing.text(LEFT + 360, TOP - 24, say("map.loss"), "soft")
    drawing.point(LEFT + 450, TOP - 28, "hollow tone5")
    drawing.text(LEFT + 460, TOP - 24, say("map.tie"), "soft")


def _tone(ratio: Ratio) -> str:
    return "solid tone0" if ratio.low > 1 else "late" if ratio.high < 1 else "hollow tone5"


def _radius(ratio: Ratio) -> float:
    """Larger, the further from 1."""
    return min(3.0 + 4.0 * abs(math.log(ratio.median)) / math.log(STRONG) / 3, 9.0)
