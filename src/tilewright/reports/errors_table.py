"""A record of accuracy as a Markdown table: a line for each kind of data, a column for each precision."""

from collections.abc import Sequence

from ..core.language import Sentence
from ..core.markdown import cell
from ..measurement.accuracy import AccuracyRecord, ErrorRow

MARKED = Sentence(
    "the largest error relative to |A||B| in units of 2^-24; in brackets the relative error of the whole matrix"
)


def grid(rows: Sequence[ErrorRow]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heading, and one line for each kind of data. A cell has the largest error and the norm-wise error."""
    columns = list(dict.fromkeys((row.mode, row.by) for row in rows))
    cells = {(row.data, row.mode, row.by): _cell(row) for row in rows}
    lines = [
        (data, *(cells.get((data, *column), "") for column in columns))
        for data in dict.fromkeys(row.data for row in rows)
    ]
    return ("data", *(f"{mode}, {by}" for mode, by in columns)), lines


def markdown(record: AccuracyRecord) -> str:
    """The record as a Markdown table."""
    head, rows = grid(record.rows)
    info, environment = record.environment.device, record.environment
    sides = "x".join(map(str, record.size))
    lines = [f"**errors of {record.dtype} products {sides} · {info.label} · driver {info.driver}**: {MARKED}", ""]
    lines += ["| " + " | ".join(map(cell, head)) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(map(cell, each)) + " |" for each in rows]
    return "\n".join((*lines, "", f"{environment.processor}; {environment.date}."))


def _cell(row: ErrorRow) -> str:
    return f"{row.largest:.3g} ({row.normwise:.1e})"
