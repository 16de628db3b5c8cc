"""Number and character literals -> typed constants (C99 6.4.4, with OpenCL's fixed sizes)."""

from math import inf

from .condition import character_value, integer_value, without_escapes
from .lexer import Token
from .rounding import exact_number, rounded
from .tree import Number
from .types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, Scalar

_SURELY_ZERO = 2.0**-200  # as a float or half


def read_number(token: Token) -> Number:
    text = token.text.lower()
    hexadecimal = text.startswith("0x")
    if (hexadecimal and "p" in text) or (not hexadecimal and any(mark in text for mark in (".", "e"))):
        return _float(token, text, hexadecimal)
    if not hexadecimal and text[-1] in "fh":
        written = f"{token.text[:-1]}.0{token.text[-1]}"
        raise token.position.error(
            f"{token.text!r} is no number: a suffix f or h needs a point or an exponent, as in {written}"
        )
    return _integer(token)


def read_character(token: Token) -> Number:
    return Number(token.position, character_value(token), INT)


def read_string(token: Token) -> str:
    """The bytes of a string literal without its quotes, each as one character."""
    text = token.text[1:-1].encode().decode("latin-1")
    return without_escapes(text, token)


def _float(token: Token, text: str, hexadecimal: bool) -> Number:
    kind = {"f": FLOAT, "h": HALF}.get(text[-1], DOUBLE)
    digits = text[:-1] if text[-1] in "fhl" else text
    try:
        value = float.fromhex(digits) if hexadecimal else float(digits)
    except (ValueError, OverflowError):
        raise token.position.error(f"{token.text!r} is not a number that a double can hold") from None
    if kind is not DOUBLE and _SURELY_ZERO < value < inf:  # to round the double again may give another number
        value = rounded(exact_number(digits, hexadecimal), kind)
    return Number(token.position, value, kind)


def _integer(token: Token) -> Number:
    value, suffix = integer_value(token)
    unsigned, wide, decimal = "u" in suffix, "l" in suffix, token.text[0] != "0"
    candidates: list[Scalar] = []
    if not wide:
        candidates += [UINT] if unsigned else [INT] if decimal else [INT, UINT]
    candidates += [ULONG] if unsigned else [LONG] if decimal else [LONG, ULONG]
    for kind in candidates:
        if value < 1 << (8 * kind.size - kind.is_signed):
            return Number(token.position, value, kind, "ll" in suffix)
    if value < 1 << 64:
        return Number(token.position, value, ULONG, wide=True)
    raise token.position.error(f"{token.text} does not fit into any integer type")
