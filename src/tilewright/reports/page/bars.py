"""Bars as HTML that fit any width: rates from zero with lines across them, and ratios around 1. A bar may open."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ..charts.bars import FAR, Bar, Mark
from ..charts.rates import RateBars
from .words import say

NARROWEST = math.log(1.1)  # the axis of ratios goes at least this far to both sides
OPENED = re.compile(r"^(\w+/\d+[a-z]?)_[^\[]*(\[.*\])?$")


@dataclass(frozen=True)
class Panel:
    """What is under a bar: its place in the URL, and HTML."""

    fragment: str
    html: str


@dataclass(frozen=True)
class RatioBar:
    """One ratio and the ends of its spread. `kind` is "win", "loss", "tie" or "none"; `words` stand at the right."""

    label: str
    ratio: float
    low: float
    high: float
    words: str
    kind: str
    hover: str = ""
    panel: str = ""


def fragment_of(name: str) -> str:
    """What stands behind # in the URL of a rung: "tiles/06" for tiles/06_register_tile."""
    found = OPENED.match(name)
    return f"{found[1]}{found[2] or ''}" if found else re.sub(r"\s+", "-", name)


def rate_list(found: RateBars, panels: Mapping[str, Panel], beside: Mapping[str, str] | None = None) -> str:
    """The bars with the lines' names above them. `panels` and the words `beside` a rate are found by a bar's label."""
    longest = max((max(bar.value, bar.high) for bar in found.bars), default=0.0) or 1.0
    near = [mark for mark in found.marks if mark.value <= FAR * longest]
    most = max([longest, *(mark.value for mark in near)]) * 1.02
    lines, group = [], ""
    for bar in found.bars:
        if bar.group and bar.group != group:
            lines.append(f'<h3 class="group">{escape(bar.group)}</h3>')
        group = bar.group
        lines.append(_rate_line(bar, near, most, panels.get(bar.label), (beside or {}).get(bar.label, "")))
    keys = "".join(f'<span class="key {_tone(mark)}">{escape(f"{mark.words} {found.unit}")}</span>' for mark in near)
    keys += "".join(
        f'<span class="key">{escape(say("bars.beyond", what=f"{mark.words} {found.unit}"))}</span>'
        for mark in found.marks
        if mark not in near
    )
    return f'<div class="keys"><span class="key">{escape(say("bars.unit", unit=found.unit))}</span>{keys}</div>' + (
        f'<div class="bars">{"".join(lines)}</div>'
    )


def _tone(mark: Mark) -> str:
    return "dash" if mark.dashed else "full"


def _rate_line(bar: Bar, marks: Sequence[Mark], most: float, panel: Panel | None, beside: str) -> str:
    if bar.kind == "failed":
        track = f'<span class="track reason">{escape(bar.words)}</span>'
        return _line(bar.label, track, "", "", bar.hover, panel)
    parts = [f'<i class="bar {bar.kind}" style="width:{_percent(bar.value, most)}"></i>']
    if bar.low > 0 and (bar.high - bar.low) / most > 0.004:
        width = _percent(bar.high - bar.low, most)
        parts.append(f'<i class="spread" style="left:{_percent(bar.low, most)};width:{width}"></i>')
    parts += [
        f'<b class="mark {_tone(mark)}" style="left:{_percent(mark.value, most)}" title="{escape(mark.words)}"></b>'
        for mark in marks
    ]
    return _line(bar.label, f'<span class="track">{"".join(parts)}</span>', bar.words, beside, bar.hover, panel)


def _percent(value: float, most: float) -> str:
    return f"{100 * value / most:.2f}%"


def _line(label: str, track: str, words: str, beside: str, hover: str, panel: Panel | None) -> str:
    """One line: its name, its track and its words. With a panel it opens."""
    more = f' <small class="soft">{escape(beside)}</small>' if beside else ""
    inside = f'<span class="name">{escape(label)}</span>{track}<span class="words">{escape(words)}{more}</span>'
    tip = f' title="{escape(hover, quote=True)}"' if hover else ""
    if panel is None:
        return f'<div class="row"{tip}>{inside}</div>'
    named = f'id="{escape(panel.fragment, quote=True)}" data-name="{escape(label, quote=True)}"'
    return f'<details class="rung" {named}><summary class="row"{tip}>{inside}</summary>{panel.html}</details>'


def ratio_list(bars: Sequence[RatioBar], prefix: str) -> str:
    """Ratios on a logarithmic axis around 1, losses in red. The names of panels in the URL begin with `prefix`."""
    logs = [math.log(value) for bar in bars for value in (bar.low, bar.high, bar.ratio) if value > 0]
    least, most = min([*logs, -NARROWEST]) * 1.05, max([*logs, NARROWEST]) * 1.05

    def place(value: float) -> float:
        return 100 * (math.log(value) - least) / (most - least)

    lines = []
    for number, bar in enumerate(bars, 1):
        panel = Panel(f"{prefix}{number}", bar.panel) if bar.panel else None
        if bar.kind == "none":
            lines.append(
                _line(bar.label, f'<span class="track reason">{escape(bar.words)}</span>', "", "", bar.hover, panel)
            )
            continue
        left, right = sorted((place(1.0), place(bar.ratio)))
        parts = (
            f'<i class="bar {bar.kind}" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
            f'<i class="spread" style="left:{place(bar.low):.2f}%;width:{place(bar.high) - place(bar.low):.2f}%"></i>'
            f'<b class="mark one" style="left:{place(1.0):.2f}%"></b>'
        )
        lines.append(_line(bar.label, f'<span class="track">{parts}</span>', bar.words, "", bar.hover, panel))
    return f'<div class="bars ratios">{"".join(lines)}</div>'
