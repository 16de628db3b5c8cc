"""Parsers whose commands get their arguments when they are used, and the grouped help of all commands."""

import argparse
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any, Protocol

from ..core.language import LANGUAGES
from ..core.version import VERSION
from .completers import complete_arguments, values_named

NAME_WIDTH = 14  # of a command's name in the list of commands, with its indent


class Command(Protocol):
    """A file of this folder with one command. Its docstring is the help; its functions import what they need."""

    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def execute(self, options: argparse.Namespace) -> int: ...


class HelpfulParser(argparse.ArgumentParser):
    """A parser whose help is written or not: argparse says nothing where standard output takes no more."""

    def print_help(self, file: Any = None) -> None:
        print(self.format_help(), end="", file=file, flush=True)


class CommandParser(HelpfulParser):
    """The parser of one command, which gets its arguments when it is first used."""

    command: Command | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        self.load()
        for action in self._actions:
            action.help = values_named(action)
        return super().format_help()

    def load(self) -> None:
        """Add the arguments, unless they are there."""
        if self.command is not None:
            command, self.command = self.command, None
            command.add_arguments(self)
            add_common(self, argparse.SUPPRESS)
            complete_arguments(self)
            self.set_defaults(command=command.execute, parser=self)


class Version(argparse.Action):
    """`--version`."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"tilewright {VERSION}", flush=True)
        parser.exit()


class ProgramParser(HelpfulParser):
    """The parser of all commands: its help lists them in groups."""

    groups: Mapping[str, Mapping[str, Command]]
    commands: "argparse._SubParsersAction[CommandParser]"

    def execute(self, options: argparse.Namespace) -> int:
        """What is done without a command: print the help."""
        self.print_help()
        return 0

    def format_help(self) -> str:
        width = max(shutil.get_terminal_size().columns - 2, NAME_WIDTH)
        parts = [self.format_usage(), textwrap.fill(self.description or "", width)]
        for title, commands in self.groups.items():
            lines = [_command_line(name, command, width) for name, command in commands.items()]
            parts.append("\n".join((f"{title}:", *lines)))
        formatter = self._get_formatter()
        formatter.start_section("options")
        formatter.add_arguments(self._get_optional_actions())
        formatter.end_section()
        return "\n\n".join(part.rstrip("\n") for part in (*parts, formatter.format_help(), self.epilog or "")) + "\n"


def add_common(parser: argparse.ArgumentParser, default: Any) -> None:
    """`--debug` and `--lang`, before or after the name of the command."""
    parser.add_argument(
        "--debug", action="store_true", default=default,
        help="show where in the program an error arose (default: one sentence)",
    )  # fmt: skip
    parser.add_argument(
        "--lang", choices=tuple(LANGUAGES), default=default or None,
        help="the language of sentences, tours and exercises, as far as they are translated (default: as LANG says)",
    )  # fmt: skip


def add_commands(parser: ProgramParser) -> None:
    """A parser for each command of the groups."""
    parser.commands = parser.add_subparsers(metavar="COMMAND", parser_class=CommandParser, prog=parser.prog)
    for name, command in ((name, each) for group in parser.groups.values() for name, each in group.items()):
        sentence = _sentence(command).replace("%", "%%")
        parser.commands.add_parser(
            name, help=sentence, description=sentence, epilog=f"examples:\n{command.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        ).command = command  # fmt: skip


def _sentence(command: Command) -> str:
    """The first line of a command's docstring."""
    return (command.__doc__ or "").split("\n", 1)[0]


def _command_line(name: str, command: Command, width: int) -> str:
    """A command's name and its sentence, with a hanging indent."""
    return textwrap.fill(
        _sentence(command), max(width, NAME_WIDTH + 20), subsequent_indent=" " * NAME_WIDTH,
        initial_indent=f"  {name}".ljust(NAME_WIDTH),
    )  # fmt: skip
