"""A benchmark's record as a table: the library and its baseline for each problem, with the ratios of paired samples."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from ..core.language import in_english
from ..core.markdown import cell
from ..core.numbers import figure, scaled_unit
from ..core.records import Record, Row
from ..errors import RecordError
from .table import heading, paired_ratios
from .trust import MARK, SINGLE, WORTHLESS, can_divide, is_busy, warning

COLUMNS = ("problem", "ours", "baseline", "unit", "median ratio", "p20 .. p80", "of the best")
ENERGY = ("MHz", "W", "J", "baseline MHz", "baseline W", "baseline J", "J / baseline J")  # of sustained turns
LONGEST = 100  # problems in a table
ONE_RUN = "one run"  # stands in the place of a range
STEPS = 20  # of a longer record 21 problems are shown, evenly spaced by ratio
Cells = tuple[str, ...]
ProblemRows = tuple[Row, ...]  # of one problem: the baseline, ours, then others


def by_problem(record: Record) -> list[ProblemRows]:
    """The rows of each problem, which follow each other. A problem that was measured twice is listed twice. RecordError if one
    has a single row: a benchmark measures the library beside another one."""
    found: list[list[Row]] = []
    for row in record.rows:
        first = found[-1][0] if found else None
        if first and (row.problem, row.notes) == (first.problem, first.notes) and row.name != first.name:
            found[-1].append(row)
        else:
            found.append([row])
    for first, *rest in found:
        if not rest:
            raise RecordError(f"the row {first.name} of {first.problem!r:.60} has none of another library beside it")
    return [tuple(rows) for rows in found]


def others(rows: Sequence[ProblemRows]) -> tuple[str, ...]:
    """The names of the other libraries."""
    return tuple(dict.fromkeys(row.label for group in rows for row in group[2:]))


Units = Mapping[str, tuple[str, float]]


def units(rows: Sequence[Row]) -> Units:
    """For each unit of the rows the one that the table shows, and what one of it is in the rows' own."""
    largest: dict[str, float] = {}
    for row in rows:
        largest[row.unit] = max(row.rate, largest.get(row.unit, 0.0))
    return {unit: scaled_unit(unit, rate) for unit, rate in largest.items()}


def cells(group: ProblemRows, beside: Sequence[str] = (), shown: Units | None = None, busy: bool = False) -> Cells:
    """The text of one line: the columns, and the rates of the libraries `beside`. Above 1 ours is faster. Ratios that cannot
    be trusted have a mark."""
    table_units = units(group) if shown is None else shown
    rates = {row.label: _rate(row, table_units) if row.measured else str(row.status) for row in group}
    return (*_versus(group, table_units, busy), *(rates.get(name, "") for name in beside))


def _rate(row: Row, shown: Units) -> str:
    return figure(row.rate / shown[row.unit][1]) if row.measured else "-"


def _versus(group: ProblemRows, shown: Units, busy: bool) -> Cells:
    baseline, ours, *_ = group
    title = ours.problem + (f" {ours.notes[0]}" if ours.notes else "")
    rates = (_rate(ours, shown), _rate(baseline, shown))
    unit = shown[ours.unit][0] if ours.measured or baseline.measured else ""
    if not (baseline.comparable and ours.comparable):
        bad = ours if not ours.comparable else baseline
        return (title, *rates, unit, "-", "-", "a time of 0 s" if bad.measured else f"{bad.status}: {bad.reason}")
    ratios = sorted(paired_ratios(baseline, ours))
    low, high = ratios[int(0.2 * len(ratios))], ratios[min(int(0.8 * len(ratios)), len(ratios) - 1)]
    best = min(baseline.samples.times) / min(ours.samples.times)
    range_of_ratios = f"{low:.2f} .. {high:.2f}" if len(ratios) > 1 else ONE_RUN
    texts = (f"{statistics.median(ratios):.2f}", range_of_ratios, f"{best:.2f}")
    if not is_trusted(group, busy):
        texts = (MARK, "" if busy else range_of_ratios, MARK)
    return (title, *rates, unit, *texts)


def is_trusted(group: ProblemRows, busy: bool) -> bool:
    """Whether the ratio of ours to the baseline says anything: both were measured, in steady times and on a quiet machine."""
    baseline, ours, *_ = group
    return baseline.comparable and ours.comparable and can_divide(baseline, busy) and can_divide(ours, busy=False)


