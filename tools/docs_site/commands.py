"""The page of commands, from their parsers: usage, options and examples as `--help` has them."""

import argparse
import os
from collections.abc import Iterator
from unittest import mock

from tilewright.cli.command_parser import CommandParser
from tilewright.cli.completers import values_named
from tilewright.cli.main import GROUPS, make_parser

INTRODUCTION = """\
# Commands

Generated from the parsers: the same as `tilewright COMMAND --help`. Each command is the Python call of the same name
([Python calls](api.md)). The exit status is 0 for success, 1 for a failure or a wrong result, 2 for arguments that cannot be
used, 130 or 143 after a signal.
"""
WIDTH = 100  # columns of usage


def commands_page() -> str:
    """All commands in their groups."""
    parser = make_parser()
    parts = [INTRODUCTION]
    for title, commands in GROUPS.items():
        parts.append(f"## {title[0].upper()}{title[1:]}")
        parts += ["\n".join(section(name, parser.commands.choices[name])) for name in commands]
    return "\n\n".join(parts) + "\n"


def section(name: str, parser: CommandParser) -> Iterator[str]:
    """One command."""
    parser.load()
    yield f"### {name}\n"
    yield f"{(parser.description or '').replace('%%', '%')}\n"
    with mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH)}):
        yield f"```text\n{parser.format_usage().strip()}\n```\n"
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if not isinstance(each, argparse._HelpAction)]
        if actions:
            yield from table(str(group.title).removeprefix("positional "), group.description or "", actions)
    examples = (parser.epilog or "").removeprefix("examples:\n")
    lines = "\n".join(line.strip() for line in examples.splitlines())
    yield f"```sh\n{lines}\n```"


def table(title: str, description: str, actions: list[argparse.Action]) -> Iterator[str]:
    """A group of arguments."""
    if description:
        yield f"{title}: {plain(description)}\n"
    yield f"| {title} | |\n| --- | --- |"
    for action in actions:
        action.help = values_named(action)
        words = (action.help or "") % {"prog": "tilewright", **vars(action)}
        yield f"| {named(action)} | {plain(words)} |"
    yield ""


def named(action: argparse.Action) -> str:
    """An argument as it is typed."""
    value = "" if action.nargs == 0 else str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    if not action.option_strings:
        return f"`{value}`"
    return f"`{', '.join(action.option_strings)}{' ' + value if value else ''}`".replace("|", "\\|")


def plain(words: str) -> str:
    """Text for a cell: words that Markdown would change are escaped."""
    for letter in "\\`*_<|[":
        words = words.replace(letter, f"\\{letter}")
    return words
