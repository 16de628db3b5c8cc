"""The same as the page, for a terminal: the sentence first, then tables."""

from collections.abc import Iterator

from ...analysis.inspect import Inspection
from ...core.records import Record
from ...measurement.accuracy import AccuracyRecord
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.ladder_roofline import lines as roofline_lines
from ...measurement.roofline import Roofline
from ..compare import headings, summary
from ..compare import table as compare_table
from ..errors_table import markdown as errors_table
from ..forms import own_table, shortened
from ..shown import as_text
from .comparison import Compared, comparison_headline, label, verdict
from .evidence import grouped_notes
from .facts import command_of
from .headlines import Headline
from .ladder import path_of
from .page import Chapter, Report, context
from .subjects import at_one_size
from .words import say


def text(report: Report) -> str:
    """The whole report."""
    blocks = []
    if report.compared is not None:
        blocks.append("\n".join(comparison_lines(report.compared)))
    blocks += ["\n".join(chapter_lines(each)) for each in report.chapters]
    return "\n\n\n".join(blocks)


def headline_lines(found: Headline, above: str) -> Iterator[str]:
    yield above
    yield found.sentence
    yield from found.more
    yield ""


def comparison_lines(found: Compared) -> Iterator[str]:
    """The sentence, and the table of `compare` with a verdict that knows which times can be trusted."""
    assert isinstance(found.first.data, Record)
    assert isinstance(found.second.data, Record)
    yield from headline_lines(comparison_headline(found), say("compare.name"))
    yield from headings(found.first.data, found.second.data, (label(found.first), label(found.second)))
    yield from compare_table(found.rows)
    unsure = [each.name for each in found.rows if each.distinct and verdict(each, found) == "unsure"]
    if unsure:
        yield say("compare.untrusted", names=", ".join(unsure))
    yield summary(found.rows)


def chapter_lines(chapter: Chapter) -> Iterator[str]:
    """One record: its sentence, its table, the path in the roofline, and the command that makes it again."""
    data = chapter.subject.data
    yield from headline_lines(chapter.headline, context(chapter.subject))
    yield table_of(data)
    if isinstance(data, Record):
        path = path_of(at_one_size(data), chapter.evidence)
        if path is not None:
            yield ""
            yield from roofline_lines(path)
        yield from (each.one_line() for each in chapter.evidence.inspections.values())
        yield from grouped_notes(chapter.evidence)
    command = command_of(data)
    if command is not None:
        yield ""
        yield say("again.text", command=command.text)
        yield from (note for note in command.notes if note == say("again.own"))


def table_of(data: Record | AccuracyRecord | Roofline | LadderRoofline | Inspection) -> str:
    """The record's own table."""
    if isinstance(data, AccuracyRecord):
        return as_text(errors_table(data))
    return as_text(own_table(shortened(data))) if isinstance(data, Record) else str(data)
