"""Preprocessor of OpenCL C: directives, conditions, includes, macros; every token keeps its file, line and column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .condition import evaluate
from .lexer import Position, Token, tokenize
from .macros import Budget, Macro, expand, read_macro
from .predefined import PREDEFINED

_DEEPEST_INCLUDE, _MOST_INCLUDES = 64, 1000


@dataclass
class _Branch:
    """One open `#if`: whether this part is live, and whether an earlier part was."""

    live: bool
    taken: bool
    position: Position
    outer: bool


@dataclass
class Preprocessed:
    """Tokens without newlines, ended by one of kind `end`; `contract` is the last FP_CONTRACT pragma (None: none)."""

    tokens: list[Token]
    contract: bool | None


@dataclass
class _State:
    macros: dict[str, Macro]
    include: Sequence[Path]
    out: list[Token] = field(default_factory=list)
    pending: list[Token] = field(default_factory=list)
    contract: bool | None = None
    budget: Budget = field(default_factory=Budget)
    included: int = 0

    def expanded(self, tokens: list[Token]) -> list[Token]:
        try:
            return expand(tokens, self.macros, self.budget)
        except RecursionError:
            raise tokens[0].position.error("macros are nested too deeply from here on") from None

    def flush(self) -> None:
        self.out += self.expanded(self.pending)
        self.pending.clear()


def preprocess(
    source: str,
    file: str = "kernel.cl",
    macros: Mapping[str, str | int] | None = None,
    include: Sequence[Path | str] = (),
) -> Preprocessed:
    """The tokens of `source` after preprocessing. `macros` are the `-D` options; `include` the folders of `-I`."""
    state = _State(dict(_predefined()), [Path(each) for each in include])
    for name, value in (macros or {}).items():
        state.macros[name] = _option(name, str(value))
    _run(source, file, state, 0)
    last = state.out[-1].position if state.out else Position(file, 1, 1)
    return Preprocessed([*_without_pragma_operator(state.out), Token("end", "", last)], state.contract)


@cache
def _predefined() -> dict[str, Macro]:
    return {name: _option(name, value) for name, value in PREDEFINED.items()}


def _option(name: str, value: str) -> Macro:
    return Macro(name, None, tuple(token for token in tokenize(value, "<options>") if token.kind != "newline"))


def _run(source: str, file: str, state: _State, depth: int) -> None:
    branches: list[_Branch] = []
    shift, name = 0, file
    tokens = tokenize(source, file)
    for line in _lines(tokens):
        if line[0].text != "#":
            if all(branch.live for branch in branches):
                state.pending += _renumbered(line, shift, name) if shift or name != file else line
            continue
        line = _renumbered(line, shift, name) if shift or name != file else line
        state.flush()
        directive = line[1].text if len(line) > 1 else ""
        rest = line[2:]
        if directive in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            _conditional(directive, rest, line[0].position, branches, state)
        elif all(branch.live for branch in branches):
            if directive == "line":
                shift, name = _line_directive(rest, line[0].position, shift, name, state)
            else:
                _directive(directive, rest, line[0].position, state, depth)
    state.flush()
    if branches:
        raise branches[-1].position.error("this condition has no #endif")


def _lines(tokens: list[Token]) -> list[list[Token]]:
    """Logical lines, empty ones left out."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "newline":
            lines.append([])
        else:
            lines[-1].append(token)
    return [line for line in lines if line]


def _renumbered(line: list[Token], shift: int, name: str) -> list[Token]:
    return [
        token._replace(position=Position(name, token.position.line + shift, token.position.column)) for token in line
    ]


def _line_directive(rest: list[Token], position: Position, shift: int, name: str, state: _State) -> tuple[int, str]:
    """`#line N "file"`: the next physical line is line N of that file."""
    rest = state.expanded(rest)
    if not rest or not rest[0].text.isdecimal() or len(rest[0].text) > 9:
        raise position.error("#line needs a number of at most nine digits")
    physical = position.line - shift
    return int(rest[0].text) - (physical + 1), rest[1].text.strip('"') if len(rest) > 1 else name


