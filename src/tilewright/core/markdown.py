"""Markdown that holds other people's text: strings of records made harmless in one place, cells, fences, and pages."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import RecordError

Record = TypeVar("Record")

# Nothing but plain text gets through: no tag, comment or entity, no link, picture or reference, no code, no second line.
# Brackets after letters stay, as in the names of rungs: rows/00_sequential[r-k-c].
_MEANING = re.compile(r"&(?=#?\w+;)|[\\<>`]|(?:(?<=^)|(?<=\s)|(?<=!))\[|(?<=\])[(:]|(?<=:)//|(?<=www)\.|(?<=\w)@(?=\w)")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def plain(text: str) -> str:
    """One line that Markdown and HTML show as the text itself, whatever it holds. A cell of a table asks for `cell` too."""
    return _MEANING.sub(lambda match: "".join(f"&#{ord(each)};" for each in match[0]), _BREAKS.sub(" ", text))


def harmless(record: Record) -> Record:
    """The record with every string in it made plain, keys included."""
    return msgspec.convert(_plain_inside(msgspec.to_builtins(record)), type=type(record))


def _plain_inside(value: Any) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {_plain_inside(key): _plain_inside(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_inside(each) for each in value]
    return value


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return text.replace("|", "\\|")


def fenced(text: str) -> str:
    """A block of lines as they are. What would end the block, or is a mark of a page, is broken up."""
    broken = re.sub(r"`{3,}", lambda match: "'" * len(match[0]), text).replace("<!--", "<! --")
    return f"```\n{broken}\n```"


def read_page(page: Path) -> str:
    """The text of a page; RecordError says why it cannot be read."""
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{page} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{page} is no page of UTF-8: {error.reason} at byte {error.start}") from error


def write_page(page: Path, text: str) -> None:
    """Write a page; RecordError says why it cannot be written."""
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{page} cannot be written: {error.strerror}") from error
