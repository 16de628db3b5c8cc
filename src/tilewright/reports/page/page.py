"""Writes the page: the sentence of each record, then its parts. One file that needs nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from ...analysis.inspect import Inspection
from ...core.files import write_atomically
from ...core.html_page import whole_page
from ...core.records import Record
from ...errors import InvalidInput, Unsupported
from ...measurement.accuracy import AccuracyRecord
from ...measurement.ladder_roofline import LadderRoofline
from ...measurement.roofline import Roofline
from ..roofline import draw_ladder_roofline, draw_roofline
from .accuracy import accuracy_parts
from .benchmark import benchmark_parts, cold_start_parts
from .comparison import Compared, compared, comparison_headline, comparison_parts
from .elements import boxed, figure, paragraph, title
from .evidence import Evidence, evidence_of
from .facts import fact_parts
from .headlines import (
    Headline,
    accuracy_headline,
    benchmark_headline,
    cold_start_headline,
    inspection_headline,
    ladder_headline,
    ladder_roofline_headline,
    roofline_headline,
)
from .ladder import ladder_parts
from .subjects import Subject, is_benchmark, is_cold_start, title_of
from .words import say

FOLDER = Path(__file__).parent
LARGEST = 2_000_000  # bytes of a page


@dataclass(frozen=True)
class Chapter:
    """A record with its headline, and with the evidence about a ladder's rungs."""

    subject: Subject
    headline: Headline
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True)
class Report:
    """All that a page shows. `compared` is the comparison if there are two records of the same thing."""

    chapters: tuple[Chapter, ...]
    compared: Compared | None = None


def report_of(subjects: Sequence[Subject], arch: str = "") -> Report:
    """Gather what a page shows. `arch` is an architecture of `inspect` for the machine code of rungs."""
    if not subjects:
        raise InvalidInput("a report needs at least one record")
    return Report(tuple(chapter_of(each, arch) for each in subjects), compared(tuple(subjects)))


def chapter_of(subject: Subject, arch: str = "") -> Chapter:
    """One record with its headline. Ladders and single rungs are explained and compiled now."""
    data = subject.data
    if isinstance(data, AccuracyRecord):
        return Chapter(subject, accuracy_headline(data))
    if isinstance(data, Roofline):
        return Chapter(subject, roofline_headline(data))
    if isinstance(data, LadderRoofline):
        return Chapter(subject, ladder_roofline_headline(data))
    if isinstance(data, Inspection):
        return Chapter(subject, inspection_headline(data))
    if is_cold_start(data):
        return Chapter(subject, cold_start_headline(data))
    if is_benchmark(data):
        return Chapter(subject, benchmark_headline(data))
    evidence = evidence_of(data, arch)
    return Chapter(subject, ladder_headline(data, evidence), evidence)


def save_page(report: Report, path: Path) -> None:
    """Write the page, whole or not at all. InvalidInput if it would be larger than a page may be."""
    content = html(report).encode()
    if len(content) > LARGEST:
        count, size = len(report.chapters), f"{len(content) / 1e6:.1f} MB"
        raise InvalidInput(
            f"{count} records make a page of {size}; a page has at most {LARGEST / 1e6:g} MB: report fewer records at once"
        )
    write_atomically(path, content)


def html(report: Report) -> str:
    """The whole page."""
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    names = ", ".join(dict.fromkeys(title_of(each.subject.data) for each in report.chapters))
    return whole_page(names, style, "\n".join(sections(report)), script)


def sections(report: Report) -> Iterator[str]:
    """The page from top to bottom."""
    several = len(report.chapters) > 1
    if report.compared is not None:
        yield opening(comparison_headline(report.compared), say("compare.name"), "h1")
        yield from comparison_parts(report.compared)
    elif several:
        yield title(say("page.several", count=len(report.chapters)), 1)
    if several:
        yield contents(report.chapters)
    for number, chapter in enumerate(report.chapters, 1):
        prefix = f"{number}/" if number > 1 else ""
        yield f'<section id="record-{number}">'
        yield opening(chapter.headline, context(chapter.subject), "h2" if several else "h1")
        yield from chapter_parts(chapter, prefix)
        yield from fact_parts(chapter.subject)
        yield "</section>"
    yield paragraph(say("page.foot"), "soft foot")


def contents(chapters: Sequence[Chapter]) -> str:
    """Links to the records of a page, each with its sentence."""
    links = "".join(
        f'<li><a href="#record-{number}">{escape(each.subject.name)}</a>: {escape(each.headline.sentence)}</li>'
        for number, each in enumerate(chapters, 1)
    )
    return f'<ul class="contents">{links}</ul>'


def context(subject: Subject) -> str:
    """What, of which type and where, in one line."""
    data = subject.data
    if isinstance(data, Record | AccuracyRecord):
        device = data.environment.device
        return " \u00b7 ".join((title_of(data), data.dtype, device.label, say("page.driver", driver=device.driver)))
    if isinstance(data, Inspection):
        return " \u00b7 ".join((title_of(data), data.dtype, data.arch))
    found = data.rungs[0] if isinstance(data, LadderRoofline) else data
    return " \u00b7 ".join((title_of(data), found.problem, found.device.label))


def opening(found: Headline, above: str, level: str) -> str:
    """The number and the sentence."""
    more = "".join(paragraph(each) for each in found.more if each)
    of = f"<small>{escape(found.of)}</small>" if found.of else ""
    return (
        f'<header><p class="soft">{escape(above)}</p><{level} class="headline"><b class="number">{escape(found.number)}{of}</b>'
        f"<span>{escape(found.sentence)}</span></{level}>{more}</header>"
    )


def chapter_parts(chapter: Chapter, prefix: str) -> Iterator[str]:
    """What stands between the sentence and the facts."""
    data = chapter.subject.data
    if isinstance(data, AccuracyRecord):
        yield from accuracy_parts(data)
    elif isinstance(data, Inspection):
        yield boxed(f"<pre>{escape(str(data))}</pre>")
    elif isinstance(data, Roofline | LadderRoofline):
        yield from roofline_parts(data)
    elif is_cold_start(data):
        yield from cold_start_parts(data)
    elif is_benchmark(data):
        yield from benchmark_parts(data, prefix)
    else:
        yield from ladder_parts(data, chapter.evidence, prefix)


def roofline_parts(found: Roofline | LadderRoofline) -> Iterator[str]:
    """The picture, or why there is none, and the numbers."""
    yield title(say("roofline.title"))
    try:
        yield figure(draw_roofline(found) if isinstance(found, Roofline) else draw_ladder_roofline(found))
    except Unsupported as reason:
        yield paragraph(f"{reason}.", "soft")
    yield boxed(f"<pre>{escape(str(found))}</pre>")
