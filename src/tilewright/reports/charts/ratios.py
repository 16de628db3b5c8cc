"""A benchmark as ratios: ours over the baseline for each problem, with the line at 1 and the spread of paired samples."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.records import Record, Row
from ...core.svg import Drawing, shortened, text_width
from ..benchmark_table import ProblemRows, by_problem, others, shown, summary
from ..table import failure, heading, paired_ratios
from .axes import LEFT, WIDTH, draw_heading, figure, unit_for

ROW = 18.0
GROUPED = 12  # more problems than this stand under headings
TICKS = ((1,), (2, 5), (3, 7), (1.5, 4), (8, 9, 1.1, 1.2), (9.5, 1.05))  # of a decade, the most important first
OTHERS = ("diamond", "square", "triangle")  # markers of other libraries, in their order
LEGIBLE = 240.0
FIGURES = 52.0  # pixels of the column of ratios


@dataclass(frozen=True)
class Ratio:
    """How many times faster ours is than the baseline: the median of paired samples, and their 20th and 80th percentile.

    `others` are other libraries' rates over the baseline's. Without a ratio all are empty or 0.
    """

    problem: str
    median: float
    low: float
    high: float
    words: str  # our rate, or why there is no ratio
    others: tuple[tuple[str, float], ...] = ()
    runs: int = 0  # paired ones


@dataclass(frozen=True)
class _Scale:
    left: float
    right: float
    low: float
    high: float

    def x(self, ratio: float) -> float:
        share = (math.log(ratio) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return self.left + (self.right - self.left) * share


def ratio_of(group: ProblemRows) -> Ratio:
    """The ratio of one problem's rows: the baseline, ours, then others."""
    if len(group) == 1:
        return Ratio(_problem(group[0]), 0.0, 0.0, 0.0, "no baseline")
    baseline, ours, *rest = group
    if not (baseline.comparable and ours.comparable):
        bad = ours if not ours.comparable else baseline
        why = "a time of 0 s" if bad.measured else failure(bad) if not bad.passed else "not measured"
        return Ratio(_problem(ours), 0.0, 0.0, 0.0, f"{bad.label}: {why}")
    pairs = sorted(paired_ratios(baseline, ours))
    low, high = pairs[int(0.2 * len(pairs))], pairs[min(int(0.8 * len(pairs)), len(pairs) - 1)]
    unit, scale = unit_for(ours.rate, ours.unit)
    median = statistics.median(pairs)
    words = f"{figure(ours.rate / scale)} {unit}"
    beside = tuple((row.label, row.rate / baseline.rate) for row in rest if row.comparable)
    return Ratio(_problem(ours), median, low, high, words, beside, len(pairs))


def _problem(row: Row) -> str:
    return row.problem + "".join(f" {note}" for note in row.notes[:1])


def draw_ratios(record: Record) -> Drawing:
    """The chart: a line for each problem, in the record's order. Of more than 100 problems 21, from the lowest to the highest."""
    groups = by_problem(record)
    few = shown(groups)
    ratios = [ratio_of(group) for group in few]
    names = tuple(name for name in others(few) if any(name == each for ratio in ratios for each, _ in ratio.others))
    baseline = groups[0][0].label
    notes = [
        f"1 = {baseline}; to the right of it ours is faster. Whiskers: the 20th to the 80th percentile.",
        _of(groups),
    ]
    if len(few) < len(groups):
        notes.append(f"Shown: {len(few)} of {len(groups)} problems, from the lowest to the highest ratio.")
    drawing = Drawing()
    y = draw_heading(drawing, heading(record, sizes=False), notes) + 4
    y = _legend(drawing, baseline, names, y)
    lines = _headed(ratios)
    scale = _scale(ratios, [words for words, ratio in lines if ratio is not None])
    bottom = y + ROW * len(lines)
    _grid(drawing, scale, y, bottom)
    for words, ratio in lines:
        if ratio is None:
            drawing.text(LEFT, y + 14, words, "ink head halo")
        else:
            _row(drawing, scale, words, ratio, names, y)
        y += ROW
    return drawing


def _of(groups: Sequence[ProblemRows]) -> str:
    text = summary(groups)
    return text[:1].upper() + text[1:] + "."


def _headed(ratios: Sequence[Ratio]) -> list[tuple[str, Ratio | None]]:
    """The lines of the chart: a problem's words and ratio. Many problems stand under headings, one for each kind."""
    if len(ratios) <= GROUPED:
        return [(ratio.problem, ratio) for ratio in ratios]
    kinds: dict[str, list[tuple[str, Ratio | None]]] = {}
    for ratio in ratios:
        kind, words = _split(ratio.problem)
        kinds.setdefault(kind, [(kind, None)]).append((words, ratio))
    return [line for lines in kinds.values() for line in lines]


