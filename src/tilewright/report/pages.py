"""Writes tables made from records into Markdown pages, between marks that name the records."""

import re
from pathlib import Path

from ..errors import RecordError
from ..records import load_record
from .table import markdown as ladder_table
from .versus import markdown as benchmark_table

_MARK = re.compile(r"(<!-- record: (?P<file>[^ ]+) -->\n).*?(<!-- end record -->)", re.S)


def refresh(page: Path) -> int:
    """Rewrite what stands between `<!-- record: FILE -->` and `<!-- end record -->`, FILE beside the page; the number
    of tables. RecordError if the page has no mark."""
    text = page.read_text(encoding="utf-8")

    def table(match: re.Match[str]) -> str:
        record = load_record(page.parent / match["file"])
        write = benchmark_table if record.title.startswith("benchmark") else ladder_table
        return f"{match[1]}{write(record)}\n{match[3]}"

    fresh, count = _MARK.subn(table, text)
    if not count:
        raise RecordError(f"{page} has no '<!-- record: FILE -->' mark")
    page.write_text(fresh, encoding="utf-8")
    return count
