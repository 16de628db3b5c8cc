"""What opens under a rung's bar: its numbers, its lesson, the change of its source, machine code, roofline, worst requests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ...analysis.explain import Explanation
from ...analysis.explain.drawing.requests import draw_access
from ...analysis.explain.profile import LineAccess
from ...analysis.explain.verdict import cost_sentence, excess
from ...analysis.inspect import Inspection
from ...analysis.inspect.printing import registers_line
from ...core.numbers import figure
from ...core.records import Row
from ...core.svg import Drawing
from ...errors import Unsupported
from ...kernels import rung_before
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.why import Why
from ..roofline import draw_ladder_roofline
from ..table import Line, failure
from .elements import figure as picture
from .elements import folded, paragraph, table, title
from .evidence import Evidence
from .headlines import stop_sentences
from .source_diff import diff_lines, diff_table, own_costs
from .words import factor, say

MOST_KINDS = 14  # of instructions in a table


@dataclass(frozen=True)
class Rungs:
    """What panels share: the evidence, and the bounds of all rungs as the ladder's path."""

    evidence: Evidence
    path: LadderRoofline | None = None
    baseline: str = ""
    on_cpu: bool = False
    cuda: Mapping[str, Row] = field(default_factory=dict)


def panel_of(line: Line, shared: Rungs) -> str:
    """The whole panel of a row."""
    row, evidence = line.row, shared.evidence
    answer = evidence.answers.get(row.name)
    parts = [paragraph(row.lesson, "lesson"), *numbers(line, shared)]
    parts += [paragraph(note, "soft") for note in row.notes]
    parts += [paragraph(str(each), "fault") for each in row.faults]
    if answer is not None:
        parts += why_part(answer)
        parts += change_part(answer, shared)
        parts += machine_part(row.name, evidence)
        parts += roofline_part(row.name, answer, shared)
        parts += picture_part(answer.explanations)
    parts += [paragraph(note, "soft") for note in evidence.notes.get(row.name, ())]
    return f'<div class="panel">{"".join(parts)}</div>'


def numbers(line: Line, shared: Rungs) -> Iterator[str]:
    """The row's numbers in one line, and a dot for each run."""
    row = line.row
    if not row.measured:
        yield paragraph(failure(row) if not row.passed else say("row.unmeasured"), "fault")
        return
    samples = row.samples
    facts = [
        say("row.time", ms=figure(samples.median * 1e3), rate=figure(row.rate), unit=row.unit),
        say("row.runs", count=len(samples.times), spread=f"{samples.spread:.0%}")
        if samples.has_spread
        else say("row.once"),
    ]
    shares = (
        ("row.of_peak", line.of_peak and f"{line.of_peak:.0%}"), ("row.over_previous", _times(line.over_previous)),
        ("row.over_first", _times(line.over_first)), ("row.over_baseline", _times(line.over_baseline)),
    )  # fmt: skip
    facts += [say(key, value=value, baseline=shared.baseline) for key, value in shares if value]
    if row.flops:
        facts.append(say("row.error", part=figure(row.worst_ratio)))
    counterpart = shared.cuda.get(row.name)
    if counterpart is not None and counterpart.rate:
        facts.append(say("row.as_cuda", rate=figure(counterpart.rate), unit=counterpart.unit))
    yield "<ul class=chips>" + "".join(f"<li>{escape(each)}</li>" for each in facts) + "</ul>"
    yield folded(say("row.samples"), picture(draw_samples(row).svg()))


def _times(value: float | None) -> str:
    return factor(value) if value else ""


def draw_samples(row: Row) -> Drawing:
    """The rate of each run, in the order of the runs."""
    rates = [(row.flops or row.nbytes) / each * 1e-9 for each in row.samples.times if each]
    low, high = min(rates), max(rates)
    drawing = Drawing()
    for at, rate in enumerate(rates):
        x = 110 + (at + 0.5) * max(420 / len(rates), 1)
        y = 12 + 56 * ((high - rate) / (high - low) if high > low else 0.5)
        drawing.point(x, y, "solid tone0", radius=3, title=f"{figure(rate)} {row.unit}")
    for y, rate in ((16.0, high), (72.0, low)):
        drawing.text(98, y, figure(rate), "soft", "end")
    drawing.text(110, 94, say("row.samples_axis", unit=row.unit), "soft")
    return drawing


