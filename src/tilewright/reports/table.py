"""A record's rows as a table: rates, spread, part of the peak, and ratios between rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.device import Peaks
from ..core.language import shown, translated
from ..core.markdown import cell
from ..core.numbers import figure, scaled_unit
from ..core.records import Record, Role, Row
from ..core.shown import csv_text
from .trust import can_divide, is_busy, spread_of, warning

# The backends of the baselines that kernels are compared with, the vendor's library first.
COMPARED = ("cuda", "host")
AS_ABOVE = "as above"


@dataclass(frozen=True)
class Line:
    """One row of the table with its derived numbers; None if there is nothing to compare with. `best`: the fastest rung of its
    size."""

    row: Row
    of_peak: float | None
    over_first: float | None
    over_previous: float | None
    over_baseline: float | None
    best: bool = False

    @property
    def status(self) -> str:
        """One word: "best", or the row's status; "waiting" before its first time."""
        return "best" if self.best else "waiting" if self.row.passed and not self.row.measured else str(self.row.status)


def derive(rows: Sequence[Row], peaks: Peaks | None, busy: bool = False) -> list[Line]:
    """Add to each row its part of the peak, and its speed-up over the first rung, the previous rung and the baseline.

    Rows of different sizes or backends are not compared with each other. A baseline whose times vary widely, or one on the
    host of a `busy` machine, is not compared with.
    """
    lines: list[Line] = []
    compared = [row for row in rows if row.role is Role.BASELINE and row.library == baseline_of(rows)]
    compared = [row for row in compared if can_divide(row, busy)]
    best = _best(rows)
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
                row is best.get(row.size),
            )
        )
        if rung and row.measured:
            first.setdefault(group, rate)
            previous[group] = rate
    return lines


def _best(rows: Sequence[Row]) -> dict[tuple[int, ...], Row]:
    """The fastest rung of each size of which several were measured."""
    found: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        if row.measured and not row.is_baseline:
            found.setdefault(row.size, []).append(row)
    return {size: max(own, key=lambda row: row.rate) for size, own in found.items() if len(own) > 1}


def _ratio(rate: float, other: float | None) -> float | None:
    return rate / other if rate and other else None


def _peak(row: Row, peaks: Peaks | None) -> float | None:
    if peaks is None:
        return None
    dtype = "".join(row.problem.split()[-1:])
    return peaks.gflops.get(dtype) if row.flops else peaks.copy_gbs


def baseline_of(rows: Sequence[Row]) -> str:
    """The library that kernels are compared with: the vendor's if it was measured; "baseline" if there is none."""
    libraries = [row for row in rows if row.role is Role.BASELINE and row.backend in COMPARED]
    order = sorted(libraries, key=lambda row: (not row.measured, COMPARED.index(row.backend)))
    return order[0].library if order else "baseline"


def rate_unit(rows: Sequence[Row]) -> tuple[str, float]:
    """The unit of all rates of a table, and what one of it is in the rows' own unit."""
    unit = rows[-1].unit if rows else "rate"
    return scaled_unit(unit, max((row.rate for row in rows), default=0.0))


def header(rows: Sequence[Row]) -> tuple[str, ...]:
    """The names of the columns. All rows of a table have the same unit."""
    unit, _ = rate_unit(rows)
    ratio = f"x {baseline_of(rows)}"
    return ("rung", "status", "ms", unit, "± %", "% peak", "x first", "x prev", ratio, "what it changes")


def cells(line: Line, per_unit: float = 1.0) -> tuple[str, ...]:
    """The text of each column of `header`, rates in units of `per_unit`. The last column of a row that failed says why."""
    row = line.row
    if not row.measured:
        return (row.label, line.status, *[""] * 7, translated(row.lesson) if row.passed else failure(row))
    samples = row.samples
    ratios = (line.over_first, line.over_previous, line.over_baseline)
    return (
        row.label,
        line.status,
        figure(samples.median * 1e3),
        figure(row.rate / per_unit),
        spread_of(row),
        "" if line.of_peak is None else figure(line.of_peak * 100),
        *("" if each is None else figure(each) for each in ratios),
        translated(row.lesson),
    )


