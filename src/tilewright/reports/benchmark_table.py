"""A benchmark's record as a table: the library and its baseline for each problem, with the ratios of paired samples."""

import math
import statistics
from collections.abc import Sequence

from ..core.markdown import cell
from ..core.records import Record, Row
from .table import heading, paired_ratios

COLUMNS = ("problem", "ours", "baseline", "unit", "median ratio", "p20 .. p80", "of the best")
ENERGY = ("MHz", "W", "J", "baseline MHz", "baseline W", "baseline J", "J / baseline J")  # of sustained turns
LONGEST = 100  # problems in a table
STEPS = 20  # of a longer record 21 problems are shown, evenly spaced by ratio
ProblemRows = tuple[Row, ...]  # of one problem: the baseline, ours, then others


def by_problem(record: Record) -> list[ProblemRows]:
    """The rows of each problem, which follow each other. A problem that was measured twice is listed twice."""
    found: list[list[Row]] = []
    for row in record.rows:
        first = found[-1][0] if found else None
        if first and (row.problem, row.notes) == (first.problem, first.notes) and row.name != first.name:
            found[-1].append(row)
        else:
            found.append([row])
    return [tuple(rows) for rows in found]


def others(rows: Sequence[ProblemRows]) -> tuple[str, ...]:
    """The names of the other libraries."""
    return tuple(dict.fromkeys(row.label for group in rows for row in group[2:]))


def cells(group: ProblemRows, beside: Sequence[str] = ()) -> tuple[str, ...]:
    """The text of one line: the columns, and the rates of the libraries `beside`. Above 1 ours is faster."""
    rates = {row.label: f"{row.rate:.4g}" if row.measured else row.status for row in group}
    return (*_versus(*group[:2]), *(rates.get(name, "") for name in beside))


def _versus(baseline: Row, ours: Row) -> tuple[str, ...]:
    title = ours.problem + (f" {ours.notes[0]}" if ours.notes else "")
    if not (baseline.comparable and ours.comparable):
        bad = ours if not ours.comparable else baseline
        rates = (f"{row.rate:.4g}" if row.measured else "-" for row in (ours, baseline))
        return (
            title,
            *rates,
            ours.unit if ours.measured or baseline.measured else "",
            "-",
            "-",
            "a time of 0 s" if bad.measured else f"{bad.status}: {bad.reason}",
        )
    ratios = sorted(paired_ratios(baseline, ours))
    low, high = ratios[int(0.2 * len(ratios))], ratios[min(int(0.8 * len(ratios)), len(ratios) - 1)]
    best = min(baseline.samples.times) / min(ours.samples.times)
    return (
        title, f"{ours.rate:.4g}", f"{baseline.rate:.4g}", ours.unit, f"{statistics.median(ratios):.2f}",
        f"{low:.2f} .. {high:.2f}", f"{best:.2f}",
    )  # fmt: skip


def energy(group: ProblemRows) -> tuple[str, ...]:
    """The text of ENERGY's columns: clock, power and energy of a call, for ours and for the baseline."""
    baseline, ours, *_ = group
    shares = (ours.joules / baseline.joules,) if ours.joules and baseline.joules else (None,)
    figures = (ours.clock_mhz, ours.power_w, ours.joules, baseline.clock_mhz, baseline.power_w, baseline.joules)
    return tuple("" if each is None else f"{each:.4g}" for each in (*figures, *shares))


def shown(rows: Sequence[ProblemRows]) -> list[ProblemRows]:
    """All problems. Of many: those that were not measured, and 21 others, from the lowest to the highest ratio."""
    if len(rows) <= LONGEST:
        return list(rows)
    measured = [group for group in rows if group[0].comparable and group[1].comparable]
    order = sorted(measured, key=lambda group: statistics.median(paired_ratios(*group[:2])))
    some = [order[round(step * (len(order) - 1) / STEPS)] for step in range(STEPS + 1)] if order else []
    return [group for group in rows if group not in measured] + some


def summary(rows: Sequence[ProblemRows]) -> str:
    """Geometric means of the medians of paired ratios, and of the best times' ratios."""
    measured = [(baseline, ours) for baseline, ours, *_ in rows if baseline.comparable and ours.comparable]
    if not measured:
        return "the baseline was not measured" if any(ours.measured for _, ours, *_ in rows) else "nothing was measured"
    medians = [statistics.median(paired_ratios(baseline, ours)) for baseline, ours in measured]
    bests = [min(baseline.samples.times) / min(ours.samples.times) for baseline, ours in measured]
    mean, best = (math.exp(statistics.fmean(map(math.log, each))) for each in (medians, bests))
    return f"geometric mean over {len(measured)} problems: {mean:.2f}x by medians of paired ratios, {best:.2f}x by best times"


def turn_seconds(record: Record) -> float:
    """The shortest sustained turn in seconds; 0 if there was none."""
    return min((turn.seconds for row in record.rows for turn in row.turns), default=0.0)


def markdown(record: Record) -> str:
    """The benchmark as a Markdown table."""
    rows = by_problem(record)
    beside = others(rows)
    sustained = any(row.turns for row in record.rows)
    columns = (*COLUMNS, *(ENERGY if sustained else ()), *beside)
    lines = [f"**{heading(record, sizes=False)}**"]
    if rows and rows[0][0].lesson:
        lines += ["", f"Baseline: {rows[0][0].lesson}."]
    lines += ["", "| " + " | ".join(map(cell, columns)) + " |", "|" + " --- |" * len(columns)]
    for group in shown(rows):
        texts = cells(group, beside)
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
    lines += ["", f"{summary(rows)}. {environment.processor}, {environment.cores} cores; {environment.date}."]
    return "\n".join(lines)