def energy(group: ProblemRows) -> Cells:
    """The text of ENERGY's columns: clock, power and energy of a call, for ours and for the baseline."""
    baseline, ours, *_ = group
    shares = (ours.joules / baseline.joules,) if ours.joules and baseline.joules else (None,)
    values = (ours.clock_mhz, ours.power_w, ours.joules, baseline.clock_mhz, baseline.power_w, baseline.joules)
    return tuple("" if each is None else figure(each) for each in (*values, *shares))


def shown(rows: Sequence[ProblemRows]) -> list[ProblemRows]:
    """All problems. Of many: those that were not measured, and 21 others, from the lowest to the highest ratio."""
    if len(rows) <= LONGEST:
        return list(rows)
    measured = [group for group in rows if group[0].comparable and group[1].comparable]
    order = sorted(measured, key=median_ratio)
    some = [order[round(step * (len(order) - 1) / STEPS)] for step in range(STEPS + 1)] if order else []
    return [group for group in rows if group not in measured] + some


def summary(rows: Sequence[ProblemRows], busy: bool = False) -> str:
    """Geometric means: of the medians of paired ratios, without problems whose ratios cannot be trusted, and of the best times'
    ratios over all problems. It says how many were left out."""
    measured = [group for group in rows if group[0].comparable and group[1].comparable]
    if not measured:
        return "the baseline was not measured" if any(ours.measured for _, ours, *_ in rows) else "nothing was measured"
    trusted = [group for group in measured if is_trusted(group, busy)]
    left = len(measured) - len(trusted)
    cause = "other programs kept the machine busy" if busy else f"their times vary by more than ±{WORTHLESS:.0%}"
    without = f" ({left} left out, marked {MARK}: {cause})" if left else ""
    if not trusted:
        return f"no geometric mean: {left} problems are left out, because {cause}"
    bests = [min(baseline.samples.times) / min(ours.samples.times) for baseline, ours, *_ in measured]
    mean, best = geometric_mean(map(median_ratio, trusted)), geometric_mean(bests)
    count = f"{len(trusted)} problem{'' if len(trusted) == 1 else 's'}"
    everywhere = f" over all {len(measured)}" if left else ""
    return f"geometric mean over {count}{without}: {mean:.2f}x by medians of paired ratios, {best:.2f}x by best times{everywhere}"


def on_single_runs(rows: Sequence[ProblemRows]) -> str:
    """What ONE_RUN means, if it stands in the table; "" otherwise."""
    return f"{ONE_RUN}: {SINGLE}" if any(ONE_RUN in cells(group) for group in rows) else ""


def median_ratio(group: ProblemRows) -> float:
    """How many times faster ours is than the baseline: the median of paired samples. Both must be comparable."""
    return statistics.median(paired_ratios(*group[:2]))


def geometric_mean(ratios: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def turn_seconds(record: Record) -> float:
    """The shortest sustained turn in seconds; 0 if there was none."""
    return min((turn.seconds for row in record.rows for turn in row.turns), default=0.0)


def markdown(record: Record) -> str:
    """The benchmark as a Markdown table."""
    rows = by_problem(record)
    beside, table_units, busy = others(rows), units(record.rows), is_busy(record.environment)
    sustained = any(row.turns for row in record.rows)
    columns = (*COLUMNS, *(ENERGY if sustained else ()), *beside)
    lines = [f"**{heading(record, sizes=False)}**"]
    if rows and rows[0][0].lesson:
        lines += ["", f"Baseline: {rows[0][0].lesson}."]
    with in_english():  # as all that is said around a benchmark's table
        warned = warning(record.rows, record.environment) if busy else ""
    lines += ["", *((warned, "") if warned else ())]
    lines += ["| " + " | ".join(map(cell, columns)) + " |", "|" + " --- |" * len(columns)]
    for group in shown(rows):
        texts = cells(group, beside, table_units, busy)
        middle = energy(group) if sustained else ()
        texts = (*texts[: len(COLUMNS)], *middle, *texts[len(COLUMNS) :])
        lines.append("| " + " | ".join(map(cell, texts)) + " |")
    environment = record.environment
    if len(few := shown(rows)) < len(rows):
        lines += ["", f"Shown: {len(few)} of {len(rows)} problems, from the lowest to the highest median ratio."]
    if record.telemetry:
        lines += ["", f"Turns of {turn_seconds(record):.1f} s without a pause; clock and power: {record.telemetry}."]
    if record.absent:
        lines += ["", f"Not measured: {'; '.join(record.absent)}."]
    if single := on_single_runs(few):
        lines += ["", f"{single[0].upper()}{single[1:]}."]
    lines += ["", f"{summary(rows, busy)}. {environment.processor}, {environment.cores} cores; {environment.date}."]
    return "\n".join(lines)