def _split(problem: str) -> tuple[str, str]:
    """("gemm float16 NT", "64x7168x2112") of "gemm 64x7168x2112 float16 NT"."""
    words = problem.split()
    size = [word for word in words if word[:1].isdigit() or word == "of"]
    return " ".join(word for word in words if word not in size), " ".join(size)


def _scale(ratios: Sequence[Ratio], words: Sequence[str]) -> _Scale:
    values = [value for ratio in ratios for value in (ratio.low, ratio.high, *(other for _, other in ratio.others))]
    values = [value for value in values if value > 0] or [1.0]
    left = LEFT + max(text_width(shortened(each, 44)) for each in words) + 20
    right = WIDTH - max([text_width(ratio.words) for ratio in ratios if ratio.median] or [0.0]) - FIGURES - 24
    low, high = min(min(values), 0.8) * 0.93, max(max(values), 1.25) * 1.07
    return _Scale(left, max(right, left + LEGIBLE), low, high)


def _ticks(scale: _Scale) -> list[float]:
    """Round ratios within the axis whose labels do not touch. 1 always stands."""
    found = [1.0]
    for level in TICKS:
        for tick in (each * 10.0**power for power in range(-3, 6) for each in level):
            apart = all(abs(scale.x(tick) - scale.x(other)) > 44 for other in found)
            if scale.low <= tick <= scale.high and apart:
                found.append(tick)
    return found


def _grid(drawing: Drawing, scale: _Scale, top: float, bottom: float) -> None:
    for tick in _ticks(scale):
        x = scale.x(tick)
        kind = "curve tone5" if tick == 1 else "line"
        drawing.stroke(x, top, x, bottom, kind)
        drawing.text(x, bottom + 18, f"{tick:,.4g}", "soft", "middle")
    drawing.text(scale.left, bottom + 38, "times as fast as the baseline (logarithmic axis)", "ink")


def _legend(drawing: Drawing, baseline: str, names: Sequence[str], y: float) -> float:
    """Markers with their names, in as many lines as they need: where the chart begins."""
    x = LEFT
    entries = [("circle", "solid tone0", "ours, faster"), ("circle", "hollow tone1", "ours, slower")]
    entries += [
        (OTHERS[at % len(OTHERS)], f"hollow {_tone(at)}", f"{name} over {baseline}") for at, name in enumerate(names)
    ]
    for shape, kind, words in entries:
        if x + text_width(words) + 14 > WIDTH:
            x, y = LEFT, y + 18
        drawing.point(x + 5, y + 6, kind, shape)
        drawing.text(x + 14, y + 10, words, "soft")
        x += 14 + text_width(words) + 22
    return y + 26


def _tone(at: int) -> str:
    return ("tone3", "tone4", "tone2", "tone5")[at % 4]


def _row(drawing: Drawing, scale: _Scale, words: str, ratio: Ratio, names: Sequence[str], y: float) -> None:
    middle = y + ROW / 2
    drawing.text(scale.left - 12, middle + 4, shortened(words, 44), "ink", "end", title=ratio.problem)
    if not ratio.median:
        most = int((WIDTH - scale.left) / text_width("m"))
        drawing.text(scale.left, middle + 4, shortened(ratio.words, most), "soft halo", title=ratio.words)
        return
    for name, value in ratio.others:
        at = names.index(name)
        title = f"{name}: {figure(value)} of the baseline's rate"
        drawing.point(scale.x(value), middle, f"hollow {_tone(at)}", OTHERS[at % len(OTHERS)], 3.5, title)
    tone = "tone0" if ratio.median >= 1 else "tone1"
    drawing.stroke(scale.x(1), middle, scale.x(ratio.median), middle, f"curve {tone}")
    for end in (ratio.low, ratio.high):
        drawing.stroke(scale.x(end), middle - 5, scale.x(end), middle + 5, f"thin {tone}")
    drawing.stroke(scale.x(ratio.low), middle, scale.x(ratio.high), middle, f"thin {tone}")
    kind = f"solid {tone}" if ratio.median >= 1 else f"hollow {tone}"
    drawing.point(scale.x(ratio.median), middle, kind, title=f"{ratio.problem}: {figure(ratio.median)}, {ratio.words}")
    drawing.text(scale.right + FIGURES, middle + 4, figure(ratio.median), "ink head", "end")
    drawing.text(scale.right + FIGURES + 16, middle + 4, ratio.words, "soft")
