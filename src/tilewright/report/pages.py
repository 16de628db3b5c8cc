"""Writes tables made from records into Markdown pages, between marks that name the records."""

import re
from dataclasses import replace
from pathlib import Path

from ..access.judge import refresh_claims
from ..accuracy import load_accuracy
from ..errors import RecordError
from ..inspection.page import refresh_inspections
from ..markdown import harmless, read_page, write_page
from ..records import Record, load_record
from .beside import markdown as beside_table
from .cold_start import TITLE as FIRST_CALLS
from .cold_start import markdown as first_calls_table
from .errors_table import markdown as errors_table
from .roof import refresh_rooflines
from .table import markdown as ladder_table
from .versus import markdown as benchmark_table

_MARK = re.compile(
    r"(<!-- record: (?P<file>[^ ]+)(?P<form> beside| accuracy)? -->\n).*?(?P<end><!-- end record -->)", re.S
)


def refresh_page(page: Path) -> dict[str, int]:
    """Rewrite everything between marks of a page, whatever kinds of marks it has: how many of each kind. RecordError if the
    page has none."""
    counts = {
        "tables": refresh(page, required=False),
        "inspections": refresh_inspections(page),
        "rooflines": refresh_rooflines(page),
        "tables of claims": refresh_claims(page),
    }
    if not any(counts.values()):
        raise RecordError(
            f"{page} has no mark to write at: '<!-- record: FILE -->', '<!-- inspect: ... -->', '<!-- roofline: FILE -->' or "
            "'<!-- claims -->'"
        )
    return {kind: count for kind, count in counts.items() if count}


def refresh(page: Path, required: bool = True) -> int:
    """Rewrite what stands between `<!-- record: FILE -->` and `<!-- end record -->`, FILE beside the page; the number
    of tables. RecordError if one is `required` and the page has no mark. `<!-- record: FILE beside -->` asks for a
    ladder's table of sizes, with OpenCL and CUDA side by side, `<!-- record: FILE accuracy -->` for a record of accuracy.
    """
    text = read_page(page)

    def table(match: re.Match[str]) -> str:
        file = page.parent / match["file"]
        if match["form"] == " accuracy":
            return f"{match[1]}{errors_table(harmless(load_accuracy(file)))}\n{match['end']}"
        record = harmless(shortened(load_record(file)))
        if record.title == FIRST_CALLS:
            return f"{match[1]}{first_calls_table(record)}\n{match['end']}"
        write = benchmark_table if record.title.startswith("benchmark") else ladder_table
        if match["form"]:
            write = beside_table
        return f"{match[1]}{write(record)}\n{match['end']}"

    fresh, count = _MARK.subn(table, text)
    if not count and required:
        raise RecordError(f"{page} has no '<!-- record: FILE -->' mark")
    if count:
        write_page(page, fresh)
    return count


def shortened(record: Record) -> Record:
    """The record with the first line of each reason, which is what tables show: a compiler's log has hundreds."""
    rows = (replace(row, reason="".join(row.reason.strip().splitlines()[:1])) for row in record.rows)
    return replace(record, rows=tuple(rows))
