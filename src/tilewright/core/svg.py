"""The shapes that pictures are made of, as SVG text. Colours follow the viewer's preference for light or dark."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

STYLE = """
.page{fill:#ffffff}.ink{fill:#1f2328}.soft{fill:#656d76}.line{stroke:#d0d7de;stroke-width:1}
.empty{fill:#f6f8fa;stroke:#d0d7de}.used{fill:#2da44e}.moved{fill:#ffd8a8}.busy{fill:#0969da}.late{fill:#cf222e}
.load{fill:#ddf4ff;stroke:#0969da}.store{fill:#fff1e5;stroke:#bc4c00}.wall{fill:#8250df}.flow{stroke:#656d76;fill:none}
.head{font-weight:600}.light{fill:#ffffff}text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
@media (prefers-color-scheme:dark){.page{fill:#0d1117}.ink{fill:#e6edf3}.soft{fill:#8d96a0}.line{stroke:#30363d}
.empty{fill:#161b22;stroke:#30363d}.moved{fill:#7a4b12}.load{fill:#0c2d4d}.store{fill:#3d2108}}
"""


@dataclass
class Drawing:
    """Collects shapes and grows with them. Units are pixels."""

    width: float = 0.0
    height: float = 0.0
    shapes: list[str] = field(default_factory=list)

    def _reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x: float, y: float, width: float, height: float, kind: str, title: str = "") -> None:
        hover = f"<title>{escape(title)}</title>" if title else ""
        self.shapes.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}">{hover}</rect>'
        )
        self._reach(x + width, y + height)

    def text(self, x: float, y: float, words: str, kind: str = "ink", anchor: str = "start", size: int = 12) -> None:
        style = f' style="font-size:{size}px"' if size != 12 else ""
        self.shapes.append(
            f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{style}>{escape(words)}</text>'
        )
        reach = len(words) * 0.61 * size
        self._reach(x + (reach if anchor == "start" else reach / 2 if anchor == "middle" else 0), y + 4)

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self.shapes.append(
            f'<path class="flow" d="M{x:g} {y:g} L{to_x:g} {to_y:g}" marker-end="url(#tip)" stroke-width="1.5"/>'
        )
        self._reach(max(x, to_x), max(y, to_y))

    def place(self, other: "Drawing", x: float, y: float) -> None:
        """Put another drawing's shapes at (x, y)."""
        self.shapes.append(f'<g transform="translate({x:g} {y:g})">{"".join(other.shapes)}</g>')
        self._reach(x + other.width, y + other.height)

    def svg(self) -> str:
        width, height = self.width + 16, self.height + 16
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img"><style>{STYLE}</style><defs><marker id="tip" viewBox="0 0 8 8" refX="7" '
            'refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="soft" d="M0 0 L8 4 L0 8z"/>'
            f'</marker></defs><rect class="page" width="{width:g}" height="{height:g}"/>{"".join(self.shapes)}</svg>'
        )
