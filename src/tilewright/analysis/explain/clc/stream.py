"""The parser's view of its tokens, and the names that decide how they read."""

from .atomic_types import ATOMIC_TYPES, ENUMERATION_TYPES, ENUMERATORS
from .image_types import IMAGE_TYPES
from .lexer import Position, Token
from .types import NAMED, Type

QUALIFIERS = {
    "const", "volatile", "restrict", "__restrict", "__restrict__", "inline", "__inline", "__inline__", "static", "extern",
    "register", "__kernel", "kernel", "signed", "unsigned", "__signed__", "read_only", "write_only", "read_write",
    "__read_only", "__write_only", "__read_write", "__const", "__volatile__", "__extension__",
}  # fmt: skip
SPACES = ("private", "global", "constant", "local")
STARTS_TYPE = {"struct", "union", "enum", "typedef", "__attribute__", "__attribute"}


KEYWORDS = {
    "break", "case", "continue", "default", "do", "else", "enum", "for", "goto", "if", "return", "sizeof", "struct", "switch",
    "typedef", "union", "while",
}  # fmt: skip


class TokenStream:
    """Tokens with a cursor; also the type names, enumerators and constant integers seen so far."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.types: dict[str, Type] = {**NAMED, **ENUMERATION_TYPES, **ATOMIC_TYPES, **IMAGE_TYPES}
        self.constants: dict[str, int] = dict(ENUMERATORS)
        self.enumerators: dict[str, int] = dict(ENUMERATORS)
        self.struct_count = 0

    @property
    def current(self) -> Token:
        return self.tokens[self.at]

    @property
    def position(self) -> Position:
        return self.tokens[self.at].position

    def ahead(self, count: int = 1) -> Token:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def expect(self, text: str) -> Token:
        token = self.current
        if token.text != text or token.kind == "string":
            raise token.position.error(f"expected {text!r}, found {describe(token)}")
        return self.take()

    def accept(self, text: str) -> bool:
        token = self.current
        if token.text == text and token.kind in ("operator", "name"):
            self.at += 1
            return True
        return False

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
        return (
            token.text in self.types
            or token.text in QUALIFIERS
            or token.text in STARTS_TYPE
            or token.text.removeprefix("__") in SPACES
        )


def describe(token: Token) -> str:
    return "the end of the source" if token.kind == "end" else repr(token.text)
