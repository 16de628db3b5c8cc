"""Where the text of an SVG lies: whether any is cut off by the picture's edge, or covers other text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

from tilewright.core.svg import text_width

SPACE = "{http://www.w3.org/2000/svg}"
TOLERANCE = 1.5  # pixels by which two texts may touch, or reach over the edge


@dataclass(frozen=True)
class Text:
    """Words and the box that they fill, in pixels."""

    words: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Layout:
    """A picture's size and texts, and how many other shapes it has."""

    width: float
    height: float
    texts: tuple[Text, ...]
    shapes: int

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(each.words for each in self.texts)

    def complaints(self) -> list[str]:
        """Texts that are cut off, and pairs that overlap."""
        cut = [
            f"cut off: {each.words!r}" for each in self.texts
            if min(each.left, each.top) < -TOLERANCE
            or each.right > self.width + TOLERANCE or each.bottom > self.height + TOLERANCE
        ]  # fmt: skip
        return cut + [
            f"{one.words!r} covers {two.words!r}" for one, two in combinations(self.texts, 2) if _touch(one, two)
        ]


def _touch(one: Text, two: Text) -> bool:
    wide = min(one.right, two.right) - max(one.left, two.left)
    high = min(one.bottom, two.bottom) - max(one.top, two.top)
    return wide > TOLERANCE and high > TOLERANCE


def layout_of(svg: str) -> Layout:
    """Read a drawing. Text must be well-formed XML."""
    root = ElementTree.fromstring(svg)
    texts = tuple(text for text in _texts(root, 0.0, 0.0) if text.words.strip())
    shapes = sum(each.tag in (f"{SPACE}rect", f"{SPACE}path", f"{SPACE}circle") for each in root.iter())
    return Layout(float(root.get("width", "0")), float(root.get("height", "0")), texts, shapes)


def _texts(element: ElementTree.Element, x: float, y: float) -> Iterator[Text]:
    move = re.fullmatch(r"translate\(([-\d.e]+) ([-\d.e]+)\)", element.get("transform", ""))
    assert move or not element.get("transform"), element.get("transform")
    if move:
        x, y = x + float(move[1]), y + float(move[2])
    if element.tag == f"{SPACE}text":
        size = float((re.search(r"font-size:([\d.]+)px", element.get("style", "")) or [0, 12])[1])
        width = text_width(element.text or "", size)
        start = (
            x
            + float(element.get("x", "0"))
            - {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "start")] * width
        )
        base = y + float(element.get("y", "0"))
        yield Text(element.text or "", start, base - 0.75 * size, start + width, base + 0.2 * size)
    for child in element:
        yield from _texts(child, x, y)
