"""What a page says first: one number and one sentence, computed from the record, and what stops it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...analysis.inspect import Inspection
from ...core.numbers import figure, scaled_unit
from ...core.records import Record, Role, Row
from ...measurement.accuracy import OURS, AccuracyRecord, ErrorRow
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.roofline import Roofline
from ...measurement.why import Why
from ..benchmark_table import ProblemRows, by_problem, geometric_mean, is_trusted, median_ratio
from ..charts.ratios import ratio_of
from ..table import baseline_of
from ..trust import can_divide, is_busy
from .evidence import Evidence
from .subjects import at_one_size, operation
from .words import WORDS, factor, say

NEAR = 0.75  # from this part of its bound on a rung is stopped by it


@dataclass(frozen=True)
class Headline:
    """A number with what it counts, the sentence around it, and further sentences."""

    number: str
    of: str
    sentence: str
    more: tuple[str, ...] = ()


def ladder_headline(record: Record, evidence: Evidence) -> Headline:
    """The fastest rung against the vendor's library, or else the peak, and what stops it."""
    shown = at_one_size(record)
    rungs = [row for row in shown.rows if not row.is_baseline]
    wanted = [row for row in rungs if row.rate and operation(row) == operation(rungs[-1])]
    own = [row for row in wanted if row.backend == "opencl"] or wanted
    if not own:
        reasons = tuple(f"{row.label}: {row.reason.strip().splitlines()[0]}" for row in rungs if row.reason.strip())
        return Headline(say("none.number"), "", say("none.measured", what=record.title), reasons[:3])
    best = max(own, key=lambda row: row.rate)
    more = []
    if best is not own[0]:
        more.append(_first_words(best, own[0]))
    answer = evidence.answers.get(best.name)
    more += stop_sentences(answer) if answer is not None else evidence.notes.get(best.name, ())
    return Headline(*_ladder_words(best, shown), tuple(more))


def _first_words(best: Row, first: Row) -> str:
    times = factor(best.rate / first.rate)
    key = f"operation.{operation(first)}"
    if key not in WORDS:  # a kernel of the user's own
        return say("ladder.first_row", times=times, first=first.label)
    return say("ladder.first", times=times, first=first.label, operation=say(key))


def _ladder_words(best: Row, shown: Record) -> tuple[str, str, str]:
    """The number, what it is of, and the sentence."""
    unit, scale = scaled_unit(best.unit, best.rate)
    rate = f"{figure(best.rate / scale)} {unit}"
    other = _baseline_row(best, shown)
    if other is not None:
        part, beside = best.rate / other.rate, f"{figure(other.rate / scale)} {unit}"
        if part < 1:
            share = f"{100 * part:.0f}%"
            return (
                share,
                say("of", what=other.library),
                say("ladder.below", rung=best.label, part=share, baseline=other.library, rate=rate, other=beside),
            )
        times = f"{factor(part)}\u00d7"
        return (
            times,
            say("speed_of", what=other.library),
            say("ladder.above", rung=best.label, times=factor(part), baseline=other.library, rate=rate, other=beside),
        )
    peaks = shown.peaks
    peak = (peaks.gflops.get(shown.dtype, 0.0) if best.flops else peaks.copy_gbs) if peaks is not None else 0.0
    if peak:
        share = f"{100 * best.rate / peak:.0f}%"
        return share, say("of", what=say("peak")), say("ladder.peak", rung=best.label, part=share, rate=rate)
    return figure(best.rate / scale), unit, say("ladder.alone", rung=best.label, rate=rate)


def _baseline_row(best: Row, shown: Record) -> Row | None:
    """The vendor's row of the same problem, if ratios to it can be trusted."""
    busy = is_busy(shown.environment)
    rows = [row for row in shown.rows if row.role is Role.BASELINE and row.library == baseline_of(shown.rows)]
    return next((row for row in rows if row.problem == best.problem and row.rate and can_divide(row, busy)), None)


def stop_sentences(answer: Why) -> list[str]:
    """What stops a rung: the tightest bound that is known, and whether it is near."""
    bound = answer.bound
    if not answer.row.measured:
        return []
    if bound is None or not bound.binding.seconds:
        return [say("stop.unknown", why=answer.note)] if answer.note else []
    most = bound.work / bound.binding.seconds * 1e-9
    unit, scale = scaled_unit(bound.unit, most)
    words = {
        "limit": bound.binding.name,
        "most": f"{figure(most / scale)} {unit}",
        "part": f"{100 * bound.fraction:.0f}%",
    }
    return [say("stop.near" if bound.fraction >= NEAR else "stop.far", **words)]


def benchmark_headline(record: Record) -> Headline:
    """The geometric mean of the ratios to the baseline, the losses, and the energy if it was read."""
    groups, busy = by_problem(record), is_busy(record.environment)
    paired = [group for group in groups if len(group) > 1]
    trusted = [group for group in paired if is_trusted(group, busy)]
    if not trusted:
        return _without_ratio(record, paired)
    ours, baseline = trusted[0][1].label, trusted[0][0].label
    mean = geometric_mean(map(median_ratio, trusted))
    key = "bench.mean" if len(trusted) > 1 else "bench.one"
    sentence = say(
        key, ours=ours, times=factor(mean), baseline=baseline, count=len(trusted), problem=trusted[0][1].problem
    )
    more = (*_losses(trusted, baseline), *energy_sentences(trusted))
    return Headline(f"{factor(mean)}\u00d7", say("speed_of", what=baseline), sentence, more)


