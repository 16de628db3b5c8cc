"""The tables of pages outside of pages: as aligned text for a terminal, and as HTML for a notebook.

The Markdown of a record is its only table; both forms are made from it.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from ..core.wide_text import padded, width_of

LONGEST_CELL = 36  # characters; the sentences of wider columns stand below the table
_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|( --- \|)+")


def as_text(markdown: str) -> str:
    """Markdown with tables as lines for a terminal: aligned columns, sentences below."""
    lines: list[str] = []
    for block in _blocks(markdown):
        lines += block if isinstance(block, list) else _aligned(block)
    return "\n".join(lines)


def as_html(markdown: str) -> str:
    """Markdown with tables as HTML, with every string escaped."""
    parts: list[str] = []
    for block in _blocks(markdown):
        if isinstance(block, list):
            parts += [f"<p>{escape(line)}</p>" for line in block if line]
        else:
            head, *rows = block
            parts.append(f"<table><thead>{html_row(head, 'th')}</thead>")
            parts.append(f"<tbody>{''.join(html_row(row, 'td') for row in rows)}</tbody></table>")
    return "\n".join(parts)


def _blocks(markdown: str) -> Iterator[list[str] | tuple[tuple[str, ...], ...]]:
    """Plain lines as lists, tables as tuples of rows, the header first."""
    plain: list[str] = []
    rows: list[tuple[str, ...]] = []
    for line in (*markdown.splitlines(), ""):
        if line.startswith("|"):
            if not _RULE.fullmatch(line):
                rows.append(tuple(_cell_text(each) for each in _CELLS.split(line)[1:-1]))
            continue
        if rows:
            yield from ([plain] if plain else [])
            yield tuple(rows)
            plain, rows = [], []
        plain.append(line.removeprefix("**").removesuffix("**") if line.startswith("**") else line)
    yield plain[:-1]


def _cell_text(cell: str) -> str:
    """The text of a cell, which may be bold."""
    text = cell.strip().replace("\\|", "|")
    return text[2:-2] if len(text) > 4 and text.startswith("**") and text.endswith("**") else text


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Numbers to the right, words to the left; a wide column becomes lines below the table."""
    head, *given = rows
    body = [(*row, *[""] * len(head))[: len(head)] for row in given]  # a line end in a text cuts a row
    wide = [
        place for place in range(1, len(head)) if max((width_of(row[place]) for row in body), default=0) > LONGEST_CELL
    ]
    kept = [place for place in range(len(head)) if place not in wide]
    widths = {place: max(width_of(row[place]) for row in (head, *body)) for place in kept}
    words = {place for place in kept if not any(row[place][:1].isdigit() for row in body)} | {0}

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            padded(row[place], widths[place]) if place in words else row[place].rjust(widths[place]) for place in kept
        ).rstrip()

    below = list(dict.fromkeys(f"{row[0]}: {row[place]}" for place in wide for row in body if row[place]))
    return [*map(line, (head, *body)), *([""] if below else []), *below]


def html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(each)}</{tag}>" for each in cells) + "</tr>"
