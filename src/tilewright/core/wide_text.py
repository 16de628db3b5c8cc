"""Text in a terminal's columns: Chinese characters take two, and lines may be broken between them."""

from functools import cache
from unicodedata import category, combining, east_asian_width

CLOSING = ("Pe", "Pf", "Po")  # categories of punctuation that begins no line
OPENING = ("Ps", "Pi")  # and that ends none


def is_wide(character: str) -> bool:
    """Whether a terminal shows a character in two columns, as it does Chinese ones."""
    return bool(character) and east_asian_width(character) in "WF"


@cache
def _width_of(character: str) -> int:
    return 2 if is_wide(character) else 0 if combining(character) else 1


def width_of(text: str) -> int:
    """The columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_width_of, text))


def padded(text: str, width: int) -> str:
    """A text with blanks behind it, up to a width."""
    return text + " " * (width - width_of(text))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` columns, broken at blanks and between wide characters; those after the first are indented. A word
    that is longer than a line stays whole."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line.strip() and width_of(line) + width_of(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, piece = indent, piece.lstrip()
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    """What is not broken: words with the blanks before them, and single wide characters with the punctuation behind them."""
    pieces: list[str] = []
    for character in text:
        last = pieces[-1][-1] if pieces else ""
        closes = is_wide(character) and category(character) in CLOSING
        opened = is_wide(last) and category(last) in OPENING
        apart = is_wide(character) or is_wide(last) or (character == " " and last != " ")
        if last and (closes or opened or not apart):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
