"""A benchmark's record as a table: the library beside its rival, problem by problem, with paired ratios."""

import math
import statistics
from collections.abc import Sequence

from ..core.markdown import cell
from ..core.records import Record, Row
from .table import heading, paired_ratios

COLUMNS = ("problem", "ours", "rival", "unit", "x median", "x p20 .. p80", "x best")
ENERGY = ("MHz", "W", "J", "rival MHz", "rival W", "rival J", "J / rival J")  # of a sustained race
LONGEST = 100  # problems in a table
STEPS = 20  # of a longer record, the problems at every so-manieth part of the order of their ratios are shown
Race = tuple[Row, ...]  # of one problem: the rival, ours, and others beside them


def races(record: Record) -> list[Race]:
    """The rows of every problem, which stand together; a problem that comes again is another race."""
    found: list[list[Row]] = []
    for row in record.rows:
        first = found[-1][0] if found else None
        if first and (row.problem, row.notes) == (first.problem, first.notes) and row.name != first.name:
            found[-1].append(row)
        else:
            found.append([row])
    return [tuple(rows) for rows in found]


def others(rows: Sequence[Race]) -> tuple[str, ...]:
    """The names of those who raced beside the rival and us."""
    return tuple(dict.fromkeys(row.label for race in rows for row in race[2:]))


def cells(race: Race, beside: Sequence[str] = ()) -> tuple[str, ...]:
    """The text of one line: the columns, and the rates of those `beside`. Ratios above 1: the library is faster."""
    rates = {row.label: f"{row.rate:.4g}" if row.measured else row.status for row in race}
    return (*_versus(*race[:2]), *(rates.get(name, "") for name in beside))


def _versus(rival: Row, ours: Row) -> tuple[str, ...]:
    title = ours.problem + (f" {ours.notes[0]}" if ours.notes else "")
    if not (rival.comparable and ours.comparable):
        bad = ours if not ours.comparable else rival
        rates = (f"{row.rate:.4g}" if row.measured else "-" for row in (ours, rival))
        return (
            title,
            *rates,
            ours.unit if ours.measured or rival.measured else "",
            "-",
            "-",
            "a time of 0 s" if bad.measured else f"{bad.status}: {bad.reason}",
        )
    ratios = sorted(paired_ratios(rival, ours))
    low, high = ratios[int(0.2 * len(ratios))], ratios[min(int(0.8 * len(ratios)), len(ratios) - 1)]
    best = min(rival.samples.times) / min(ours.samples.times)
    return (
        title, f"{ours.rate:.4g}", f"{rival.rate:.4g}", ours.unit, f"{statistics.median(ratios):.2f}",
        f"{low:.2f} .. {high:.2f}", f"{best:.2f}",
    )  # fmt: skip


def energy(race: Race) -> tuple[str, ...]:
    """The text of ENERGY's columns: clock, power and energy of a call, ours and the rival's."""
    rival, ours, *_ = race
    shares = (ours.joules / rival.joules,) if ours.joules and rival.joules else (None,)
    figures = (ours.clock_mhz, ours.power_w, ours.joules, rival.clock_mhz, rival.power_w, rival.joules)
    return tuple("" if each is None else f"{each:.4g}" for each in (*figures, *shares))


def shown(rows: Sequence[Race]) -> list[Race]:
    """All, or of many those that were not measured and a few others, the slowest, the median and the fastest among them."""
    if len(rows) <= LONGEST:
        return list(rows)
    measured = [race for race in rows if race[0].comparable and race[1].comparable]
    order = sorted(measured, key=lambda race: statistics.median(paired_ratios(*race[:2])))
    some = [order[round(step * (len(order) - 1) / STEPS)] for step in range(STEPS + 1)] if order else []
    return [race for race in rows if race not in measured] + some


def summary(rows: Sequence[Race]) -> str:
    """Geometric means of the medians of paired ratios, and of the best times' ratios."""
    measured = [(rival, ours) for rival, ours, *_ in rows if rival.comparable and ours.comparable]
    if not measured:
        return "no rival was measured" if any(ours.measured for _, ours, *_ in rows) else "nothing was measured"
    medians = [statistics.median(paired_ratios(rival, ours)) for rival, ours in measured]
    bests = [min(rival.samples.times) / min(ours.samples.times) for rival, ours in measured]
    mean, best = (math.exp(statistics.fmean(map(math.log, each))) for each in (medians, bests))
    return f"geometric mean over {len(measured)} problems: {mean:.2f}x by medians of paired ratios, {best:.2f}x by best times"


def turn_seconds(record: Record) -> float:
    """The shortest turn of a sustained race; 0 if nobody had one."""
    return min((turn.seconds for row in record.rows for turn in row.turns), default=0.0)


def markdown(record: Record) -> str:
    """The benchmark as a Markdown table."""
    rows = races(record)
    beside = others(rows)
    sustained = any(row.turns for row in record.rows)
    columns = (*COLUMNS, *(ENERGY if sustained else ()), *beside)
    lines = [f"**{heading(record, sizes=False)}**"]
    if rows and rows[0][0].lesson:
        lines += ["", f"Rival: {rows[0][0].lesson}."]
    lines += ["", "| " + " | ".join(map(cell, columns)) + " |", "|" + " --- |" * len(columns)]
    for race in shown(rows):
        texts = cells(race, beside)
        middle = energy(race) if sustained else ()
        texts = (*texts[: len(COLUMNS)], *middle, *texts[len(COLUMNS) :])
        lines.append("| " + " | ".join(map(cell, texts)) + " |")
    environment = record.environment
    if len(few := shown(rows)) < len(rows):
        lines += ["", f"Shown: {len(few)} of {len(rows)} problems, from the slowest to the fastest by median ratio."]
    if record.telemetry:
        lines += ["", f"Turns of {turn_seconds(record):.1f} s back to back; clock and power: {record.telemetry}."]
    if record.absent:
        lines += ["", f"Not raced: {'; '.join(record.absent)}."]
    lines += ["", f"{summary(rows)}. {environment.processor}, {environment.cores} cores; {environment.date}."]
    return "\n".join(lines)
