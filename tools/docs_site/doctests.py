"""For mkdocstrings: examples in docstrings become code blocks. Markdown would make quotations of their `>>>`."""

import re
from typing import Any

import griffe

_PROMPT = re.compile(r"^\s*>>> ")


def fenced(text: str) -> str:
    """The text with a fence around each example, which ends at a blank line."""
    lines: list[str] = []
    inside = False
    for line in [*text.split("\n"), ""]:
        if not inside and _PROMPT.match(line):
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join(lines[:-1])


class FencedExamples(griffe.Extension):  # type: ignore[misc]  # griffe is a part of the group docs alone
    """Changes the docstring of everything that is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