def without_repeats(lines: Sequence[Line]) -> list[str]:
    """The sentence of each line. One that stands in the line above is not repeated."""
    sentences = [cells(line)[-1] for line in lines]
    pairs = zip(["", *sentences], sentences, strict=False)
    return [AS_ABOVE if own and own == above else own for above, own in pairs]


def legend(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """What the columns mean, in one line."""
    meanings = {
        "± %": translated("± % half the distance of the 20th and 80th percentile of the times"),
        "% peak": translated("% peak of the measured peak"),
        "x first": translated("x first, x prev times as fast as the first rung and the rung before"),
        f"x {baseline_of(rows)}": translated("x {baseline} times as fast as {baseline}", baseline=baseline_of(rows)),
    }
    found = [text for name, text in meanings.items() if name in columns]
    if "± %" in columns and any(row.measured and not row.samples.has_spread for row in rows):
        found.insert(1, translated("rows without ± % ran once"))
    return translated("; ").join(found)


def sizes_of(rows: Sequence[Row]) -> str:
    """The sizes of a table's kernels, such as "512x512x512"; of many the first and the last."""
    sizes = list(dict.fromkeys(by(row.size) for row in rows if not row.is_baseline and row.size))
    return f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 3 else ", ".join(sizes)


def failure(row: Row) -> str:
    """Why a row was not measured, in one line."""
    return f"{row.status}: {row.reason.strip().splitlines()[0] if row.reason.strip() else 'no reason given'}"


def heading(record: Record, sizes: bool = True) -> str:
    """The title, the sizes if asked for, the type, the device and its driver, in one line."""
    device = record.environment.device
    problems = dict.fromkeys(row.problem.rsplit(" ", 1)[0] for row in record.rows) if sizes else {}
    return " · ".join((record.title, *problems, record.dtype, device.label, f"driver {device.driver}"))


def peaks_line(peaks: Peaks | None) -> str:
    if peaks is None:
        return translated("peaks not measured")
    rates = ", ".join(f"{dtype} {rate:,.0f} GFLOP/s" for dtype, rate in peaks.gflops.items())
    text = translated(
        "measured peaks: {rates}; copy {copy:,.0f} GB/s; local memory {local:,.0f} GB/s",
        rates=rates, copy=peaks.copy_gbs, local=peaks.local_gbs,
    )  # fmt: skip
    if peaks.quiet:
        return text
    return f"{text} {translated('(too low: measured while other programs were busy; not kept)')}"


def notes(rows: Sequence[Row]) -> list[str]:
    """The rows' notes, a line each: a smaller configuration, or a part of C that was measured."""
    return [f"{row.label}: {shown(note)}" for row in rows for note in row.notes]


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
    rows, environment = record.rows, record.environment
    columns, (_, per_unit) = header(rows), rate_unit(rows)
    warned = warning(rows, environment)
    lines = [f"**{heading(record)}**", "", *((warned, "") if warned else ())]
    lines += ["| " + " | ".join(map(cell, columns)) + " |", "|" + " --- |" * len(columns)]
    derived = derive(rows, record.peaks, is_busy(environment))
    for line, sentence in zip(derived, without_repeats(derived), strict=True):
        texts = (*cells(line, per_unit)[:-1], sentence)
        lines.append("| " + " | ".join(f"**{cell(text)}**" if line.best and place < 2 else cell(text)
                                       for place, text in enumerate(texts)) + " |")  # fmt: skip
    lines += ["", f"{legend(rows, columns)}.", "", f"{peaks_line(record.peaks)}. {environment.processor}, "
              f"{environment.cores} cores; {environment.date}."]  # fmt: skip
    lines += [f"- {note}" for note in notes(rows)]
    return "\n".join(lines)


def paired_ratios(first: Row, second: Row) -> list[float]:
    """How many times faster the second row was in each round, in which the i-th samples were taken together."""
    return [one / other for one, other in zip(first.samples.times, second.samples.times, strict=False)]
