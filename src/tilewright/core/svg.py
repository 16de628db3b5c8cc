"""The shapes that pictures are made of, as SVG text. Colours follow the viewer's preference for light or dark.

All text is monospaced, so that its width is known without a browser: labels can be placed beside each other, and tests can
see that nothing is cut off.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

CHARACTER = 0.61  # the width of a character as a part of the font's size, of the widest of the fonts below
MARGIN = 16.0  # around a picture, right and below
FONTS = "ui-monospace,Menlo,'DejaVu Sans Mono',Consolas,monospace"
TONES = 6  # colours of lines and points, told apart by colour-blind people, too
STYLE = f"""
.page{{fill:#ffffff}}.ink{{fill:#1f2328}}.soft{{fill:#59636e}}.line{{stroke:#d0d7de;stroke-width:1}}
.empty{{fill:#f6f8fa;stroke:#d0d7de}}.used{{fill:#2da44e}}.moved{{fill:#ffd8a8}}.busy{{fill:#0969da}}.late{{fill:#cf222e}}
.load{{fill:#ddf4ff;stroke:#0969da}}.store{{fill:#fff1e5;stroke:#bc4c00}}.wall{{fill:#8250df}}.flow{{stroke:#656d76;fill:none}}
.fault{{fill:#ffebe9;stroke:#cf222e}}.costly{{fill:#fff8c5;stroke:#9a6700}}.fine{{fill:#dafbe1;stroke:#1a7f37}}
.axis{{stroke:#59636e}}.head{{font-weight:600}}.light{{fill:#ffffff}}text{{font-family:{FONTS};font-size:12px;white-space:pre}}
.halo{{stroke:#ffffff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}
.solid{{fill:currentColor}}.hollow{{fill:#ffffff;stroke:currentColor;stroke-width:1.5}}.tint{{fill:currentColor;opacity:.1}}
.curve{{fill:none;stroke:currentColor;stroke-width:2}}.thin{{fill:none;stroke:currentColor;stroke-width:1}}
.tone0{{color:#0072b2}}.tone1{{color:#c2540a}}.tone2{{color:#00855f}}.tone3{{color:#a6488a}}.tone4{{color:#8a6d00}}
.tone5{{color:#6e7781}}
@media (prefers-color-scheme:dark){{.page{{fill:#0d1117}}.ink{{fill:#e6edf3}}.soft{{fill:#9198a1}}.line{{stroke:#30363d}}
.empty{{fill:#161b22;stroke:#30363d}}.moved{{fill:#7a4b12}}.load{{fill:#0c2d4d}}.store{{fill:#3d2108}}
.fault{{fill:#3c1618}}.costly{{fill:#332701}}.fine{{fill:#12261e}}.axis{{stroke:#9198a1}}
.halo{{stroke:#0d1117}}.hollow{{fill:#0d1117}}
.tone0{{color:#58a6e8}}.tone1{{color:#f0883e}}.tone2{{color:#3fb98c}}.tone3{{color:#d68fc3}}.tone4{{color:#d6b544}}
.tone5{{color:#8b949e}}}}
"""


def text_width(words: str, size: float = 12) -> float:
    """The width of words in pixels."""
    return len(words) * CHARACTER * size


def wrapped(words: str, width: float, size: float = 12) -> list[str]:
    """The lines into which words are broken, so that each fits into `width` pixels."""
    return textwrap.wrap(words, max(int(width / (CHARACTER * size)), 1)) or [""]


def shortened(words: str, most: int) -> str:
    """Words cut to `most` characters, with three dots at a cut."""
    return words if len(words) <= most else words[: most - 3].rstrip() + "..."


def _safe(words: str) -> str:
    """Words for XML, which cannot hold control characters."""
    return escape("".join(each if each.isprintable() else "\ufffd" for each in words))


@dataclass
class Drawing:
    """Collects shapes and grows with them. Units are pixels."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[str] = field(default_factory=list)

    def _reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x: float, y: float, width: float, height: float, kind: str, title: str = "") -> None:
        self.shapes.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}">{_hover(title)}</rect>'
        )
        self._reach(x + width, y + height)

    def text(
        self, x: float, y: float, words: str, kind: str = "ink", anchor: str = "start", size: int = 12, title: str = ""
    ) -> None:
        style = f' style="font-size:{size}px"' if size != 12 else ""
        self.shapes.append(
            f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{style}>{_safe(words)}{_hover(title)}</text>'
        )
        reach = text_width(words, size)
        self._reach(x + (reach if anchor == "start" else reach / 2 if anchor == "middle" else 0), y + 4)

    def texts(self, places: Sequence[tuple[float, str]], y: float, kind: str, size: int = 12) -> None:
        """Words centred at several places of one line: less text than a `text` for each."""
        spans = "".join(f'<tspan x="{round(x, 1):g}">{_safe(words)}</tspan>' for x, words in places)
        self.shapes.append(
            f'<text class="{kind}" y="{y:g}" text-anchor="middle" style="font-size:{size}px">{spans}</text>'
        )
        self._reach(max((x + text_width(words, size) / 2 for x, words in places), default=0), y + 4)

    def stroke(self, x: float, y: float, to_x: float, to_y: float, kind: str = "line", dashes: str = "") -> None:
        """A straight line. `dashes` are lengths of strokes and gaps, such as "6 4"."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.shapes.append(f'<path class="{kind}"{dashed} d="M{x:.1f} {y:.1f} L{to_x:.1f} {to_y:.1f}"/>')
        self._reach(max(x, to_x), max(y, to_y))

    def curve(self, points: Sequence[tuple[float, float]], kind: str, dashes: str = "") -> None:
        """Straight lines from point to point."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        path = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.shapes.append(f'<path class="curve {kind}"{dashed} d="M{path}"/>')
        self._reach(max(x for x, _ in points), max(y for _, y in points))

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """A filled polygon."""
        path = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.shapes.append(f'<path class="{kind}" d="M{path}z"/>')

    def path(self, steps: str, kind: str, right: float, bottom: float, title: str = "") -> None:
        """A path in SVG's own words, which reaches as far as `right` and `bottom`."""
        self.shapes.append(f'<path class="{kind}" d="{steps}">{_hover(title)}</path>')
        self._reach(right, bottom)

    def point(self, x: float, y: float, kind: str, shape: str = "circle", radius: float = 4, title: str = "") -> None:
        """A marker: "circle", "square", "diamond" or "triangle"."""
        r = radius
        if shape == "circle":
            self.shapes.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}">{_hover(title)}</circle>')
        else:
            corners = {
                "square": ((-r, -r), (r, -r), (r, r), (-r, r)),
                "diamond": ((0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)),
                "triangle": ((0, -r - 1), (r + 1, r), (-r - 1, r)),
            }[shape]
            path = " L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners)
            self.shapes.append(f'<path class="{kind}" d="M{path}z">{_hover(title)}</path>')
        self._reach(x + r, y + r)

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self.shapes.append(
            f'<path class="flow" d="M{x:g} {y:g} L{to_x:g} {to_y:g}" marker-end="url(#tip)" stroke-width="1.5"/>'
        )
        self._reach(max(x, to_x), max(y, to_y))

    def place(self, other: "Drawing", x: float, y: float) -> None:
        """Put another drawing's shapes at (x, y)."""
        self.shapes.append(f'<g transform="translate({x:g} {y:g})">{"".join(other.shapes)}</g>')
        self._reach(x + other.width, y + other.height)

    def svg(self, style: str = "", definitions: str = "") -> str:
        """The whole picture; `style` are rules for kinds of shapes beside those of STYLE, `definitions` are patterns."""
        width, height = self.width + MARGIN, self.height + MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" xml:space="preserve"><style>{STYLE}{style}</style><defs>'
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            '<path class="soft" d="M0 0 L8 4 L0 8z"/></marker>'
            f"{definitions}</defs>"
            f'<rect class="page" width="{width:g}" height="{height:g}"/>{"".join(self.shapes)}</svg>'
        )


def _hover(title: str) -> str:
    return f"<title>{_safe(title)}</title>" if title else ""
