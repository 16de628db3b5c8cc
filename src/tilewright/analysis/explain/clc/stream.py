"""The parser's view of its tokens, and the names that decide how they read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from .atomic_types import ATOMIC_TYPES, ENUMERATION_TYPES, ENUMERATORS
from .image_types import IMAGE_TYPES
from .lexer import Position, Token
from .preprocess import Body
from .tree import Heading, Number, Span
from .types import INT, NAMED, Space, Type

QUALIFIERS = {
    "const", "volatile", "restrict", "__restrict", "__restrict__", "inline", "__inline", "__inline__", "static", "extern",
    "register", "__kernel", "kernel", "signed", "unsigned", "__signed__", "read_only", "write_only", "read_write",
    "__read_only", "__write_only", "__read_write", "__const", "__const__", "__volatile", "__volatile__", "__extension__",
    "_Noreturn", "__generic",
}  # fmt: skip
SPACES = ("private", "global", "constant", "local")
SPACE_WORDS = {**{word: word for word in SPACES}, **{f"__{word}": word for word in SPACES}}
STARTS_TYPE = {"struct", "union", "enum", "typedef", "__attribute__", "__attribute"}
TYPE_OF = {"typeof", "__typeof__", "__typeof"}

VARIABLE, ENUMERATOR, TYPE, FUNCTION = "a variable", "an enumerator", "a type", "a function"  # what a name may be
TRUTH_VALUES = {"false": 0, "true": 1}  # of type bool
KEYWORDS = {
    "break", "case", "continue", "default", "do", "else", "enum", "for", "goto", "if", "return", "sizeof", "struct", "switch",
    "typedef", "union", "while", *TRUTH_VALUES,
}  # fmt: skip


_BUILT_IN_TYPES: dict[str, Type] = {**NAMED, **ENUMERATION_TYPES, **ATOMIC_TYPES, **IMAGE_TYPES}
_ENUMERATORS = {name: Number(Position("<built in>", 1, 1), value, INT) for name, value in ENUMERATORS.items()}


@dataclass(frozen=True)
class Qualified:
    """The address space and const of a typedef, which what it declares has, too."""

    space: Space | None
    constant: bool


class TokenStream:
    """Tokens with a cursor; also the type names, enumerators, constant integers and variables seen so far."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.types: dict[str, Type] = dict(_BUILT_IN_TYPES)
        self.qualified: dict[str, Qualified] = {}  # what typedefs say beside the type
        self.constants: dict[str, Number] = dict(_ENUMERATORS)
        self.enumerators: dict[str, Number] = dict(_ENUMERATORS)
        self.functions: dict[str, tuple[Heading, ...]] = {}
        self.variable_names: set[str] = set()
        self.variable_types: dict[str, Type] = {}
        self.tags: dict[str, Type | None] = {}  # of the innermost scope: structs and unions; enumerations are None
        self.declared: dict[str, str] = {}  # what each name of the innermost scope is
        self.struct_ids = count(1)
        self.function_name = ""
        self.switches: list[list[Span | None]] = []  # the cases so far of those that are open

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is declared inside is forgotten at the end."""
        before = self.types, self.constants, self.enumerators, self.variable_types, self.tags, self.declared
        qualified = self.qualified
        self.types, self.constants, self.qualified = dict(self.types), dict(self.constants), dict(qualified)
        self.enumerators, self.variable_types = dict(self.enumerators), dict(self.variable_types)
        self.tags, self.declared = {}, {}
        yield
        self.types, self.constants, self.enumerators, self.variable_types, self.tags, self.declared = before
        self.qualified = qualified

    def declare(self, name: str, what: str, position: Position) -> None:
        """A name of the innermost scope. All but enumerators may be declared again, as what they are."""
        known = self.declared.setdefault(name, what)
        if known != what:
            raise position.error(f"{name!r} is declared twice in one scope: as {known} and as {what}")

    def hide(self, name: str) -> None:
        """A variable or an enumerator hides what its name meant before, up to the end of its block."""
        self.constants.pop(name, None)
        self.types.pop(name, None)
        self.variable_types.pop(name, None)
        if name in self.enumerators:
            self.enumerators = {key: value for key, value in self.enumerators.items() if key != name}

    @property
    def types_of_names(self) -> dict[str, Type]:
        """The types of constants and variables."""
        return {name: each.type for name, each in self.constants.items()} | self.variable_types

    @property
    def current(self) -> Token:
        return self.tokens[self.at]

    @property
    def position(self) -> Position:
        return self.tokens[self.at].position

    def ahead(self, count: int = 1) -> Token:
        at = self.at + count
        return self.tokens[at] if at < len(self.tokens) else self.tokens[-1]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def expect(self, text: str) -> Token:
        if text == "{" and self.current.kind == "body":
            self.unfold()
        token = self.current
        if token.text != text or token.kind == "string":
            raise token.position.error(f"expected {text!r}, found {describe(token)}")
        return self.take()

    def accept(self, text: str) -> bool:
        token = self.tokens[self.at]
        if token.text == text and token.kind in ("operator", "name"):
            self.at += 1
            return True
        if text == "{" and token.kind == "body":  # braces that are no function's after all
            self.unfold()
            return self.accept(text)
        return False

    def unfold(self) -> None:
        """Reads braces that were kept as text."""
        body = self.current.body
        assert isinstance(body, Body)
        self.tokens[self.at : self.at + 1] = body.tokens()

    def identifier(self, purpose: str) -> Token:
        token = self.current
        if token.kind != "name":
            raise token.position.error(f"expected {purpose}, found {describe(token)}")
        if token.text in KEYWORDS:
            raise token.position.error(f"expected {purpose}, found the keyword {describe(token)}")
        return self.take()

    def starts_type(self, count: int = 0) -> bool:
        token = self.ahead(count) if count else self.current
        if token.kind != "name":
            return False
        text = token.text
        return (
            text in self.types
            or text in QUALIFIERS
            or text in STARTS_TYPE
            or text in SPACE_WORDS
            or (text in TYPE_OF and self.ahead(count + 1).text == "(")
            or self.is_generic(count)
        )

    def is_own_type(self) -> bool:
        """Whether the source itself made this name a type's: after another type it is declared anew."""
        return self.current.text in self.types and self.current.text not in _BUILT_IN_TYPES

    def is_generic(self, count: int = 0) -> bool:
        """Whether `generic` stands before a type. Before OpenCL 2.0 it is a name like any other."""
        following = self.ahead(count + 1)
        return (
            self.ahead(count).text == "generic"
            and following.kind == "name"
            and (following.text in self.types or following.text in QUALIFIERS or following.text in STARTS_TYPE)
        )


def describe(token: Token) -> str:
    return "the end of the source" if token.kind == "end" else repr(token.text)
