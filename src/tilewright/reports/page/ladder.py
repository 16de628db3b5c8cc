"""The parts of a ladder's page: bars whose rungs open, rates over sizes, the path in the roofline."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...core.records import Record
from ...errors import Unsupported
from ...measurement.ladder_roofline import LadderRoofline
from ..charts.rates import MOST_BARS, rate_bars
from ..charts.sizes import draw_sizes, is_sweep
from ..forms import own_table, shortened
from ..roofline import draw_ladder_roofline
from ..shown import as_html
from ..table import baseline_of, derive
from ..trust import is_busy, warning
from .bars import Panel, fragment_of, rate_list
from .elements import boxed, figure, folded, paragraph, title
from .evidence import Evidence
from .rung import Rungs, panel_of
from .subjects import at_one_size
from .words import factor, say


def ladder_parts(record: Record, evidence: Evidence, prefix: str) -> Iterator[str]:
    """The parts below the sentence. The places of rungs in the URL begin with `prefix`."""
    yield paragraph(warning(record.rows, record.environment), "note")
    if not any(row.rate for row in record.rows):
        yield boxed(as_html(own_table(shortened(record))))
        return
    shown = _in_order(at_one_size(record))
    if len(shown.rows) > MOST_BARS:
        yield paragraph(say("ladder.many", count=len(shown.rows), most=MOST_BARS), "note")
        return
    problems = dict.fromkeys(row.problem for row in shown.rows if not row.is_baseline)
    yield title(say("ladder.bars", problems=", ".join(problems)))
    panels = panels_of(shown, evidence, prefix)
    yield paragraph(say("ladder.how") if panels else say("ladder.bare"), "soft")
    yield rate_list(rate_bars(shown), panels, _steps(shown))
    yield from size_parts(record)
    yield from path_parts(shown, path_of(shown, evidence))
    yield folded(say("table.all"), boxed(as_html(own_table(shortened(record)))))


def _in_order(shown: Record) -> Record:
    """Rungs first, then what they are compared with."""
    return replace(shown, rows=tuple(sorted(shown.rows, key=lambda row: row.is_baseline)))


def panels_of(shown: Record, evidence: Evidence, prefix: str) -> dict[str, Panel]:
    """A panel for each kernel; that of a rung's OpenCL names its CUDA counterpart, too."""
    lines = derive(shown.rows, shown.peaks, is_busy(shown.environment))
    on_cpu = shown.environment.device.kind == "cpu"
    cuda = {row.name: row for row in shown.rows if row.backend == "cuda" and not row.is_baseline}
    shared = Rungs(evidence, path_of(shown, evidence), baseline_of(shown.rows), on_cpu, cuda)
    kernels = [line for line in lines if not line.row.is_baseline and line.row.backend != "cuda"]
    return {line.row.label: Panel(prefix + fragment_of(line.row.label), panel_of(line, shared)) for line in kernels}


def path_of(shown: Record, evidence: Evidence) -> LadderRoofline | None:
    """The rungs' bounds as one path, in the record's order."""
    bounds = [
        evidence.answers[row.name].bound
        for row in shown.rows
        if row.name in evidence.answers and row.backend == "opencl"
    ]
    known = tuple(each for each in bounds if each is not None)
    return LadderRoofline(shown.title, known) if known else None


def _steps(shown: Record) -> Mapping[str, str]:
    """How much faster each kernel is than the one before it."""
    lines = derive(shown.rows, shown.peaks, is_busy(shown.environment))
    return {line.row.label: say("step", times=factor(line.over_previous)) for line in lines if line.over_previous}


def size_parts(record: Record) -> Iterator[str]:
    """Rates over sizes, if there are several."""
    if not is_sweep(record):
        yield paragraph(say("sizes.none"), "soft")
        return
    yield title(say("sizes.title"))
    yield figure(draw_sizes(record).svg())


def path_parts(shown: Record, path: LadderRoofline | None) -> Iterator[str]:
    """The roofline with the path of all rungs, or why there is none."""
    yield title(say("roofline.path"))
    if path is None:
        yield paragraph(say("roofline.none") if shown.peaks is not None else say("roofline.no_peaks"), "soft")
        return
    if not any(each.flops for each in path.rungs):
        yield paragraph(say("roofline.copies"), "soft")
        return
    try:
        yield figure(draw_ladder_roofline(path), say("roofline.scaled"))
    except Unsupported as reason:
        yield paragraph(f"{reason}.", "soft")
