"""A folder of pages: a list of the watched kernels, and a page for each one that was explained."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ...core.language import in_english
from ..kernel_page.page import Page, save_page
from .watch_report import HEAD, cells
from .watched import WatchedLaunch

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem}}
table{{border-collapse:collapse}}td,th{{border-bottom:1px solid #8884;padding:.25rem .7rem;text-align:left;vertical-align:top}}
td.number{{text-align:right;white-space:nowrap}}</style></head><body><h1>{title}</h1><table><tr>{head}</tr>
{rows}
</table></body></html>
"""
NUMBERS = range(2, 7)  # the columns of the table that hold numbers


@in_english()
def save_pages(launches: Sequence[WatchedLaunch], title: str, folder: Path) -> list[Path]:
    """Write index.html and a page for each explained launch; the folder is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    written, rows = [], []
    for number, launch in enumerate(launches, 1):
        link = ""
        if launch.explanation is not None:
            link = f"{number:02}-{re.sub(r'[^A-Za-z0-9_]', '_', launch.entry)[:60]}.html"
            save_page(Page(launch.explanation, notes=launch.notes), folder / link)
            written.append(folder / link)
        rows.append(_row(launch, link))
    head = "".join(f"<th>{escape(each)}</th>" for each in HEAD)
    index = folder / "index.html"
    index.write_text(_PAGE.format(title=escape(title), head=head, rows="\n".join(rows)), encoding="utf-8")
    return [index, *written]


def _row(launch: WatchedLaunch, link: str) -> str:
    texts = [escape(each) for each in cells(launch)]
    if link:
        texts[0] = f'<a href="{link}">{texts[0]}</a>'
    body = (f"<td{' class=number' * (at in NUMBERS)}>{text}</td>" for at, text in enumerate(texts))
    return f"<tr>{''.join(body)}</tr>"
