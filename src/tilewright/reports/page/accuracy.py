"""The parts of a page about errors: a grid of kinds of data and precisions, the larger the error the redder."""

import math
from collections.abc import Iterator
from html import escape

from ...core.numbers import figure
from ...measurement.accuracy import AccuracyRecord, ErrorRow
from ..errors_table import MARKED
from .elements import paragraph, title
from .words import say


def accuracy_parts(record: AccuracyRecord) -> Iterator[str]:
    """The grid. Colours have a logarithmic scale from the smallest to the largest error."""
    if not record.rows:
        return
    yield title(say("accuracy.title", size="\u00d7".join(map(str, record.size))))
    yield paragraph(say("accuracy.how", marked=MARKED), "soft")
    known = [math.log10(row.largest) for row in record.rows if row.largest > 0]
    low, high = min(known, default=0.0), max(known, default=1.0)
    columns = list(dict.fromkeys((row.mode, row.by) for row in record.rows))
    cells = {(row.data, row.mode, row.by): row for row in record.rows}
    heads = "".join(f"<th>{escape(mode)}<br>{escape(by)}</th>" for mode, by in columns)
    body = "".join(
        f"<tr><th>{escape(data)}</th>"
        + "".join(_cell(cells.get((data, *column)), low, high) for column in columns)
        + "</tr>"
        for data in dict.fromkeys(row.data for row in record.rows)
    )
    yield (
        f'<div class="wide"><table class="grid"><thead><tr><th>{escape(say("accuracy.data"))}</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    notes = {f"{row.mode}, {row.by}: {row.note}" for row in record.rows if row.note}
    yield "".join(paragraph(each, "soft") for each in sorted(notes))


def _cell(row: ErrorRow | None, low: float, high: float) -> str:
    if row is None:
        return "<td></td>"
    part = (math.log10(row.largest) - low) / (high - low) if row.largest > 0 and high > low else 0.0
    tone = "cool" if part < 1 / 3 else "warm" if part < 2 / 3 else "hot"
    return (
        f'<td style="background:rgba(var(--{tone}),{0.12 + 0.4 * part:.2f})"><b>{figure(row.largest)}</b>'
        f'<br><small class="soft">{row.normwise:.1e}</small></td>'
    )
