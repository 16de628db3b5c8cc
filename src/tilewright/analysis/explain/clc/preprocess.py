"""Preprocessor of OpenCL C: directives, conditions, includes, macros; every token keeps its file, line and column.

What is not live is never split into tokens. Functions of included files, and of very long ones, stay text until somebody needs
them: then their body is read with the macros of its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ....core.source import file_text
from .branches import WORDS, Conditions
from .lexer import Origin, Piece, Position, Token, function_bodies, pieces_of, text_of, tokenize, tokens_of_text
from .macros import Budget, Macro, expand, read_macro
from .predefined import predefined

_DEEPEST_INCLUDE, _MOST_INCLUDES = 64, 1000
LONG_FILE = 250_000  # characters: no file that somebody works on, but one into which others were pasted


@dataclass
class Preprocessed:
    """Tokens without newlines, ended by one of kind `end`; `contract` is the last FP_CONTRACT pragma (None: none)."""

    tokens: list[Token]
    contract: bool | None


@dataclass
class _State:
    macros: dict[str, Macro]
    include: Sequence[Path]
    main: str
    out: list[Token] = field(default_factory=list)
    pending: list[Token] = field(default_factory=list)
    contract: bool | None = None
    budget: Budget = field(default_factory=Budget)
    included: int = 0
    depth: int = 0  # of the braces that are open, as far as included files are concerned
    balanced: bool = True  # no macro opens or closes a brace
    snapshot: Mapping[str, Macro] | None = None  # the macros as they are, until one changes

    def expanded(self, tokens: list[Token]) -> list[Token]:
        return _expanded(tokens, self.macros, self.budget)

    def flush(self) -> None:
        if self.pending:
            self.out += self.expanded(self.pending)
            self.pending.clear()

    def define(self, macro: Macro) -> None:
        self.macros[macro.name] = macro
        self.balanced = self.balanced and not macro.unbalanced
        self.snapshot = None

    def forget(self, name: str) -> None:
        self.macros.pop(name, None)
        self.snapshot = None

    def current_macros(self) -> Mapping[str, Macro]:
        if self.snapshot is None:
            self.snapshot = dict(self.macros)
        return self.snapshot


@dataclass(frozen=True)
class Body:
    """The body of a function as text, and the macros of its place."""

    origin: Origin
    start: int
    end: int
    macros: Mapping[str, Macro]

    def tokens(self) -> list[Token]:
        """Its tokens with macros replaced, braces included."""
        tokens, budget = tokenize(self.origin, self.start, self.end), Budget()
        budget.read(tokens)
        return _without_pragma_operator(_expanded(tokens, self.macros, budget))


def preprocess(
    source: str,
    file: str = "kernel.cl",
    macros: Mapping[str, str | int] | None = None,
    include: Sequence[Path | str] = (),
    standard: str | None = None,
) -> Preprocessed:
    """The tokens of `source` after preprocessing. `macros` are the `-D` options, also `f(x)` with its replacement; `include` the
    folders of `-I`; `standard` the value of `-cl-std`, CL1.2 where there is none."""
    state = _State(dict(_predefined(standard)), [Path(each) for each in include], file)
    for name, value in (macros or {}).items():
        state.define(_option(name, str(value)))
    origin = Origin(text_of(source), file)
    _run(origin, state, 0)
    last = state.out[-1] if state.out else Token("end", "", origin, 0)
    end = Token("end", "", last.origin, last.at)
    return Preprocessed([*_without_pragma_operator(state.out), end], state.contract)


@lru_cache(maxsize=8)
def _predefined(standard: str | None) -> dict[str, Macro]:
    return {name: _option(name, value) for name, value in predefined(standard).items()}


def _option(name: str, value: str) -> Macro:
    tokens = tokens_of_text(f"{name} {value}", "<options>")
    return read_macro(tokens, Position("<options>", 1, 1))


def _expanded(tokens: list[Token], macros: Mapping[str, Macro], budget: Budget) -> list[Token]:
    try:
        return expand(tokens, macros, budget)
    except RecursionError:
        raise tokens[0].position.error("macros are nested too deeply from here on") from None


def _run(origin: Origin, state: _State, depth: int) -> None:
    """The text of one file."""
    conditions = Conditions(
        state.macros.__contains__, state.expanded, lambda named, position: _file(named, position, state)
    )
    for piece in pieces_of(origin.text.characters):
        if piece.word is None:
            if conditions.live:
                _text(piece, origin, state)
            continue
        if not conditions.live and piece.word not in WORDS:
            continue
        state.flush()
        line = tokenize(origin, piece.start, piece.end)
        position, rest = line[0].position, line[2:]
        if piece.word in WORDS:
            conditions.read(piece.word, rest, position)
        elif piece.word == "line" or piece.word.isdecimal():
            origin = _renamed(origin, rest if piece.word == "line" else line[1:], line[0], state)
        else:
            _directive(line[1].text if len(line) > 1 else "", rest, position, state, depth)
    state.flush()
    conditions.end()


def _text(piece: Piece, origin: Origin, state: _State) -> None:
    """What stands between directives. A function's body in an included or very long file becomes one token."""
    start = piece.start
    if origin.name != state.main or len(origin.text.characters) > LONG_FILE:
        bodies, state.depth = function_bodies(origin.text.characters, start, piece.end, state.depth)
        for begin, end in bodies if state.balanced else ():
            _read(origin, start, begin, state)
            body = Body(origin, begin, end, state.current_macros())
            state.pending.append(Token("body", "{...}", origin, begin, body=body))
            start = end
    _read(origin, start, piece.end, state)


