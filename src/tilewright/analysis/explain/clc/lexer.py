"""Source text -> tokens that know their file, line and column."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from ....errors import SourceError


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a source file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def error(self, message: str) -> SourceError:
        return SourceError(self.file, self.line, self.column, message)


class Token(NamedTuple):
    """`kind` is name, number, string, character, operator, newline or end; `hidden` holds the macros that must not
    expand it again (the C standard's "painted blue")."""

    kind: str
    text: str
    position: Position
    spaced: bool = False
    hidden: frozenset[str] = frozenset()


_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\f\v\r]|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?\*/)+)
    |(?P<newline>\n)
    |(?P<name>[A-Za-z_$]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<character>'(?:\\.|[^'\\\n])+')
    |(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[-+*/%&|^~!<>=?:;,.(){}\[\]#])""",
    re.X | re.S,
)


def tokenize(text: str, file: str) -> list[Token]:
    """All tokens of `text`, newlines included; comments and line continuations count as space."""
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    tokens: list[Token] = []
    at, spaced = 0, True
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _position(starts, at, file).error(f"{text[at]!r} does not start any OpenCL C token")
        if match.lastgroup == "space":
            spaced = True
        else:
            tokens.append(Token(match.lastgroup, match[0], _position(starts, at, file), spaced))
            spaced = match.lastgroup == "newline"
        at = match.end()
    return tokens


def _position(starts: list[int], at: int, file: str) -> Position:
    line = bisect_right(starts, at)
    return Position(file, line, at - starts[line - 1] + 1)