def _without_ratio(record: Record, paired: Sequence[ProblemRows]) -> Headline:
    """What is said if no ratio can be trusted."""
    kernels = [row for row in record.rows if not row.is_baseline and row.rate]
    if not kernels:
        return Headline(say("none.number"), "", say("none.measured", what=record.title))
    best = max(kernels, key=lambda row: row.rate)
    unit, scale = scaled_unit(best.unit, best.rate)
    rate = f"{figure(best.rate / scale)}"
    why = say("bench.untrusted") if paired else say("bench.alone")
    return Headline(rate, unit, say("bench.rate", ours=best.label, rate=f"{rate} {unit}", problem=best.problem), (why,))


def _losses(trusted: Sequence[ProblemRows], baseline: str) -> list[str]:
    """Where the whole spread lies below 1."""
    ratios = [ratio_of(group) for group in trusted]
    lost = [each for each in ratios if each.high < 1]
    if len(ratios) < 2:
        return []
    if not lost:
        return [say("bench.no_loss", count=len(ratios), baseline=baseline)]
    worst = min(lost, key=lambda each: each.median)
    return [say("bench.losses", lost=len(lost), count=len(ratios), worst=worst.problem, ratio=factor(worst.median))]


def energy_sentences(groups: Sequence[ProblemRows]) -> list[str]:
    """Energy of a product beside the baseline's, where telemetry was read."""
    pairs = [(ours.joules, baseline.joules) for baseline, ours, *_ in groups]
    known = [(own, other) for own, other in pairs if own and other]
    if not known:
        return []
    ratio = geometric_mean(own / other for own, other in known)
    key = "energy.one" if len(known) == 1 else "energy.mean"
    own, other = known[0]
    return [
        say(
            key,
            part=f"{100 * ratio:.0f}%",
            baseline=groups[0][0].label,
            ours=figure(own),
            other=figure(other),
            count=len(known),
        )
    ]


def accuracy_headline(record: AccuracyRecord) -> Headline:
    """The largest error of the first precision, which is the default, beside the baseline's."""
    own = [row for row in record.rows if row.by == OURS]
    if not own:
        return Headline(say("none.number"), "", say("none.measured", what=record.dtype))
    mode = own[0].mode
    worst = _worst([row for row in own if row.mode == mode])
    number = figure(worst.largest)
    more = [
        say("accuracy.beside", by=by, other=figure(_worst(rows).largest), data=_worst(rows).data)
        for by, rows in _others(record, mode).items()
    ]
    kinds = len({row.data for row in own})
    more += [
        say("accuracy.mode", mode=other, largest=figure(found.largest), data=found.data)
        for other in dict.fromkeys(row.mode for row in own if row.mode != mode)
        for found in [_worst([row for row in own if row.mode == other])]
    ]
    sentence = say("accuracy.sentence", mode=mode, largest=number, data=worst.data, kinds=kinds)
    return Headline(number, say("accuracy.unit"), sentence, tuple(more))


def _worst(rows: Sequence[ErrorRow]) -> ErrorRow:
    return max(rows, key=lambda row: row.largest)


def _others(record: AccuracyRecord, mode: str) -> dict[str, list[ErrorRow]]:
    found: dict[str, list[ErrorRow]] = {}
    for row in record.rows:
        if row.mode == mode and row.by != OURS:
            found.setdefault(row.by, []).append(row)
    return found


def cold_start_headline(record: Record) -> Headline:
    """The longest wait."""
    timed = [row for row in record.rows if row.samples.wall]
    if not timed:
        return Headline(say("none.number"), "", say("none.measured", what=record.title))
    longest = max(timed, key=lambda row: row.samples.median)
    seconds = figure(longest.samples.median)
    return Headline(
        f"{seconds} s", longest.name, say("cold.sentence", name=longest.name, seconds=seconds, what=longest.lesson)
    )


def roofline_headline(found: Roofline) -> Headline:
    """The part of the limit that a kernel reaches."""
    if not found.seconds or not found.binding.seconds:
        return Headline(say("none.number"), "", say("none.measured", what=found.kernel), (found.row.reason,))
    part = f"{100 * found.fraction:.0f}%"
    most = found.work / found.binding.seconds * 1e-9
    unit, scale = scaled_unit(found.unit, most)
    rate = f"{figure(found.work / found.seconds * 1e-9 / scale)} {unit}"
    words = {"kernel": found.kernel, "part": part, "limit": found.binding.name, "rate": rate}
    return Headline(
        part,
        say("of_limit", what=found.binding.name),
        say("roofline.sentence", most=f"{figure(most / scale)} {unit}", **words),
    )


def ladder_roofline_headline(found: LadderRoofline) -> Headline:
    """That of the fastest rung."""
    measured = [each for each in found.rungs if each.seconds]
    return roofline_headline(
        max(measured or found.rungs, key=lambda each: each.work / each.seconds if each.seconds else 0.0)
    )


def inspection_headline(found: Inspection) -> Headline:
    """Its registers."""
    if found.resources is None:
        return Headline(say("none.number"), "", say("none.measured", what=found.kernel), found.missing)
    more = tuple(_inspection_facts(found))
    number = str(found.resources.registers)
    return Headline(
        number, say("registers"), say("code.sentence", kernel=found.kernel, count=number, arch=found.arch), more
    )


def _inspection_facts(found: Inspection) -> Iterator[str]:
    if found.occupancy is not None:
        yield say("code.occupancy", text=str(found.occupancy)) + "."
