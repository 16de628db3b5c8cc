"""Source text -> tokens that know their file, line and column.

Positions are made when somebody asks for them: most tokens of a large set of headers are never asked.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
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


@dataclass(frozen=True, eq=False)
class Text:
    """The characters of a file; `starts` is where its lines begin, `shortened` where a character stands for a trigraph."""

    characters: str
    shortened: tuple[int, ...] = ()

    @cached_property
    def starts(self) -> list[int]:
        return [0] + [match.end() for match in re.finditer("\n", self.characters)]

    def column(self, start: int, at: int) -> int:
        """The column of an offset in the line that begins at `start`, as the file has it."""
        trigraphs = bisect_left(self.shortened, at) - bisect_left(self.shortened, start) if self.shortened else 0
        return at - start + 1 + 2 * trigraphs


_TRIGRAPHS = dict(zip("=(/)'<!>-", "#[\\]^{|}~", strict=True))


def text_of(characters: str) -> Text:
    """A file's characters with those that its trigraphs stand for (C99, 5.2.1.1)."""
    if "??" not in characters:
        return Text(characters)
    shortened: list[int] = []

    def replaced(match: re.Match[str]) -> str:
        shortened.append(match.start() - 2 * len(shortened))
        return _TRIGRAPHS[match[1]]

    known = re.sub(r"\?\?([=(/)'<!>-])", replaced, characters)
    return Text(known, tuple(shortened))


@dataclass(frozen=True, eq=False)
class Origin:
    """A file as its own name and lines, or as `#line` directives call them: `shift` is added to line numbers."""

    text: Text
    name: str
    shift: int = 0

    def position(self, at: int) -> Position:
        starts = self.text.starts
        line = bisect_right(starts, at)
        return Position(self.name, line + self.shift, self.text.column(starts[line - 1], at))


class Token(NamedTuple):
    """`kind` is name, number, string, character, operator, end, or body: a function's braces, whose text is read when the
    function is needed. `at` is its offset in the text of `origin`. `hidden` holds the macros that must not expand it again (the C
    standard's "painted blue")."""

    kind: str
    text: str
    origin: Origin
    at: int
    spaced: bool = False
    hidden: frozenset[str] = frozenset()
    body: "object | None" = None

    @property
    def position(self) -> Position:
        return self.origin.position(self.at)


_COMMENT = r"//(?:\\\r?\n|[^\n])*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/"
_STRING = r'"(?:\\.|[^"\\\n])*+"'
_CHARACTER = r"'(?:\\.|[^'\\\n])++'"
_TOKEN = re.compile(
    rf"""(?:[ \t\f\v\r\n\u00a0\ufeff]++|\\\r?\n|{_COMMENT})*+(?:
    (?P<name>[A-Za-z_$]\w*+)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*+)
    |(?P<digraph>%:%:|<:|:>|<%|%>|%:)
    |(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[-+*/%&|^~!<>=?:;,.(){{}}\[\]#])
    |(?P<string>{_STRING})
    |(?P<character>{_CHARACTER})
    |(?P<unknown>\S))?""",
    re.X | re.S,
)
# What decides where directives stand and where functions end; the rest of the text is not looked at.
_DIRECTIVE = re.compile(
    rf"""{_COMMENT}|{_STRING}|{_CHARACTER}
    |\n(?:[ \t\f\v\r\u00a0\ufeff]|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+(?P<directive>(?:\#|%:)
        (?:[^\n\\/"']|\\\r?\n|\\.|{_COMMENT}|{_STRING}|{_CHARACTER}|[/"'])*+)""",
    re.X | re.S,
)
_BRACE = re.compile(rf"{_COMMENT}|{_STRING}|{_CHARACTER}|(?P<brace>[{{}}]|<%|%>)", re.S)
_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
_NOTHING: frozenset[str] = frozenset()


class Piece(NamedTuple):
    """A part of a text, either a directive or what stands between two of them; `word` is the directive's name."""

    word: str | None
    start: int
    end: int


@lru_cache(maxsize=64)
def pieces_of(characters: str) -> tuple[Piece, ...]:
    """The directives of a text and what stands between them, without a look at any token."""
    out: list[Piece] = []
    at = 0
    for match in _DIRECTIVE.finditer("\n" + characters):  # a directive may stand in the first line
        start = match.start("directive") - 1
        if start < 0:
            continue
        if start > at:
            out.append(Piece(None, at, start))
        at = match.end() - 1
        word = re.match(r"(?:#|%:)(?:[ \t]|\\\r?\n|/\*.*?\*/)*(\w*)", characters[start:at], re.S)
        assert word is not None
        out.append(Piece(word[1], start, at))
    if at < len(characters):
        out.append(Piece(None, at, len(characters)))
    return tuple(out)


def tokenize(origin: Origin, start: int = 0, end: int | None = None) -> list[Token]:
    """The tokens between two offsets of a text; comments, newlines and line continuations count as space."""
    characters = origin.text.characters
    out: list[Token] = []
    for match in _TOKEN.finditer(characters, start, len(characters) if end is None else end):
        kind, group = match.lastgroup, match.lastindex
        if kind is None or group is None:
            continue
        at = match.start(group)
        if kind == "unknown":
            raise origin.position(at).error(f"{characters[at]!r} does not start any OpenCL C token")
        if kind == "digraph":
            out.append(Token("operator", _DIGRAPHS[match[group]], origin, at, at != match.start(), _NOTHING))
            continue
        out.append(Token(kind, match[group], origin, at, at != match.start(), _NOTHING))
    return out


def tokens_of_text(characters: str, name: str) -> list[Token]:
    """The tokens of a text that is no part of a file."""
    return tokenize(Origin(Text(characters), name))


def spelled(token: Token) -> str:
    """The token as its file has it: a digraph is not the operator that it stands for."""
    written = token.origin.text.characters[token.at : token.at + 2 * len(token.text)]
    return written if _DIGRAPHS.get(written) == token.text and token.kind == "operator" else token.text


def function_bodies(characters: str, start: int, end: int, depth: int) -> tuple[list[tuple[int, int]], int]:
    """The bodies of functions between two offsets, which begin inside `depth` braces; and how many are open at the end."""
    out: list[tuple[int, int]] = []
    begin: int | None = None
    for match in _BRACE.finditer(characters, start, end):
        brace = _DIGRAPHS.get(match["brace"], match["brace"])
        if brace == "{":
            if depth == 0:
                at = match.start()
                begin = at if characters[max(start, at - 200) : at].rstrip().endswith(")") else None
            depth += 1
        elif brace == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and begin is not None:
                out.append((begin, match.end()))
                begin = None
    return out, depth
