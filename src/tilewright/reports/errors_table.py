"""A record of accuracy as a Markdown table: a line for each kind of data, a column for each precision."""

from ..core.markdown import cell
from ..measurement.accuracy import AccuracyRecord, ErrorRow

MARKED = "the largest error relative to |A||B| in units of 2^-24; in brackets the relative error of the whole matrix"


def markdown(record: AccuracyRecord) -> str:
    """One line for each kind of data. A cell has the largest error and the norm-wise error."""
    columns = list(dict.fromkeys((row.mode, row.by) for row in record.rows))
    cells = {(row.data, row.mode, row.by): _cell(row) for row in record.rows}
    info, environment = record.environment.device, record.environment
    sides = "x".join(map(str, record.size))
    head = ("data", *(f"{mode}, {by}" for mode, by in columns))
    lines = [f"**errors of {record.dtype} products {sides} · {info.label} · driver {info.driver}**: {MARKED}", ""]
    lines += ["| " + " | ".join(map(cell, head)) + " |", "|" + " --- |" * len(head)]
    for data in dict.fromkeys(row.data for row in record.rows):
        values = (cells.get((data, *column), "") for column in columns)
        lines.append("| " + " | ".join(map(cell, (data, *values))) + " |")
    return "\n".join((*lines, "", f"{environment.processor}; {environment.date}."))


def _cell(row: ErrorRow) -> str:
    return f"{row.largest:.3g} ({row.normwise:.1e})"
