"""Records as bars: ladders and single kernels, sustained benchmarks, cold starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...core.records import Record, Role, Row
from ...core.svg import Drawing
from ...errors import Unsupported
from ..benchmark_table import by_problem, turn_seconds
from ..table import baseline_of, by, failure, heading
from .axes import figure, unit_for
from .bars import Bar, Mark, draw_bars

MOST_BARS = 500


@dataclass(frozen=True)
class RateBars:
    """A bar for each row, in the rows' order; the lines across them; the unit of all values."""

    bars: tuple[Bar, ...]
    marks: tuple[Mark, ...]
    unit: str


def rate_bars(record: Record) -> RateBars:
    """The bars of a ladder or of single kernels, with the peak and the baseline as lines, and the fastest rung marked."""
    rows = record.rows
    peak = _peak(record)
    unit, scale = unit_for(max([row.rate for row in rows] + [peak]), rows[-1].unit)
    best, usual = fastest(rows), _usual_size(rows)
    marks = [Mark(peak / scale, f"peak {figure(peak / scale)}")] if peak else []
    marks += [
        Mark(row.rate / scale, f"{row.name} {figure(row.rate / scale)}", dashed=True)
        for row in rows
        if row.role is Role.BASELINE and row.library == baseline_of(rows) and row.rate
    ]
    return RateBars(tuple(_bar(row, scale, row is best, usual) for row in rows), tuple(marks), unit)


def draw_rates(record: Record) -> Drawing:
    """A ladder, or single kernels: a bar for each row, the peak and the baseline as lines, and the fastest rung marked."""
    rows = record.rows
    if len(rows) > MOST_BARS:
        raise Unsupported(f"{record.title} has {len(rows):,} rows; a picture has room for {MOST_BARS} bars")
    found = rate_bars(record)
    notes = ["Whiskers: the 20th to the 80th percentile. Hollow bars: what rungs are compared with."]
    rungs = tuple(row for row in rows if not row.is_baseline)
    return draw_bars(heading(replace(record, rows=rungs)), notes, found.bars, found.marks, found.unit)


def fastest(rows: Sequence[Row]) -> Row | None:
    """The kernel with the highest rate, if more than one was measured."""
    kernels = [row for row in rows if not row.is_baseline and row.measured]
    return max(kernels, key=lambda row: row.rate) if len(kernels) > 1 else None


def _peak(record: Record) -> float:
    """The measured peak of the rows' unit; 0 if there is none."""
    if record.peaks is None:
        return 0.0
    return record.peaks.gflops.get(record.dtype, 0.0) if record.rows[-1].flops else record.peaks.copy_gbs


def _usual_size(rows: Sequence[Row]) -> tuple[int, ...]:
    return next((row.size for row in reversed(rows) if not row.is_baseline), ())


def _bar(row: Row, scale: float, best: bool, usual: tuple[int, ...]) -> Bar:
    if not row.measured:
        return Bar(row.label, 0.0, failure(row) if not row.passed else "not measured", "failed", hover=row.lesson)
    rate = row.rate / scale
    words = [figure(rate)]
    if row.size != usual and row.size:
        words.append(f"(at {by(row.size)})")
    if best:
        words.append("best")
    kind = "best" if best else "baseline" if row.is_baseline else "kernel"
    low, high = (_rate_at(row, part) / scale for part in (0.8, 0.2))
    return Bar(row.label, rate, " ".join(words), kind, low, high, row.lesson)


def _rate_at(row: Row, part: float) -> float:
    seconds = row.samples.quantile(part)
    return (row.flops or row.nbytes) / seconds * 1e-9 if seconds else 0.0


def sustained_bars(record: Record) -> RateBars:
    """The bars of a benchmark of one problem, or of seconds without a pause, in the order of its problems."""
    rows = record.rows
    unit, scale = unit_for(max(row.rate for row in rows), rows[-1].unit)
    bars = []
    for group in by_problem(record):
        title = group[-1].problem + "".join(f" {note}" for note in group[-1].notes)
        for row in group:
            bars.append(_sustained_bar(row, scale, title))
    return RateBars(tuple(bars), (), unit)


def draw_sustained(record: Record) -> Drawing:
    """A benchmark of one problem, or of seconds without a pause: bars of rates for each problem, with clock and power."""
    found, seconds = sustained_bars(record), turn_seconds(record)
    notes = [f"Turns of {seconds:.1f} s without a pause; clock and power: {record.telemetry}."] if seconds else []
    return draw_bars(heading(record, sizes=False), notes, found.bars, (), found.unit)


def _sustained_bar(row: Row, scale: float, group: str) -> Bar:
    kind = "baseline" if row.is_baseline else "kernel"
    if not row.measured:
        return Bar(row.label, 0.0, failure(row) if not row.passed else "not measured", "failed", group=group)
    amounts = ((row.clock_mhz, "MHz"), (row.power_w, "W"), (row.joules, "J a call"))
    words = [figure(row.rate / scale), *(f"{figure(value)} {unit}" for value, unit in amounts if value is not None)]
    low, high = (_rate_at(row, part) / scale for part in (0.8, 0.2))
    return Bar(row.label, row.rate / scale, ", ".join(words), kind, low, high, row.lesson, group)


def cold_start_bars(record: Record) -> RateBars:
    """What a new user waits for: a bar of seconds for each part."""
    bars = []
    for row in record.rows:
        times = row.samples.wall
        if not times:
            bars.append(Bar(row.name, 0.0, failure(row) if not row.passed else "not measured", "failed"))
            continue
        words = f"{figure(row.samples.median)} s" + "".join(f" ({note})" for note in row.notes[:1])
        bars.append(Bar(row.name, row.samples.median, words, "kernel", min(times), max(times), row.lesson))
    return RateBars(tuple(bars), (), "seconds")


def draw_cold_start(record: Record) -> Drawing:
    """What a new user waits for, as a chart."""
    found = cold_start_bars(record)
    notes = ["Bars: the median. Whiskers: the least and the most."]
    return draw_bars(heading(record, sizes=False), notes, found.bars, (), found.unit)
