"""Which table fits a record."""

from dataclasses import replace

from ..core.records import Record
from .benchmark_table import markdown as benchmark_table
from .cold_start import TITLE as COLD_START
from .cold_start import markdown as cold_start_table
from .table import markdown as ladder_table


def own_table(record: Record) -> str:
    """The table of a record in the form that fits it, as Markdown."""
    if record.title == COLD_START:
        return cold_start_table(record)
    return benchmark_table(record) if record.title.startswith("benchmark") else ladder_table(record)


def shortened(record: Record) -> Record:
    """The record with the first line of each reason, which is what tables show: a compiler's log has hundreds."""
    rows = (replace(row, reason="".join(row.reason.strip().splitlines()[:1])) for row in record.rows)
    return replace(record, rows=tuple(rows))
