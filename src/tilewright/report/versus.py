"""A benchmark's record as a table: the library beside its rival, problem by problem, with paired ratios."""

import math
import statistics
from collections.abc import Sequence

from ..records import Record, Row
from .table import escaped, heading, paired_ratios

COLUMNS = ("problem", "ours", "rival", "unit", "x median", "x p20 .. p80", "x best")


def pairs(record: Record) -> list[tuple[Row, Row]]:
    """(rival, ours) for every problem: the rows of a benchmark come in this order."""
    return list(zip(record.rows[::2], record.rows[1::2], strict=True))


def cells(rival: Row, ours: Row) -> tuple[str, ...]:
    """The text of one line. Ratios above 1 mean that the library is faster."""
    title = ours.problem + (f" {ours.notes[0]}" if ours.notes else "")
    if not (rival.measured and ours.measured):
        bad = ours if not ours.measured else rival
        return (title, "-", "-", "", "-", "-", f"{bad.status}: {bad.reason}")
    ratios = sorted(paired_ratios(rival, ours))
    low, high = ratios[int(0.2 * len(ratios))], ratios[min(int(0.8 * len(ratios)), len(ratios) - 1)]
    best = min(rival.samples.times) / min(ours.samples.times)
    return (
        title, f"{ours.rate:.4g}", f"{rival.rate:.4g}", ours.unit, f"{statistics.median(ratios):.2f}",
        f"{low:.2f} .. {high:.2f}", f"{best:.2f}",
    )  # fmt: skip


def summary(rows: Sequence[tuple[Row, Row]]) -> str:
    """Geometric means of the medians of paired ratios, and of the best times' ratios."""
    measured = [(rival, ours) for rival, ours in rows if rival.measured and ours.measured]
    if not measured:
        return "nothing was measured"
    medians = [statistics.median(paired_ratios(rival, ours)) for rival, ours in measured]
    bests = [min(rival.samples.times) / min(ours.samples.times) for rival, ours in measured]
    mean, best = (math.exp(statistics.fmean(map(math.log, each))) for each in (medians, bests))
    return f"geometric mean over {len(measured)} problems: {mean:.2f}x by medians of paired ratios, {best:.2f}x by best times"


def markdown(record: Record) -> str:
    """The benchmark as a Markdown table."""
    rows = pairs(record)
    lines = [f"**{heading(record, sizes=False)}**", "", f"Rival: {rows[0][0].lesson}." if rows else ""]
    lines += ["", "| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    lines += ["| " + " | ".join(map(escaped, cells(*pair))) + " |" for pair in rows]
    environment = record.environment
    lines += ["", f"{summary(rows)}. {environment.processor}, {environment.cores} cores; {environment.date}."]
    return "\n".join(lines)
