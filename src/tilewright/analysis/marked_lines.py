"""Lines of a report and what each of them is. The command line colours them; everything else prints the texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """What a line says. `MORE` and `LESS` are changes of a count between two kernels."""

    PLAIN = "plain"
    HEADING = "heading"
    FAULT = "fault"
    COST = "cost"
    CODE = "code"
    NOTE = "note"
    MORE = "more"
    LESS = "less"


@dataclass(frozen=True)
class MarkedLine:
    """One line without its end."""

    text: str
    mark: Mark = Mark.PLAIN

    def __str__(self) -> str:
        return self.text


def marked(texts: Iterable[str], mark: Mark = Mark.PLAIN) -> list[MarkedLine]:
    """Lines with one mark for all."""
    return [MarkedLine(text, mark) for text in texts]


def plain_text(lines: Iterable[MarkedLine]) -> str:
    """The lines as one text without an end of line after the last."""
    return "\n".join(each.text for each in lines)
