"""The command line: parse, make one call, print. Each command is one file of this folder."""

import errno
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from ..core.language import LANGUAGES, language, use_language
from ..errors import InvalidInput, TilewrightError
from ..runtime.home import cache_troubles
from . import (
    accuracy,
    bench,
    check,
    classroom,
    compare,
    completion,
    devices,
    doctor,
    exercise,
    explain,
    grade,
    inspect,
    ladder,
    lsp,
    peaks,
    plan,
    plot,
    predict,
    report,
    roofline,
    show,
    tour,
    tune,
    watch,
    why,
)
from . import list as list_ladders
from . import run as run_one
from .command_parser import Command, ProgramParser, Version, add_commands, add_common
from .interruption import status_of_interrupt, terminated_as_interrupted
from .json_output import standard_output_for_json

GROUPS: dict[str, dict[str, Command]] = {
    "learn": {
        "list": list_ladders, "show": show, "explain": explain, "tour": tour, "exercise": exercise, "grade": grade,
        "classroom": classroom,
    },
    "measure": {
        "ladder": ladder, "bench": bench, "accuracy": accuracy, "compare": compare, "plot": plot, "report": report,
    },
    "your own kernel": {
        "why": why, "watch": watch, "check": check, "run": run_one, "inspect": inspect, "roofline": roofline, "predict": predict,
        "lsp": lsp,
    },
    "library": {"plan": plan, "tune": tune},
    "machine": {"devices": devices, "peaks": peaks, "doctor": doctor, "completion": completion},
}  # fmt: skip
COMMANDS: dict[str, Command] = {name: command for group in GROUPS.values() for name, command in group.items()}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a disk, of the user's part of it, of a file
FIRST = """\
start with:
  tilewright list                list the rungs
  tilewright ladder cpu          verify and measure one ladder
  tilewright explain tiles/2     see why a rung is fast or slow; needs no device
  tilewright COMMAND --help      options and examples of a command
  tilewright completion bash     completion of commands, options and rungs in bash, zsh or fish"""


def make_parser() -> ProgramParser:
    """The parser of all commands."""
    parser = ProgramParser(
        prog="tilewright", usage="tilewright [-h] [--version] [--debug] COMMAND ...", epilog=FIRST,
        description="Matrix kernels in OpenCL C: run, verified and measured on any device.",
    )  # fmt: skip
    parser.groups = GROUPS
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    add_common(parser, default=False)
    add_commands(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. The exit status: 0 success, 1 failed or wrong, 2 unusable arguments, 130 or 143 ended by a signal."""
    prepare_streams()
    parser = make_parser()
    completion.answer_shell(parser)
    options = Namespace(debug=False)
    try:
        with terminated_as_interrupted():
            options = parse(parser, arguments)
            if options.lang is not None:
                use_language(options.lang)
            tell_unprintable()
            with standard_output_for_json(options), troubles_told():
                status: int = options.command(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as interrupt:
        tell("interrupted")
        return status_of_interrupt(interrupt)
    except BrokenPipeError:  # a reader such as `head` stopped early; nothing may be flushed at exit
        discard_output()
        return 0
    except (TilewrightError, MemoryError, RecursionError, OSError, UnicodeError) as error:
        if options.debug:
            traceback.print_exc()
        return status_of(error)


def parse(parser: ProgramParser, arguments: Sequence[str] | None) -> Namespace:
    """The options of a command line; without a command, those that print the help."""
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        getattr(options, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if "command" not in options:
        options.command = parser.execute
    return options


@contextmanager
def troubles_told() -> Iterator[None]:
    """A context for a command. At its end, one line says why caches could not be used, if so."""
    try:
        yield
    finally:
        if troubles := cache_troubles():
            print(f"note: {'; '.join(troubles)}; `tilewright doctor` says more", file=sys.stderr)


def discard_output() -> None:
    """Let nothing more be written to standard output, which takes nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare_streams() -> None:
    """Print "?" for characters outside a stream's encoding. A stream that is closed gets nothing."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def tell_unprintable() -> None:
    """Say on standard error, in English, that standard output has no letters of the chosen language."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        LANGUAGES[language()].encode(encoding)
    except UnicodeEncodeError:
        print(
            f'note: standard output is in {encoding}, which prints the letters of --lang {language()} as "?"; '
            "PYTHONIOENCODING=utf-8 changes that, and --lang en is English",
            file=sys.stderr,
        )


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
    elif isinstance(error, UnicodeError):
        words = f"text that is not {getattr(error, 'encoding', 'UTF-8')}: {words}"
    elif isinstance(error, OSError):
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or words
        if error.errno in FULL and not error.filename:  # standard output is full
            discard_output()
    tell(f" {words}", "error:")
    return 2 if isinstance(error, (InvalidInput, LookupError)) else 1


if __name__ == "__main__":
    sys.exit(main())
