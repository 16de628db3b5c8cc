"""The arithmetic of `#if`: integer expressions over preprocessed tokens."""

import re
from collections.abc import Callable
from functools import partial

from .lexer import Position, Token

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS, start=1) for operator in operators.split()}


def integer_binary(operator: str, left: int, right: int, position: Position) -> int:
    """C's meaning of `left operator right` for integers of unlimited width."""
    if operator in ("/", "%"):
        if right == 0:
            raise position.error("division by zero in a constant expression")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("&&", "||"):
        return int(bool(left) and bool(right)) if operator == "&&" else int(bool(left) or bool(right))
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            raise position.error(f"a shift by {right} in a constant expression: counts go from 0 to 63")
        return left << right if operator == "<<" else left >> right
    return _PLAIN[operator](left, right)


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


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

    def ternary(self) -> int:
        value = self.binary(1)
        if self.peek() != "?":
            return value
        self.take()
        chosen = self.skipped(self.ternary, not value)
        if self.take().text != ":":
            raise self.position.error("`?` without `:` in this condition")
        other = self.skipped(self.ternary, bool(value))
        return chosen if value else other

    def skipped(self, read: Callable[[], int], skip: bool) -> int:
        self.skipping += skip
        value = read()
        self.skipping -= skip
        return value

    def binary(self, level: int) -> int:
        value = self.unary()
        while PRECEDENCE.get(self.peek(), 0) >= level:
            operator = self.take()
            decided = (operator.text == "&&" and not value) or (operator.text == "||" and bool(value))
            right = self.skipped(partial(self.binary, PRECEDENCE[operator.text] + 1), decided)
            if operator.text in ("/", "%", "<<", ">>") and self.skipping:
                right = 1
            value = integer_binary(operator.text, value, right, operator.position)
        return value

    def unary(self) -> int:
        token = self.take()
        if token.text == "(":
            value = self.ternary()
            if self.take().text != ")":
                raise token.position.error("this parenthesis is not closed")
            return value
        if token.text in ("-", "+", "~", "!"):
            value = self.unary()
            return {"-": -value, "+": value, "~": ~value, "!": int(not value)}[token.text]
        if token.kind == "number":
            return integer_value(token)[0]
        if token.kind == "character":
            return character_value(token)
        if token.kind == "name":
            return 1 if token.text == "true" else 0
        raise token.position.error(f"{token.text!r} cannot stand in a condition")


def evaluate(tokens: list[Token], position: Position) -> bool:
    """The truth of an `#if` whose macros are expanded and whose `defined` are replaced by 0 or 1."""
    condition = _Condition(tokens, position)
    try:
        value = condition.ternary()
    except RecursionError:
        raise position.error("this condition is nested too deeply") from None
    if condition.at != len(tokens):
        raise tokens[condition.at].position.error(f"{tokens[condition.at].text!r} is not expected here")
    return bool(value)


_MOST_DIGITS = 80  # those of 64 bits, and some zeros in front
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)$")


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


def character_value(token: Token) -> int:
    text = token.text[1:-1]
    if not text.startswith("\\"):
        return ord(text[0])
    if re.fullmatch("x[0-9a-fA-F]{1,2}", text[1:]):
        return int(text[2:], 16)
    if re.fullmatch("[0-3]?[0-7]{1,2}", text[1:]):
        return int(text[1:], 8)
    if text[1:] not in _ESCAPES:
        raise token.position.error(f"{token.text} is not a known character")
    return _ESCAPES[text[1:]]
