"""The parts of a benchmark's page: ratios to the baseline with losses in red, a map of them, rates, energy."""

from collections.abc import Iterator, Sequence
from html import escape

from ...core.numbers import figure as number
from ...core.records import Record, Row
from ..benchmark_table import ENERGY, ProblemRows, by_problem, energy, is_trusted, shown, turn_seconds
from ..charts.rates import cold_start_bars, sustained_bars
from ..charts.ratios import Ratio, ratio_of
from ..forms import own_table, shortened
from ..shown import as_html
from ..table import failure
from ..trust import is_busy, spread_of, warning
from .bars import RatioBar, rate_list, ratio_list
from .elements import boxed, figure, folded, paragraph, table, title
from .ratio_map import draw_map
from .subjects import is_paired
from .words import factor, say


def benchmark_parts(record: Record, prefix: str) -> Iterator[str]:
    """The parts below the sentence."""
    groups, busy = by_problem(record), is_busy(record.environment)
    yield paragraph(warning(record.rows, record.environment) if busy else "", "note")
    yield paragraph(say("bench.absent", absent="; ".join(record.absent)) if record.absent else "", "soft")
    if is_paired(record):
        yield from ratio_parts(groups, busy, prefix)
    else:
        yield paragraph(say("ratios.none"), "soft")
    if any(row.turns for row in record.rows):
        yield from energy_parts(record, groups)
    elif not is_paired(record) and any(row.rate for row in record.rows):
        yield title(say("rates.title"))
        yield rate_list(sustained_bars(record), {})
    yield folded(say("table.all"), boxed(as_html(own_table(shortened(record)))))


def ratio_parts(groups: Sequence[ProblemRows], busy: bool, prefix: str) -> Iterator[str]:
    """A bar for each problem, and the map."""
    few = shown(groups)
    yield title(say("ratios.title", baseline=groups[0][0].label))
    yield paragraph(say("ratios.how"), "soft")
    if len(few) < len(groups):
        yield paragraph(say("ratios.some", few=len(few), count=len(groups)), "soft")
    yield ratio_list([ratio_bar(group, busy) for group in few], f"{prefix}problem-")
    drawn = draw_map(groups)
    if drawn is not None:
        yield title(say("map.title"))
        yield figure(drawn.svg(), say("map.caption"))


def ratio_bar(group: ProblemRows, busy: bool) -> RatioBar:
    """One problem. What cannot be trusted is grey, with the reason under the bar."""
    found = ratio_of(group)
    panel = f'<div class="panel">{"".join(problem_parts(group, found))}</div>'
    if not found.median:
        return RatioBar(found.problem, 0.0, 0.0, 0.0, found.words, "none", "", panel)
    kind = "win" if found.low > 1 else "loss" if found.high < 1 else "tie"
    if not is_trusted(group, busy):
        kind = "unsure"
    spread = f"{factor(found.low)} .. {factor(found.high)}" if found.runs > 1 else ""
    words = f"{factor(found.median)}\u00d7  {found.words}"
    return RatioBar(found.problem, found.median, found.low, found.high, words, kind, spread, panel)


def problem_parts(group: ProblemRows, found: Ratio) -> Iterator[str]:
    """The rows of one problem, and what the bar's colour means."""
    head = (
        say("problem.library"),
        say("problem.rate"),
        say("problem.ms"),
        "\u00b1 %",
        say("problem.runs"),
        say("problem.what"),
    )
    yield table(head, [_problem_row(row) for row in group], "libraries")
    words = {"ours": group[1].label, "baseline": group[0].label} if found.median else {}
    if found.median and found.runs == 1:
        yield paragraph(say("problem.once", ratio=factor(found.median), **words))
    elif found.median:
        key = "problem.faster" if found.low > 1 else "problem.slower" if found.high < 1 else "problem.unclear"
        yield paragraph(say(key, low=factor(found.low), high=factor(found.high), **words))


def _problem_row(row: Row) -> tuple[str, ...]:
    if not row.measured:
        return (row.label, failure(row) if not row.passed else say("row.unmeasured"), "", "", "", row.lesson)
    samples = row.samples
    rate = f"{number(row.rate)} {row.unit}"
    return (
        row.label,
        rate,
        number(samples.median * 1e3),
        spread_of(row),
        str(len(samples.times)),
        row.lesson,
    )


def energy_parts(record: Record, groups: Sequence[ProblemRows]) -> Iterator[str]:
    """Rates with clock and power, and the energy of each product."""
    yield title(say("energy.title"))
    yield paragraph(
        say("energy.how", seconds=f"{turn_seconds(record):.1f}", by=record.telemetry or say("energy.nobody")), "soft"
    )
    yield f'<div class="energy">{rate_list(sustained_bars(record), {})}</div>'
    if not any(row.joules for row in record.rows):
        yield paragraph(say("energy.none"), "soft")
        return
    rows = [(group[1].problem, *energy(group)) for group in groups if len(group) > 1]
    yield table((say("problem.name"), *ENERGY), rows)


def cold_start_parts(record: Record) -> Iterator[str]:
    """What a new user waits for, part by part."""
    yield title(say("cold.title"))
    if any(row.samples.wall for row in record.rows):
        yield rate_list(cold_start_bars(record), {})
    lessons = "".join(f"<dt>{escape(row.name)}</dt><dd>{escape(row.lesson)}</dd>" for row in record.rows)
    yield f"<dl>{lessons}</dl>"
    yield folded(say("table.all"), boxed(as_html(own_table(record))))
