"""`#if` and its relatives: which parts of a file are live."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .condition import evaluate
from .lexer import Position, Token

WORDS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})
ASKS_FOR_FILES = "__has_include"
# What Clang has such questions for is not known here: the answer is always no, and the source takes its plain way.
ASKS_FOR_COMPILER = frozenset(
    {
        "__has_builtin",
        "__has_attribute",
        "__has_feature",
        "__has_extension",
        "__has_declspec_attribute",
        "__has_warning",
    }
)


@dataclass
class _Branch:
    """One open `#if`: whether this part is live, whether an earlier part was, and whether it is the `#else`."""

    live: bool
    taken: bool
    position: Position
    outer: bool
    last: bool = False


@dataclass
class Conditions:
    """The open conditions of one file. `defined` says whether a macro is, `expanded` replaces macros, `found` looks for a file
    to include."""

    defined: Callable[[str], bool]
    expanded: Callable[[list[Token]], list[Token]]
    found: Callable[[list[Token], Position], Path | None]
    branches: list[_Branch] = field(default_factory=list)
    live: bool = True

    def read(self, directive: str, rest: list[Token], position: Position) -> None:
        """One of the directives in WORDS; `rest` are the tokens after its name."""
        if directive in ("if", "ifdef", "ifndef"):
            live = self.live and self._holds(directive, rest, position)
            self.branches.append(_Branch(live, live, position, self.live))
        elif not self.branches:
            raise position.error(f"#{directive} without #if")
        elif directive == "endif":
            self.branches.pop()
        else:
            branch = self.branches[-1]
            if branch.last:
                raise position.error(f"#{directive} after #else")
            branch.last = directive == "else"
            branch.live = branch.outer and not branch.taken
            if directive != "else":
                branch.live = branch.live and self._holds(directive.removeprefix("el"), rest, position)
            branch.taken = branch.taken or branch.live or directive == "else"
        self.live = not self.branches or self.branches[-1].live

    def end(self) -> None:
        """The file is at its end."""
        if self.branches:
            raise self.branches[-1].position.error("this condition has no #endif")

    def _holds(self, directive: str, rest: list[Token], position: Position) -> bool:
        if directive != "if":
            if not rest:
                raise position.error(f"#{directive} needs a name")
            return self.defined(rest[0].text) == directive.endswith("ifdef")
        if not rest:
            raise position.error("#if needs a condition")
        return evaluate(self.expanded(self._answered(rest)), position)

    def _answered(self, tokens: list[Token]) -> list[Token]:
        """`defined X`, `__has_include(...)` and questions about the compiler, replaced by 0 or 1."""
        out: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            if token.text == "defined":
                name, index = _name_of(tokens, index, token)
                known = name in (ASKS_FOR_FILES, *ASKS_FOR_COMPILER) or self.defined(name)
                out.append(token._replace(kind="number", text=str(int(known))))
            elif token.text == ASKS_FOR_FILES or token.text in ASKS_FOR_COMPILER:
                asked, index = _in_brackets(tokens, index, token)
                known = token.text == ASKS_FOR_FILES and self.found(asked, token.position) is not None
                out.append(token._replace(kind="number", text=str(int(known))))
            else:
                out.append(token)
        return out


def _name_of(tokens: list[Token], index: int, use: Token) -> tuple[str, int]:
    """The name after `defined`, in brackets or not, and where the next token is."""
    bracket = index < len(tokens) and tokens[index].text == "("
    at = index + bracket
    if at >= len(tokens):
        raise use.position.error("`defined` needs a name")
    return tokens[at].text, at + 1 + bracket


def _in_brackets(tokens: list[Token], index: int, use: Token) -> tuple[list[Token], int]:
    closing = next((at for at in range(index, len(tokens)) if tokens[at].text == ")"), None)
    if closing is None or tokens[index].text != "(":
        raise use.position.error(f"{use.text} needs what it asks for, in parentheses")
    return tokens[index + 1 : closing], closing + 1
