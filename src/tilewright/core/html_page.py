"""The frame of HTML pages that need nothing but themselves: colours for light and dark, style and script inside, data escaped."""

import json
from html import escape
from typing import Any

from .language import language

# What every page begins with. The last three are the parts of a colour whose strength a page chooses.
COLOURS = """\
:root { color-scheme: light dark; --page: #fff; --ink: #1f2328; --soft: #59636e; --line: #d0d7de; --card: #f6f8fa;
  --red: #cf222e; --redbox: #ffebe9; --amber: #9a6700; --amberbox: #fff8c5; --green: #1a7f37; --greenbox: #dafbe1;
  --blue: #0969da; --hot: 207, 34, 46; --warm: 191, 135, 0; --cool: 26, 127, 55; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --card: #161b22; --red: #ff7b72;
    --redbox: #3c1618; --amber: #d29922; --amberbox: #332701; --green: #3fb950; --greenbox: #12261e; --blue: #58a6ff;
    --hot: 248, 81, 73; --warm: 210, 153, 34; --cool: 63, 185, 80; } }
"""


def whole_page(title: str, style: str, body: str, script: str = "", data: Any = None) -> str:
    """The page. `body` is HTML, `title` is text. A script finds `data` as JSON in the element of that name."""
    scripts = ""
    if data is not None:
        text = json.dumps(data).replace("<", "\\u003c")
        scripts += f'\n<script type="application/json" id="data">{text}</script>'
    if script:
        scripts += f"\n<script>\n{script}</script>"
    return (
        f'<!doctype html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title>\n<style>\n{COLOURS}{style}</style></head>\n<body>{body}{scripts}</body></html>\n"
    )
