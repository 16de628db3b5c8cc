"""What all charts share: headings, ticks, units, and labels that are placed beside each other."""

import math
from collections.abc import Sequence

from ...core.svg import Drawing, wrapped

LEFT = 16.0  # where pictures begin
WIDTH = 980.0  # of a picture
TERA = 10_000.0  # rates above this many GFLOP/s are given in TFLOP/s
LARGER = {"GFLOP/s": "TFLOP/s", "GB/s": "TB/s"}


def draw_heading(drawing: Drawing, title: str, notes: Sequence[str], width: float = WIDTH) -> float:
    """The title and notes, broken into lines: where the picture may go on."""
    y = 28.0
    for line in wrapped(title, width - LEFT, 14):
        drawing.text(LEFT, y, line, "ink head", size=14)
        y += 20
    for note in notes:
        for line in wrapped(note, width - LEFT):
            drawing.text(LEFT, y, line, "soft")
            y += 17
    return y


def figure(value: float) -> str:
    """A number with three digits, never as a power of ten: 21,770, 31.7, 0.00768."""
    if value >= 100:
        return f"{value:,.0f}"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(2 - math.floor(math.log10(value)), 0)
    return f"{value:.{min(digits, 12)}f}"


def unit_for(most: float, unit: str) -> tuple[str, float]:
    """The unit in which rates up to `most` are read well, and what one of them is in `unit`."""
    return (LARGER[unit], 1000.0) if most >= TERA and unit in LARGER else (unit, 1.0)


def linear_ticks(most: float, count: int = 6) -> list[float]:
    """Round numbers from 0 that reach `most` or lie just below it, about `count` of them."""
    if not most > 0 or not math.isfinite(most):
        return [0.0]
    raw = most / count
    base = 10.0 ** math.floor(math.log10(raw))
    step = next(base * each for each in (1, 2, 2.5, 5, 10) if base * each >= raw * 0.999)
    return [step * index for index in range(int(most / step * 1.0001) + 1)]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places beside the wanted ones, in the same order, at least `gap` apart and within low .. high if there is room."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    groups: list[tuple[float, list[int]]] = []  # the middle of a stretch of neighbours, and its members
    for index in order:
        groups.append((wanted[index], [index]))
        while len(groups) > 1 and _first(groups[-1], gap) - _last(groups[-2], gap) < gap:
            right, left = groups.pop(), groups.pop()
            members = left[1] + right[1]
            groups.append((sum(wanted[each] for each in members) / len(members), members))
    places = [0.0] * len(wanted)
    for group in groups:
        for step, index in enumerate(group[1]):
            places[index] = _first(group, gap) + step * gap
    return _within(places, order, gap, low, high)


def _first(group: tuple[float, list[int]], gap: float) -> float:
    return group[0] - gap * (len(group[1]) - 1) / 2


def _last(group: tuple[float, list[int]], gap: float) -> float:
    return group[0] + gap * (len(group[1]) - 1) / 2


def _within(places: list[float], order: Sequence[int], gap: float, low: float, high: float) -> list[float]:
    """Places pushed away from both ends, the upper end first."""
    for backwards, index in enumerate(reversed(order)):
        places[index] = min(places[index], high - backwards * gap)
    for forwards, index in enumerate(order):
        places[index] = max(places[index], low + forwards * gap)
    return places
