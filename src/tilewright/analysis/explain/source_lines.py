"""The lines of a rendered source, by file and line number."""

import re
from pathlib import Path

from .clc.lexer import Position

_LINE = re.compile(r'^[ \t]*#[ \t]*line[ \t]+(\d+)(?:[ \t]+"([^"]*)")?')


class SourceText:
    """The lines of a source and its includes, under the names and numbers that `#line` gives."""

    def __init__(self, text: str, filename: str) -> None:
        self.lines: dict[str, dict[int, str]] = {}
        self.main = filename
        self._read(text, filename)

    def _read(self, text: str, filename: str) -> None:
        name, number = filename, 1
        for line in text.splitlines():
            match = _LINE.match(line)
            if match:
                number = int(match[1])
                name = match[2] or name
                continue
            self.lines.setdefault(name, {})[number] = line
            number += 1

    def line(self, position: Position) -> str:
        """The text of a position's line; empty if the file cannot be read."""
        if position.file not in self.lines:
            path = Path(position.file)
            self._read(path.read_text(encoding="utf-8") if path.is_file() else "", position.file)
        return self.lines.get(position.file, {}).get(position.line, "")

    def file(self, name: str) -> dict[int, str]:
        """All lines of one file by their numbers."""
        self.line(Position(name, 1, 1))
        return self.lines.get(name, {})