def _conditional(directive: str, rest: list[Token], position: Position, branches: list[_Branch], state: _State) -> None:
    if directive in ("if", "ifdef", "ifndef"):
        outer = all(branch.live for branch in branches)
        live = outer and _holds(directive, rest, position, state)
        branches.append(_Branch(live, live, position, outer))
        return
    if not branches:
        raise position.error(f"#{directive} without #if")
    branch = branches[-1]
    if directive == "endif":
        branches.pop()
    elif directive == "else":
        branch.live, branch.taken = branch.outer and not branch.taken, True
    else:
        branch.live = branch.outer and not branch.taken and _holds("if", rest, position, state)
        branch.taken = branch.taken or branch.live


def _holds(directive: str, rest: list[Token], position: Position, state: _State) -> bool:
    if directive != "if":
        if not rest:
            raise position.error(f"#{directive} needs a name")
        return (rest[0].text in state.macros) == (directive == "ifdef")
    if not rest:
        raise position.error("#if needs a condition")
    return evaluate(state.expanded(_without_defined(rest, state)), position)


def _without_defined(tokens: list[Token], state: _State) -> list[Token]:
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text != "defined":
            out.append(token)
            index += 1
            continue
        bracket = index + 1 < len(tokens) and tokens[index + 1].text == "("
        at = index + (2 if bracket else 1)
        if at >= len(tokens):
            raise token.position.error("`defined` needs a name")
        out.append(token._replace(kind="number", text=str(int(tokens[at].text in state.macros))))
        index = at + (2 if bracket else 1)
    return out


def _directive(directive: str, rest: list[Token], position: Position, state: _State, depth: int) -> None:
    if directive == "define":
        macro = read_macro(rest, position)
        state.macros[macro.name] = macro
    elif directive == "undef":
        if rest:
            state.macros.pop(rest[0].text, None)
    elif directive == "include":
        _include(rest, position, state, depth)
    elif directive == "error":
        raise position.error("#error " + " ".join(token.text for token in rest))
    elif directive == "pragma":
        words = [token.text for token in rest]
        if "FP_CONTRACT" in words:
            state.contract = words[-1] != "OFF"
    elif directive not in ("", "warning"):
        raise position.error(f"#{directive} is not a directive")


def _include(rest: list[Token], position: Position, state: _State, depth: int) -> None:
    if depth >= _DEEPEST_INCLUDE:
        raise position.error(f"#include goes deeper than {_DEEPEST_INCLUDE} files: does the file include itself?")
    if rest and rest[0].kind == "name":
        rest = state.expanded(rest)
    if not rest or (rest[0].kind != "string" and rest[0].text != "<"):
        raise position.error('#include needs "file" or <file>')
    quoted = rest[0].kind == "string"
    name = rest[0].text[1:-1] if quoted else "".join(token.text for token in rest[1:-1])
    folders = ([Path(position.file).parent] if quoted else []) + list(state.include)
    for folder in folders:
        path = folder / name
        if path.is_file():
            state.included += 1
            if state.included > _MOST_INCLUDES:
                raise position.error(f"more than {_MOST_INCLUDES:,} files are included")
            _run(_text_of(path, position), str(path), state, depth + 1)
            return
    raise position.error(
        f"#include {name!r} is in none of the folders {', '.join(map(str, folders)) or '(none given)'}"
    )


def _text_of(path: Path, position: Position) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise position.error(f"{path} cannot be read as UTF-8 text: {error}") from None


def _without_pragma_operator(tokens: list[Token]) -> list[Token]:
    """`_Pragma("...")` says nothing about values, so it goes."""
    out: list[Token] = []
    skip = 0
    for token in tokens:
        if skip:
            skip -= 1
        elif token.kind == "name" and token.text == "_Pragma":
            skip = 3
        else:
            out.append(token)
    return out
