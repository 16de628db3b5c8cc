"""Markdown with text from outside: strings of records are escaped here; table cells, fenced blocks, pages."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import RecordError

Record = TypeVar("Record")

# What is escaped: tags, comments, entities, links, pictures, references, code and line breaks. Brackets after letters stay,
# as in names of rungs: rows/00_sequential[r-k-c].
_MEANING = re.compile(r"&(?=#?\w+;)|[\\<>`]|(?:(?<=^)|(?<=\s)|(?<=!))\[|(?<=\])[(:]|(?<=:)//|(?<=www)\.|(?<=\w)@(?=\w)")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def plain(text: str) -> str:
    """One line that Markdown and HTML show as the text itself, whatever it holds. In a table cell, apply `cell` too."""
    return _MEANING.sub(lambda match: "".join(f"&#{ord(each)};" for each in match[0]), _BREAKS.sub(" ", text))


def harmless(record: Record) -> Record:
    """The record with every string in it escaped by `plain`, keys included."""
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
    """A fenced block of lines. Text that would end the block, or start an HTML comment, is broken up."""
    broken = re.sub(r"`{3,}", lambda match: "'" * len(match[0]), text).replace("<!--", "<! --")
    return f"```\n{broken}\n```"


def read_page(page: Path) -> str:
    """The text of a page; RecordError says why it cannot be read."""
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{page} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{page} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def write_page(page: Path, text: str) -> None:
    """Write a page; RecordError says why it cannot be written."""
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{page} cannot be written: {error.strerror}") from error
