"""A kernel's code without comments, by which a record recognises the kernel."""

import re
from dataclasses import dataclass

from tilewright.core.source import without_comments

_MARKER = re.compile(r'\s*#line (?P<line>\d+) "(?P<file>[^"]*)"')


@dataclass(frozen=True)
class CodeLine:
    """One line that holds code: where it stands, and the code with single blanks."""

    file: str  # "" before the text's first `#line`
    line: int
    code: str


def code_lines(text: str) -> list[CodeLine]:
    """The lines of a rendered program that hold more than comments, in order; `#line` says where they stand."""
    masked, found = without_comments(text), []
    file, line, place = "", 0, 0
    for original in text.splitlines(keepends=True):
        line += 1
        marker = _MARKER.match(original)
        if marker is not None:
            file, line = marker["file"], int(marker["line"]) - 1
        else:
            code = " ".join(masked[place : place + len(original)].split())
            if code and original.endswith("\\\n"):
                code += " \\"
            if code:
                found.append(CodeLine(file, line, code))
        place += len(original)
    return found


def normalised(text: str) -> str:
    """What two texts share that differ in comments, white space and the files' names alone."""
    return "\n".join(each.code for each in code_lines(text))


def number_of(lines: list[CodeLine], file: str, line: int) -> int | None:
    """Which line of code of the whole program stands there; None if none does."""
    return next((number for number, each in enumerate(lines) if (each.file, each.line) == (file, line)), None)
