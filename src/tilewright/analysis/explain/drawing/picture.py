"""The picture of an explanation: an SVG, or an HTML page with the annotated source and the verdict."""

from html import escape
from pathlib import Path

from ....core.svg import Drawing
from ....errors import InvalidInput
from ..annotate import annotated_source, heading, summary
from ..explanation import Explanation
from ..verdict import verdict
from .flow import draw_path, draw_timeline
from .requests import draw_access

ENDINGS = (".svg", ".html")


def parts(explanation: Explanation) -> list[tuple[str, Drawing]]:
    """Titled drawings: the path of the data, the timeline, and one request of each access."""
    out = [("From global memory to registers", draw_path(explanation))]
    if explanation.profile.barriers:
        out.append(("Between the barriers", draw_timeline(explanation)))
    sub_group = explanation.model.sub_group
    for access in explanation.accesses:
        line = explanation.source.line(access.position)
        space = "Local" if access.is_local else access.space.capitalize()
        out.append((f"{space} memory, one {sub_group}", draw_access(access, explanation.model, line)))
    return out


def svg(explanation: Explanation) -> str:
    """All drawings one below the other."""
    page = Drawing()
    page.text(16, 28, heading(explanation), "ink head", size=15)
    y = 52.0
    for line in verdict(explanation)[:6]:
        page.text(16, y, line, "ink")
        y += 18
    for title, drawing in parts(explanation):
        y += 26
        page.text(16, y, title, "ink head", size=14)
        page.place(drawing, 16, y + 12)
        y += drawing.height + 20
    return page.svg()


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}}
pre{{font:12px/1.45 ui-monospace,Menlo,Consolas,monospace;overflow:auto}}figure{{margin:1.5rem 0;overflow:auto}}
.fault{{color:#cf222e}}.cost{{color:#0969da}}.note{{color:#9a6700}}h1{{font-size:1.3rem}}h2{{font-size:1.05rem}}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""
_MARKS = {"!": "fault", ">": "cost", "~": "note"}


def html(explanation: Explanation) -> str:
    """The whole explanation as a self-contained page."""
    sentences = "".join(f"<li>{escape(line)}</li>" for line in verdict(explanation))
    sums = "".join(f"<p>{escape(line)}</p>" for line in summary(explanation))
    figures = "".join(
        f"<h2>{escape(title)}</h2><figure>{drawing.svg()}</figure>" for title, drawing in parts(explanation)
    )
    code = "\n".join(_coloured(line) for line in annotated_source(explanation))
    body = f"<ul>{sentences}</ul>{sums}<h2>Source, with the traffic of each line</h2><pre>{code}</pre>{figures}"
    return _PAGE.format(title=escape(heading(explanation)), body=body)


def _coloured(line: str) -> str:
    mark = line[5:6] if line[:5] == "     " else ""
    text = escape(line)
    return f'<span class="{_MARKS[mark]}">{text}</span>' if mark in _MARKS else text


def save_picture(explanation: Explanation, path: str | Path) -> Path:
    """Write the picture as .svg or .html, by the file's ending."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"a picture is an .svg or an .html file, not {target.name!r}")
    target.write_text(svg(explanation) if target.suffix.lower() == ".svg" else html(explanation), encoding="utf-8")
    return target
