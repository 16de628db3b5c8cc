"""The few HTML elements that pages are made of, with every text escaped."""

from collections.abc import Sequence
from html import escape

from ..shown import html_row


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{escape(text)}</p>" if text else ""


def title(text: str, level: int = 2) -> str:
    return f"<h{level}>{escape(text)}</h{level}>"


def items(texts: Sequence[str], kind: str = "") -> str:
    """A list; nothing for no texts."""
    return f"<ul{_class(kind)}>{''.join(f'<li>{escape(each)}</li>' for each in texts)}</ul>" if texts else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table in a box that scrolls by itself."""
    top = f"<thead>{html_row(head, 'th')}</thead>" if head else ""
    body = "".join(html_row(row, "td") for row in rows)
    return f'<div class="wide"><table{_class(kind)}>{top}<tbody>{body}</tbody></table></div>'


def boxed(html: str) -> str:
    """HTML in a box that scrolls by itself."""
    return f'<div class="wide">{html}</div>'


def figure(svg: str, caption: str = "") -> str:
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{svg}{below}</figure>"


def folded(summary: str, body: str) -> str:
    """A part that opens by a click."""
    return f"<details class=more><summary>{escape(summary)}</summary>{body}</details>"


def _class(kind: str) -> str:
    return f' class="{escape(kind, quote=True)}"' if kind else ""
