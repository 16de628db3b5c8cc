"""Labels beside points, so that none covers another, a point or a line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...core.svg import Drawing, text_width

STEP = 6.0  # a line is avoided as boxes of this length
HEIGHT = 12.0  # of a label
DISTANCES = (9.0, 15.0, 24.0, 36.0, 50.0, 70.0, 95.0, 125.0, 160.0, 200.0)


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: "Box") -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


@dataclass
class Labels:
    """Places labels within `frame`. Each label, point and line takes its place away from later labels."""

    frame: Box
    taken: list[Box] = field(default_factory=list)

    def avoid_point(self, x: float, y: float, radius: float = 6.0) -> None:
        self.taken.append(Box(x - radius, y - radius, x + radius, y + radius))

    def avoid_line(self, x: float, y: float, to_x: float, to_y: float) -> None:
        steps = max(int(max(abs(to_x - x), abs(to_y - y)) / STEP), 1)
        for step in range(steps + 1):
            self.avoid_point(x + (to_x - x) * step / steps, y + (to_y - y) * step / steps, 3.0)

    def put(self, drawing: Drawing, spots: Sequence[tuple[float, float]], words: str, kind: str = "ink") -> None:
        """Write words near one of the spots, with a thin line to it if they stand further away."""
        width = text_width(words)
        places = [
            (box, distance, spot) for distance in DISTANCES for spot in spots for box in _around(*spot, distance, width)
        ]
        free = (
            place for place in places
            if place[0].within(self.frame) and not any(place[0].touches(other) for other in self.taken)
        )  # fmt: skip
        box, distance, (x, y) = next(free, places[0])
        if distance > DISTANCES[1]:
            edge_x = min(max(x, box.left), box.right)
            edge_y = min(max(y, box.top), box.bottom)
            drawing.stroke(x, y, edge_x, edge_y, "axis", "2 2")
        self.taken.append(box)
        drawing.text(box.left, box.bottom - 2, words, f"{kind} halo")


def _around(x: float, y: float, distance: float, width: float) -> Iterator[Box]:
    """Places around a point: right, left, above, below, and between."""
    half, slant = HEIGHT / 2, distance * 0.75
    corners = (
        (x + distance, y - half), (x - distance - width, y - half), (x - width / 2, y - distance - HEIGHT),
        (x - width / 2, y + distance), (x + slant, y - slant - half), (x + slant, y + slant - half),
        (x - slant - width, y - slant - half), (x - slant - width, y + slant - half),
        (x, y - distance - HEIGHT), (x, y + distance), (x - width, y - distance - HEIGHT), (x - width, y + distance),
    )  # fmt: skip
    for left, top in corners:
        yield Box(left, top, left + width, top + HEIGHT)
