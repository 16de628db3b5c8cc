"""The command line: parse, make one call, print. Each command is one file of this folder."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Protocol

from ..errors import InvalidInput, TilewrightError
from . import (
    accuracy,
    bench,
    compare,
    devices,
    doctor,
    explain,
    inspect,
    ladder,
    plan,
    plot,
    report,
    roofline,
    show,
    tune,
)
from . import list as list_ladders
from . import run as run_one
from .interruption import terminated_as_interrupted


class Command(Protocol):
    """A file of this folder with one command. Its docstring is the help; its functions import what they need."""

    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def execute(self, options: argparse.Namespace) -> int: ...


COMMANDS: dict[str, Command] = {
    "ladder": ladder,
    "run": run_one,
    "explain": explain,
    "inspect": inspect,
    "roofline": roofline,
    "bench": bench,
    "accuracy": accuracy,
    "tune": tune,
    "plan": plan,
    "list": list_ladders,
    "show": show,
    "devices": devices,
    "doctor": doctor,
    "compare": compare,
    "report": report,
    "plot": plot,
}
FIRST = """\
start with:
  tilewright list                list the rungs
  tilewright ladder cpu          verify and measure one ladder
  tilewright explain tiles/2     see why a rung is fast or slow; needs no device
  tilewright COMMAND --help      options and examples of a command"""


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, which gets its arguments when it is first used."""

    command: Command | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.command is not None:
            command, self.command = self.command, None
            command.add_arguments(self)
            self.set_defaults(command=command.execute)
        return super().parse_known_args(args, namespace)


class Version(argparse.Action):
    """`--version`, which looks the version up when it is used."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"tilewright {version('tilewright')}")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tilewright", description="Matrix kernels in OpenCL C: run, verified and measured on any device.",
        epilog=FIRST, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    for name, command in COMMANDS.items():
        sentence = (command.__doc__ or "").split("\n", 1)[0].replace("%", "%%")
        commands.add_parser(
            name, help=sentence, description=sentence, epilog=f"examples:\n{command.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        ).command = command  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit status: 0 success, 1 failed or wrong, 2 unusable arguments, 130 interrupted."""
    prepare_streams()
    try:
        with terminated_as_interrupted():
            options = make_parser().parse_args(arguments)
            status: int = options.command(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except BrokenPipeError:  # a reader such as `head` stopped early; nothing may be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TilewrightError, MemoryError, RecursionError, OSError) as error:
        return status_of(error)


def prepare_streams() -> None:
    """Print "?" for characters outside a stream's encoding. Without a standard output, print nothing."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def tell(words: str, before: str = "") -> None:
    """Print on standard error: `before` in red, or the words themselves."""
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True).print(f"[red]{before or words}[/red]{escape(words) if before else ''}", soft_wrap=True)


def status_of(error: BaseException) -> int:
    """Print what went wrong in one sentence, and return the exit status."""
    words = str(error)
    if isinstance(error, MemoryError):
        words = f"out of memory: {words or 'a smaller size needs less'}"
    elif isinstance(error, RecursionError):
        words = "the text is nested too deeply to be read"
    elif isinstance(error, OSError):
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or words
        if (
            error.errno == errno.ENOSPC and not error.filename
        ):  # standard output is full: nothing may be flushed at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    tell(f" {words}", "error:")
    return 2 if isinstance(error, (InvalidInput, LookupError)) else 1


if __name__ == "__main__":
    sys.exit(main())
