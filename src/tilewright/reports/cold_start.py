"""A record of cold starts as a Markdown table: a line for each part that a new user waits for."""

from ..core.markdown import cell
from ..core.records import Record

TITLE = "cold start"  # of the record


def markdown(record: Record) -> str:
    """The record as a Markdown table."""
    device, environment = record.environment.device, record.environment
    texts = [f"**{record.title} · {record.dtype} · {device.label} · driver {device.driver}**", ""]
    texts += ["| part | median seconds | least .. most | limit | what it is |", "| --- | --- | --- | --- | --- |"]
    for row in record.rows:
        times = row.samples.wall
        figures = (f"{row.samples.median:.3g}", f"{min(times):.3g} .. {max(times):.3g}") if times else ("-", "-")
        cells = (row.name, *figures, row.notes[0] if row.notes else "", row.lesson)
        texts.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join([*texts, "", f"{environment.processor}, {environment.cores} cores; {environment.date}."])
