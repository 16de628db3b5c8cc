"""The picture of an explanation as an SVG."""

from pathlib import Path

from ....core.files import write_atomically
from ....core.language import in_english
from ....core.svg import Drawing, wrapped
from ....errors import InvalidInput
from ..annotate import heading
from ..explanation import Explanation
from ..verdict import verdict
from .flow import draw_path, draw_timeline
from .requests import draw_access
from .source import GRADES, draw_source, grade

ENDINGS = (".svg",)
WIDTH = 1000.0  # of the heading and the verdict, in pixels
SENTENCES = 6  # of the verdict in an SVG


@in_english()
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


@in_english()
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


def save_picture(explanation: Explanation, path: str | Path) -> Path:
    """Write the picture as .svg."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"a picture is an .svg file, not {target.name!r}; `explain --html` writes a page")
    write_atomically(target, svg(explanation).encode())
    return target