def _read(origin: Origin, start: int, end: int, state: _State) -> None:
    tokens = tokenize(origin, start, end)
    state.budget.read(tokens)
    state.pending += tokens


def _renamed(origin: Origin, rest: list[Token], sharp: Token, state: _State) -> Origin:
    """`#line N "file"`, or `# N "file"` as preprocessors write it: the next line of the text is line N of that file."""
    position = sharp.position
    rest = state.expanded(rest)
    if not rest or not rest[0].text.isdecimal() or len(rest[0].text) > 9:
        raise position.error("#line needs a number of at most nine digits")
    name = rest[1].text.strip('"') if len(rest) > 1 else origin.name
    return Origin(origin.text, name, int(rest[0].text) - (position.line - origin.shift + 1))


def _directive(directive: str, rest: list[Token], position: Position, state: _State, depth: int) -> None:
    if directive == "define":
        state.define(read_macro(rest, position))
    elif directive == "undef":
        if rest:
            state.forget(rest[0].text)
    elif directive == "include":
        _include(rest, position, state, depth)
    elif directive == "error":
        raise position.error("#error " + " ".join(token.text for token in rest))
    elif directive == "pragma":
        words = [token.text for token in rest]
        if "FP_CONTRACT" in words:
            state.contract = words[-1] != "OFF"
    elif directive not in ("", "warning", "ident"):
        raise position.error(f"#{directive} is not a directive")


def _include(rest: list[Token], position: Position, state: _State, depth: int) -> None:
    if depth >= _DEEPEST_INCLUDE:
        raise position.error(f"#include goes deeper than {_DEEPEST_INCLUDE} files: does the file include itself?")
    path = _file(rest, position, state)
    if path is None:
        folders = ", ".join(map(str, _folders(rest, position, state))) or "(none given)"
        raise position.error(f"#include {_named(rest, position, state)!r} is in none of the folders {folders}")
    state.included += 1
    if state.included > _MOST_INCLUDES:
        raise position.error(f"more than {_MOST_INCLUDES:,} files are included")
    _run(Origin(text_of(_text_of(path, position)), str(path)), state, depth + 1)


def _named(rest: list[Token], position: Position, state: _State) -> str:
    """The file that `"file"` or `<file>` or a macro names."""
    if rest and rest[0].kind == "name":
        rest = state.expanded(rest)
    if not rest or (rest[0].kind != "string" and rest[0].text != "<"):
        raise position.error('#include needs "file" or <file>')
    return rest[0].text[1:-1] if rest[0].kind == "string" else "".join(token.text for token in rest[1:-1])


def _folders(rest: list[Token], position: Position, state: _State) -> list[Path]:
    angled = rest[0].text == "<" or (rest[0].kind == "name" and state.expanded(rest)[0].text == "<")
    return ([] if angled else [Path(position.file).parent]) + list(state.include)


def _file(rest: list[Token], position: Position, state: _State) -> Path | None:
    name = _named(rest, position, state)
    paths = (folder / name for folder in _folders(rest, position, state))
    return next((path for path in paths if path.is_file()), None)


def _text_of(path: Path, position: Position) -> str:
    try:
        return file_text(path)
    except OSError as error:
        raise position.error(f"{path} cannot be read: {error}") from None


def _without_pragma_operator(tokens: list[Token]) -> list[Token]:
    """`_Pragma("...")` says nothing about values, so it goes."""
    out: list[Token] = []
    skip = 0
    for token in tokens:
        if skip:
            skip -= 1
        elif token.text == "_Pragma" and token.kind == "name":
            skip = 3
        else:
            out.append(token)
    return out
