"""Draws the source with a bar for the cost of each access, and says in one word how a kernel fares."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from ....core.svg import Drawing, text_width
from ..annotate import access_line, annotated_source
from ..explanation import Explanation
from ..profile import LineAccess
from ..verdict import is_costly

BAR = 160.0  # pixels of the most costly access of those that are counted in one unit
LINE = 16.0
MOST_LINES = 120  # of a longer source only lines with traffic or findings are drawn
MARKS = {"!": "fault", ">": "cost", "~": "note"}
GRADES = {
    "fault": "\u2717 faults: the result cannot be trusted",
    "costly": "! some accesses cost more than they must",
    "fine": "\u2713 no fault, and no access that costs much more than it must",
}


@dataclass(frozen=True)
class SourceLine:
    """A line of the annotated source. `kind` is "code", "cost", "fault" or "note".

    For the cost of an access, `least` and `excess` are the lengths of its bar: the least that it could cost, and the rest.
    """

    text: str
    kind: str
    least: float = 0.0
    excess: float = 0.0
    hover: str = ""


def grade(explanation: Explanation) -> str:
    """A key of GRADES: "fault", "costly" or "fine"."""
    if explanation.faults:
        return "fault"
    return "costly" if any(is_costly(each) for each in explanation.accesses) else "fine"


def source_lines(explanation: Explanation) -> list[SourceLine]:
    """The annotated source with the lengths of bars. Bars of one unit share a scale: sectors, passes or addresses."""
    every = (*explanation.accesses, *explanation.private_accesses)
    most: dict[str, int] = {}
    accesses: dict[str, LineAccess] = {}
    for each in every:
        most[each.unit] = max(most.get(each.unit, 1), each.cost)
        words = access_line(each, explanation.model)
        accesses[words] = accesses[f"{each.position}: {words}"] = each
    found = []
    texts = annotated_source(explanation)
    longest = max((len(text) for text in texts if text.startswith("     >")), default=0)
    for text in texts:
        kind = MARKS.get(text[5:6], "code") if text[:5] == "     " else "code"
        access = accesses.get(text[7:]) if kind == "cost" else None
        if access is None:
            found.append(SourceLine(text, kind))
            continue
        length = BAR * access.cost / most[access.unit]
        least = min(length * access.ideal / access.cost, length) if access.cost else 0.0
        unit = explanation.model.local_passes if access.is_local else access.unit
        hover = f"{access.cost:,} {unit}, at least {access.ideal:,}"
        found.append(SourceLine(text.ljust(longest), kind, least, length - least, hover))
    return found


def draw_source(explanation: Explanation) -> Drawing:
    """The annotated source. Behind each access stands its bar: green what it must cost, orange or red what it need not."""
    lines = source_lines(explanation)
    if len(lines) > MOST_LINES:
        lines = [each for index, each in enumerate(lines) if each.kind != "code" or _marked(lines, index + 1)]
    drawing = Drawing()
    left = max((text_width(each.text) for each in lines if each.kind == "cost"), default=0.0) + 16
    y = 0.0
    for each in lines:
        tone = {"code": "ink", "cost": "soft", "fault": "ink head", "note": "soft"}[each.kind]
        drawing.text(0, y + 12, each.text, tone, title=each.hover)
        if each.least + each.excess:
            drawing.box(left, y + 3, max(each.least, 1), 10, "used", each.hover)
            if each.excess >= 1:
                drawing.box(left + each.least, y + 3, each.excess, 10, "late", each.hover)
        y += LINE
    drawing.text(0, y + 16, "Bars: the cost of an access. Green: the least that it could cost; red: the rest.", "soft")
    return drawing


def _marked(lines: list[SourceLine], index: int) -> bool:
    return index < len(lines) and lines[index].kind != "code"


def source_html(lines: Iterable[SourceLine]) -> str:
    """The lines as the inside of a `pre`: spans with the class of their kind, and a bar for the cost of each access."""
    return "\n".join(map(_html_line, lines))


def _html_line(line: SourceLine) -> str:
    text = escape(line.text)
    if line.kind == "code":
        return text
    hover = f' title="{escape(line.hover)}"' if line.hover else ""
    lengths = (("least", line.least), ("excess", line.excess)) if line.hover else ()
    bars = "".join(f'<i class="bar {name}" style="width:{length:.0f}px"></i>' for name, length in lengths)
    return f'<span class="{line.kind}"{hover}>{text}{bars}</span>'
