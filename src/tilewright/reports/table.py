"""A record's rows as a table: rates, spread, part of the peak, and ratios between rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.device import Peaks
from ..core.kernel import Ladder
from ..core.markdown import cell
from ..core.records import Record, Role, Row
from ..core.shown import csv_text

# The backends of the baselines that kernels are compared with, the vendor's library first.
COMPARED = ("cuda", "host")


@dataclass(frozen=True)
class Line:
    """One row of the table with its derived numbers; None if there is nothing to compare with."""

    row: Row
    of_peak: float | None
    over_first: float | None
    over_previous: float | None
    over_baseline: float | None


def derive(rows: Sequence[Row], peaks: Peaks | None) -> list[Line]:
    """Add to each row its part of the peak, and its speed-up over the first rung, the previous rung and the baseline.

    Rows of different sizes or backends are not compared with each other.
    """
    lines: list[Line] = []
    compared = [row for row in rows if row.role is Role.BASELINE and row.library == baseline_of(rows)]
    first: dict[object, float] = {}
    previous: dict[object, float] = {}
    for row in rows:
        rate = row.rate
        rung, group = not row.is_baseline, (row.size, row.backend)
        beside = next((each.rate for each in compared if each.problem == row.problem), 0.0)
        lines.append(
            Line(
                row,
                _ratio(rate, _peak(row, peaks)) if rung else None,
                _ratio(rate, first.get(group)) if rung else None,
                _ratio(rate, previous.get(group)) if rung else None,
                _ratio(rate, beside) if rung else None,
            )
        )
        if rung and row.measured:
            first.setdefault(group, rate)
            previous[group] = rate
    return lines


def _ratio(rate: float, other: float | None) -> float | None:
    return rate / other if rate and other else None


def _peak(row: Row, peaks: Peaks | None) -> float | None:
    if peaks is None:
        return None
    dtype = row.problem.split()[-1]
    return peaks.gflops.get(dtype) if row.flops else peaks.copy_gbs


def baseline_of(rows: Sequence[Row]) -> str:
    """The library that kernels are compared with: the vendor's if it was measured; "baseline" if there is none."""
    libraries = [row for row in rows if row.role is Role.BASELINE and row.backend in COMPARED]
    order = sorted(libraries, key=lambda row: (not row.measured, COMPARED.index(row.backend)))
    return order[0].library if order else "baseline"


def header(rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the columns. All rows of a table have the same unit."""
    unit = rows[-1].unit if rows else "rate"
    return ("rung", "ms", unit, "± %", "% peak", "x first", "x prev", f"x {baseline_of(rows)}", "what it changes")


def cells(line: Line) -> tuple[str, ...]:
    """The text of each column of `header`. The last column of a row that failed says why."""
    row = line.row
    if not row.passed:
        return (row.label, "-", "-", "", "", "", "", "", failure(row))
    if not row.measured:
        return (row.label, "", "", "", "", "", "", "", row.lesson)
    samples = row.samples
    return (
        row.label,
        f"{samples.median * 1e3:.3g}",
        _figure(row.rate),
        f"{samples.spread * 100:.0f}",
        "" if line.of_peak is None else f"{line.of_peak * 100:.1f}",
        *("" if each is None else _figure(each) for each in (line.over_first, line.over_previous, line.over_baseline)),
        row.lesson,
    )


def failure(row: Row) -> str:
    """Why a row was not measured, in one line."""
    return f"{row.status}: {row.reason.strip().splitlines()[0] if row.reason.strip() else 'no reason given'}"


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def heading(record: Record, sizes: bool = True) -> str:
    """The title, the sizes if asked for, the type, the device and its driver, in one line."""
    device = record.environment.device
    shown = dict.fromkeys(row.problem.rsplit(" ", 1)[0] for row in record.rows) if sizes else {}
    return " · ".join((record.title, *shown, record.dtype, device.label, f"driver {device.driver}"))


def peaks_line(peaks: Peaks | None) -> str:
    if peaks is None:
        return "peaks not measured"
    rates = ", ".join(f"{dtype} {rate:,.0f} GFLOP/s" for dtype, rate in peaks.gflops.items())
    return f"measured peaks: {rates}; copy {peaks.copy_gbs:,.0f} GB/s; local memory {peaks.local_gbs:,.0f} GB/s"


def notes(rows: Sequence[Row]) -> list[str]:
    """The rows' notes, a line each: a smaller configuration, or a part of C that was measured."""
    return [f"{row.label}: {note}" for row in rows for note in row.notes]


def published_lines(ladder: Ladder, rows: Sequence[Row]) -> list[str]:
    """The source of a ladder's published figures, or that it has none. Then each figure and ours, with both sizes."""
    lines = []
    at = f" at {by(ladder.published_size)}" if ladder.published_size else ""
    for row in rows:
        figures = ", ".join(f"{where}: {figure:g}" for where, figure in row.published)
        if figures:
            ours = f"{row.rate:.4g} {row.unit}" if row.measured else row.status
            lines.append(f"{row.label}: {ours} here at {by(row.size)}; published{at}: {figures}")
    whose = f"published figures of the ladder {ladder.name}" if lines else f"no published figures: {ladder.name}"
    return [f"{whose}: {ladder.origin}", *lines]


def by(size: Sequence[int]) -> str:
    """A size as people write it: "64x64x64"."""
    return "x".join(map(str, size))


def data_rows(record: Record) -> list[dict[str, Any]]:
    """All rows as plain data. Times are in seconds; None stands for what was not measured."""
    return [_data_row(row) for row in record.rows]


def _data_row(row: Row) -> dict[str, Any]:
    samples, measured = row.samples, row.measured
    return {
        "rung": row.label,
        "problem": row.problem,
        "status": str(row.status),
        "reason": row.reason,
        "median_s": samples.median if measured else None,
        "p20_s": samples.quantile(0.2) if measured else None,
        "p80_s": samples.quantile(0.8) if measured else None,
        "wall_median_s": sorted(samples.wall)[len(samples.wall) // 2] if samples.wall else None,
        "runs": len(samples.times),
        "rate": row.rate or None,
        "unit": row.unit,
        "worst_error_of_bound": row.worst_ratio,
    }


def to_csv(record: Record) -> str:
    """All rows, one line each, times in seconds."""
    return csv_text(data_rows(record))


def markdown(record: Record) -> str:
    """The record as a Markdown table with its heading, peaks and notes."""
    columns = header(record.rows)
    lines = [f"**{heading(record)}**", "", "| " + " | ".join(map(cell, columns)) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(map(cell, cells(line))) + " |" for line in derive(record.rows, record.peaks)]
    lines += ["", f"{peaks_line(record.peaks)}. {record.environment.processor}, {record.environment.cores} cores; "
              f"{record.environment.date}."]  # fmt: skip
    lines += [f"- {note}" for note in notes(record.rows)]
    return "\n".join(lines)


def paired_ratios(first: Row, second: Row) -> list[float]:
    """How many times faster the second row was in each round, in which the i-th samples were taken together."""
    return [one / other for one, other in zip(first.samples.times, second.samples.times, strict=False)]
