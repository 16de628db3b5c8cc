"""The options of a user's kernel: on a command line, or in its head, the first comment lines of its file.

A head's line is `// tilewright: --global N,M --local 16,16`. Both places have the same options, which are declared here. Nothing
heavy is imported, because a command declares its options before it knows whether it needs them.
"""

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import InvalidInput
from .launch_arguments import add_launch
from .source import read_source

OPTIONS_MARK = "tilewright:"  # begins a comment line that holds options
_COMMENT = re.compile(r"\s*(//|/\*|\*/|\*|$)")


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """The options that may stand on a command line and in the head of a kernel's file."""
    settings = parser.add_argument_group("settings")
    settings.add_argument(
        "-D", dest="define", action="append", default=[], metavar="NAME=VALUE",
        help="a setting of a rung, or a macro of your kernel; may be repeated (default: the rung's own)",
    )  # fmt: skip
    settings.add_argument(
        "--build-option", action="append", default=[], metavar="OPTION",
        help="an option for the OpenCL compiler, such as --build-option=-cl-mad-enable; may be repeated (default: none)",
    )  # fmt: skip
    own = parser.add_argument_group(
        "a kernel of your own", "These may stand in a comment at its start: // tilewright: --global M,N --local 16,16"
    )
    own.add_argument("--problem", help="what it computes: gemm, transpose or copy (default: gemm)")
    own.add_argument(
        "--global", dest="global_size", metavar="X,Y", help="its global size in work-items, such as M,N or N/TS*16,M"
    )
    own.add_argument("--local", dest="local_size", metavar="X,Y", help="its local size in work-items, such as 16,16")
    own.add_argument(
        "--order",
        help="memory order of A, B and C: row, column, or a letter for each, such as rcr for a column-major B (default: row)",
    )
    add_launch(own)


class HeadParser(argparse.ArgumentParser):
    """Parses the options of one line, and raises InvalidInput with the place of the line."""

    def __init__(self, place: str) -> None:
        super().__init__(prog=place, add_help=False, allow_abbrev=False)
        add_kernel_options(self)

    def error(self, message: str) -> NoReturn:
        words = [max(action.option_strings, key=len) for action in self._actions]
        raise InvalidInput(f"{self.prog}: {message}; a head takes {', '.join(words[:-1])} and {words[-1]}")


def with_head(path: Path, options: argparse.Namespace | None = None) -> argparse.Namespace:
    """The options of a kernel's file, with those of its head added. `options` win; their macros and compiler options come last.

    InvalidInput for a file that is not there; with file and line for what is no option.
    """
    if not path.exists():
        raise InvalidInput(f"there is no kernel file {path}; `tilewright list` names the rungs")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: give a .cl file")
    heads = [_parsed(f"{path}:{number}", text) for number, text in head_lines(path) if not is_budget(text)]
    given = _parsed(str(path), "") if options is None else options
    merged = argparse.Namespace(**vars(given))
    for head in heads:
        for name, value in vars(head).items():
            if isinstance(value, list):
                setattr(merged, name, [*value, *getattr(merged, name)])
            elif value is not None and getattr(given, name) is None:
                setattr(merged, name, value)
    return merged


def is_budget(text: str) -> bool:
    """Whether the text of a head's line holds budgets of `check` instead of options: "max conflicts 1, no race"."""
    return text.split(maxsplit=1)[:1] in (["max"], ["no"])


def head_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The options and budgets in the comment lines at the start of a file, with the number of each line."""
    for number, line in enumerate(read_source(path).split("\n"), 1):
        comment = _COMMENT.match(line)
        if comment is None:
            return
        text = line[comment.end() :].strip()
        if text.startswith(OPTIONS_MARK):
            yield number, text[len(OPTIONS_MARK) :].removesuffix("*/").strip()


def _parsed(place: str, text: str) -> argparse.Namespace:
    """The options of one line."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidInput(f"{place}: {error}") from error
    return HeadParser(place).parse_args(words)


def macros_among(options: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The macros that compiler options define (-DNAME=VALUE), and the other options."""
    defined = [each for each in options if re.match(r"\s*-D", each)]
    macros = settings_of([each.strip()[2:].strip() for each in defined])
    return macros, tuple(each for each in options if each not in defined)


def folders_among(options: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders that compiler options name (-IFOLDER), and the other options."""
    folders = [each for each in options if re.match(r"\s*-I", each)]
    found = tuple(each.strip()[2:].strip() for each in folders)
    return tuple(filter(None, found)), tuple(each for each in options if each not in folders)


def settings_of(definitions: Sequence[str]) -> dict[str, str]:
    """ "BK=8" as {"BK": "8"}, and "FAST" as {"FAST": "1"}."""
    found = {}
    for each in definitions:
        name, _, value = each.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\n" in value:
            raise InvalidInput(f"{each!r}: write NAME=VALUE, with a name of letters, digits and _")
        found[name] = value or "1"
    return found
