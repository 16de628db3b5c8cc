"""The picture of an explanation: an SVG, or an HTML page with the annotated source and the verdict."""

from html import escape
from pathlib import Path

from ....core.svg import Drawing, wrapped
from ....errors import InvalidInput
from ..annotate import heading, summary
from ..explanation import Explanation
from ..verdict import verdict
from .flow import draw_path, draw_timeline
from .requests import draw_access
from .source import GRADES, draw_source, grade, source_html, source_lines

ENDINGS = (".svg", ".html")
WIDTH = 1000.0  # of the heading and the verdict, in pixels
SENTENCES = 6  # of the verdict in an SVG


def parts(explanation: Explanation) -> list[tuple[str, Drawing]]:
    """Titled drawings: the path of the data, the timeline, and one request of each access."""
    out = [("From global memory to registers", draw_path(explanation))]
    if explanation.profile.barriers:
        out.append(("Between the barriers", draw_timeline(explanation)))
    sub_group = explanation.model.sub_group
    for access in (each for each in explanation.accesses if not each.is_image):
        line = explanation.source.line(access.position)
        space = "Local" if access.is_local else access.space.capitalize()
        out.append((f"{space} memory, one {sub_group}", draw_access(access, explanation.model, line)))
    return out


def svg(explanation: Explanation) -> str:
    """All drawings one below the other: the verdict, the source with bars, then the parts."""
    page = Drawing()
    y = 28.0
    for line in wrapped(heading(explanation), WIDTH, 15):
        page.text(16, y, line, "ink head", size=15)
        y += 20
    y = _verdict_box(page, explanation, y)
    for title, drawing in [("Source, with the traffic of each line", draw_source(explanation)), *parts(explanation)]:
        y += 26
        page.text(16, y, title, "ink head", size=14)
        page.place(drawing, 16, y + 12)
        y += drawing.height + 20
    return page.svg()


def _verdict_box(page: Drawing, explanation: Explanation, y: float) -> float:
    """The verdict in a box whose colour and first line say how the kernel fares: where the picture may go on."""
    kind = grade(explanation)
    lines = [line for sentence in verdict(explanation)[:SENTENCES] for line in wrapped(sentence, WIDTH - 24)]
    height = 18 * (len(lines) + 1) + 14
    page.box(16, y - 8, WIDTH, height, kind)
    page.text(28, y + 10, GRADES[kind], "ink head")
    for row, line in enumerate(lines):
        page.text(28, y + 28 + 18 * row, line, "ink")
    return y + height


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}}
pre{{font:12px/1.45 ui-monospace,Menlo,Consolas,monospace;overflow:auto}}figure{{margin:1.5rem 0;overflow:auto}}
.verdict{{border:1px solid;border-left-width:6px;border-radius:6px;padding:.6rem 1rem}}.verdict ul{{margin:.4rem 0 0}}
.verdict.fault{{background:#ffebe9;border-color:#cf222e}}.verdict.costly{{background:#fff8c5;border-color:#9a6700}}
.verdict.fine{{background:#dafbe1;border-color:#1a7f37}}pre .fault{{color:#cf222e;font-weight:600}}pre .cost{{color:#0969da}}
pre .note{{color:#9a6700}}i.bar{{display:inline-block;height:.7em}}i.least{{background:#2da44e;margin-left:1.5em}}
i.excess{{background:#cf222e}}h1{{font-size:1.3rem}}h2{{font-size:1.05rem}}
@media (prefers-color-scheme:dark){{body{{background:#0d1117;color:#e6edf3}}.verdict.fault{{background:#3c1618}}
.verdict.costly{{background:#332701}}.verdict.fine{{background:#12261e}}pre .fault{{color:#ff7b72}}pre .cost{{color:#58a6ff}}
pre .note{{color:#d29922}}}}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""


def html(explanation: Explanation) -> str:
    """The whole explanation as a self-contained page."""
    kind = grade(explanation)
    sentences = "".join(f"<li>{escape(line)}</li>" for line in verdict(explanation))
    judged = f'<div class="verdict {kind}"><strong>{escape(GRADES[kind])}</strong><ul>{sentences}</ul></div>'
    sums = "".join(f"<p>{escape(line)}</p>" for line in summary(explanation))
    figures = "".join(
        f"<h2>{escape(title)}</h2><figure>{drawing.svg()}</figure>" for title, drawing in parts(explanation)
    )
    code = source_html(source_lines(explanation))
    bars = "<p>Bars: the cost of an access. Green: the least that it could cost; red: the rest.</p>"
    body = f"{judged}{sums}<h2>Source, with the traffic of each line</h2>{bars}<pre>{code}</pre>{figures}"
    return _PAGE.format(title=escape(heading(explanation)), body=body)


def save_picture(explanation: Explanation, path: str | Path) -> Path:
    """Write the picture as .svg or .html, by the file's ending."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"a picture is an .svg or an .html file, not {target.name!r}")
    target.write_text(svg(explanation) if target.suffix.lower() == ".svg" else html(explanation), encoding="utf-8")
    return target