def why_part(answer: Why) -> Iterator[str]:
    """The lesson as the file tells it, what limits the rung, and whether the device does the opposite."""
    yield paragraph(answer.header, "comment")
    yield from (paragraph(each) for each in stop_sentences(answer))
    yield paragraph(answer.contrary, "note")
    if answer.counts is not None:
        counts = answer.counts
        key = "why.counts_flops" if answer.row.flops else "why.counts_bytes"
        yield paragraph(
            say(
                key, instructions=figure(counts.instructions), requested=figure(counts.requested_bytes),
                local=figure(counts.local_bytes), size=answer.counted_at,
            ),
            "soft",
        )  # fmt: skip


def change_part(answer: Why, shared: Rungs) -> Iterator[str]:
    """The change of the source, with the cost of each line."""
    evidence = shared.evidence
    kernel = evidence.kernels[answer.row.name]
    before = rung_before(kernel)
    last = evidence.answers.get(before.name) if before is not None else None
    costs = own_costs(answer.explanations)
    lines = diff_lines(kernel, before, costs, own_costs(last.explanations) if last is not None else {})
    yield title(say("diff.title", before=before.name) if before is not None else say("diff.first"), 3)
    if answer.explanations:
        yield paragraph(say("diff.legend", size=answer.counted_at, rules=answer.explanations[-1].model.title), "soft")
        yield paragraph(say("diff.cpu") if shared.on_cpu else "", "soft")
    yield diff_table(lines, answer.explanations)


def machine_part(name: str, evidence: Evidence) -> Iterator[str]:
    """Registers, occupancy and the inner loop, beside those of the rung before."""
    found = evidence.inspections.get(name)
    if found is None:
        return
    before = rung_before(evidence.kernels[name])
    last = evidence.inspections.get(before.name) if before is not None else None
    yield title(say("code.title", arch=found.arch), 3)
    yield paragraph("; ".join(_code_facts(found)))
    if found.loop is not None:
        loop, other = found.loop.mix, last.loop.mix if last is not None and last.loop is not None else None
        kinds = sorted(
            {**loop.effects, **(other.effects if other else {})}, key=lambda kind: -loop.effects.get(kind, 0)
        )
        rows = [(say("code.all"), f"{loop.instructions:,}", f"{other.instructions:,}" if other else "")]
        rows += [
            (kind, _count(loop.effects, kind), _count(other.effects, kind) if other else "")
            for kind in kinds[:MOST_KINDS]
        ]
        head = (say("code.loop", form=found.form), say("code.here"), say("code.before") if other else "")
        yield table(head, rows if other else [row[:2] for row in rows], "counts")
    yield from (paragraph(each, "soft") for each in found.missing)


def _count(effects: Mapping[str, int], kind: str) -> str:
    return f"{effects[kind]:,}" if kind in effects else "-"


def _code_facts(found: Inspection) -> Iterator[str]:
    if found.resources is not None:
        yield say("code.registers", text=registers_line(found.resources, found.form))
        yield say("code.local", count=f"{found.resources.local_bytes:,}")
    if found.occupancy is not None:
        yield say("code.occupancy", text=str(found.occupancy))


def roofline_part(name: str, answer: Why, shared: Rungs) -> Iterator[str]:
    """The rung's point in the roofline, with the path of all rungs; or why there is none."""
    if shared.path is None or answer.bound is None or not answer.bound.flops:
        return
    yield title(say("roofline.title"), 3)
    try:
        yield picture(draw_ladder_roofline(shared.path, name), say("roofline.caption", size=answer.counted_at))
    except Unsupported as reason:
        yield paragraph(str(reason), "soft")


def picture_part(explanations: Sequence[Explanation]) -> Iterator[str]:
    """The worst request of each memory: that of the access with the largest excess, or else the largest cost."""
    if not explanations:
        return
    found = explanations[-1]
    shown = [_worst([each for each in found.accesses if each.space == space]) for space in ("global", "local")]
    worst = [each for each in shown if each is not None]
    if worst:
        yield title(say("picture.title"), 3)
    for each in worst:
        text = found.source.line(each.position)
        sentence = cost_sentence(found, each) if excess(each) > 0 else say("picture.fine", line=each.position.line)
        yield picture(draw_access(each, found.model, text).svg(), sentence)


def _worst(accesses: Sequence[LineAccess]) -> LineAccess | None:
    known = [each for each in accesses if not each.is_image and each.cost]
    return max(known, key=lambda each: (excess(each), each.cost), default=None)
