"""The conditions of `#if`: integer expressions over preprocessed tokens, of 64 bits each (C99 6.10.1)."""

import re
from collections.abc import Callable
from functools import partial

from .lexer import Position, Token
from .tree import Number
from .typed_constants import binary_constant, converted, unary_constant, wrapped
from .types import CHAR, INT, LONG, ULONG, usual

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS, start=1) for operator in operators.split()}


class _Condition:
    def __init__(self, tokens: list[Token], position: Position) -> None:
        self.tokens, self.position, self.at = tokens, position, 0
        self.skipping = 0  # inside the part of && || ?: whose value does not count

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self) -> Token:
        if self.at >= len(self.tokens):
            raise self.position.error("this condition ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def ternary(self) -> Number:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.take()
        truth = bool(condition.value)
        chosen = self.skipped(self.ternary, not truth)
        if self.take().text != ":":
            raise self.position.error("`?` without `:` in this condition")
        other = self.skipped(self.ternary, truth)
        return converted(chosen if truth else other, usual(chosen.type, other.type))

    def skipped(self, read: Callable[[], Number], skip: bool) -> Number:
        self.skipping += skip
        value = read()
        self.skipping -= skip
        return value

    def binary(self, level: int) -> Number:
        left = self.unary()
        while PRECEDENCE.get(self.peek(), 0) >= level:
            operator = self.take()
            decided = (operator.text == "&&" and not left.value) or (operator.text == "||" and bool(left.value))
            right = self.skipped(partial(self.binary, PRECEDENCE[operator.text] + 1), decided)
            if operator.text in ("/", "%", "<<", ">>") and self.skipping:
                right = Number(right.position, 1, right.type)
            left = _widest(binary_constant(operator.text, left, right, operator.position))
        return left

    def unary(self) -> Number:
        token = self.take()
        if token.text == "(":
            value = self.ternary()
            if self.take().text != ")":
                raise token.position.error("this parenthesis is not closed")
            return value
        if token.text in ("-", "+", "~", "!"):
            return _widest(unary_constant(token.text, self.unary(), token.position))
        if token.kind == "number":
            return _literal(token)
        if token.kind == "character":
            return Number(token.position, character_value(token), LONG)
        if token.kind == "name":
            return Number(token.position, int(token.text == "true"), LONG)
        raise token.position.error(f"{token.text!r} cannot stand in a condition")


def _widest(number: Number) -> Number:
    return converted(number, LONG if number.type.is_signed else ULONG)


def _literal(token: Token) -> Number:
    value, suffix = integer_value(token)
    if value >> 64:
        raise token.position.error(f"{token.text} does not fit into any integer type")
    return Number(token.position, value, ULONG if "u" in suffix or value >> 63 else LONG)


def evaluate(tokens: list[Token], position: Position) -> bool:
    """The truth of an `#if` whose macros are expanded and whose `defined` are replaced by 0 or 1."""
    condition = _Condition(tokens, position)
    try:
        value = condition.ternary()
    except RecursionError:
        raise position.error("this condition is nested too deeply") from None
    if condition.at != len(tokens):
        raise tokens[condition.at].position.error(f"{tokens[condition.at].text!r} is not expected here")
    return bool(value.value)


_MOST_DIGITS = 80  # those of 64 bits, and some zeros in front
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?(?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU])$")


def integer_value(token: Token) -> tuple[int, str]:
    """The value and the lower-case suffix of an integer literal."""
    match = _INTEGER.match(token.text)
    if match is None:
        raise token.position.error(f"{token.text!r} is not an integer")
    digits = match[1].lower()
    if len(digits) > _MOST_DIGITS:
        raise token.position.error(f"{token.text[:20]}... does not fit into any integer type")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xb"
    if octal and re.search("[89]", digits):
        raise token.position.error(f"{token.text!r} has a digit that octal numbers do not have")
    base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 8 if octal else 10
    return int(digits, base), match[2].lower()


_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.S)
_CHARACTER = re.compile(rf"{_ESCAPE.pattern}|.", re.S)


def character_value(token: Token) -> int:
    """The int of a character constant: one is a signed char, of several the first has the highest byte, as in Clang."""
    values = [_byte_of(character, token) for character in _CHARACTER.findall(token.text[1:-1])]
    if len(values) == 1:
        return wrapped(values[0], CHAR)
    return wrapped(int.from_bytes(values, "big"), INT)


def without_escapes(text: str, token: Token) -> str:
    """The text of a string literal, each escape as the one character that it stands for."""
    return _ESCAPE.sub(lambda match: chr(_byte_of(match[0], token)), text)


def _byte_of(character: str, token: Token) -> int:
    """The byte of one character or escape."""
    if not character.startswith("\\"):
        value = ord(character)
    elif re.fullmatch("x[0-9a-fA-F]+", character[1:]):
        value = int(character[2:], 16)
    elif re.fullmatch("[0-7]+", character[1:]):
        value = int(character[1:], 8)
    else:
        value = _ESCAPES.get(character[1:], 256)
    if value > 255:
        raise token.position.error(f"{token.text} is not a known character")
    return value
