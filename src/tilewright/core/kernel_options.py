"""The options of a user's kernel: on a command line, or in comments of its file, which heads.py finds.

A line is `// tilewright: --global N,M --local 16,16`. Both places have the same options, which are declared here. Nothing heavy
is imported, because a command declares its options before it knows whether it needs them.
"""

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import InvalidInput
from .heads import Lines, read_heads
from .launch_arguments import add_launch, refuse_two_values


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


def kernel_option_defaults() -> tuple[tuple[str, str, object], ...]:
    """Of each of these options its name, its word on a command line, and its value if it is not given."""
    return tuple((each.dest, max(each.option_strings, key=len), each.default) for each in HeadParser("")._actions)


def with_head(path: Path, options: argparse.Namespace | None = None, entry: str | None = None) -> argparse.Namespace:
    """The options of a kernel's file, with those of its head and of the comment right above the `entry` added. `options` win over
    the comment, which wins over the head; of macros and compiler options those that win come last.

    InvalidInput for a file that is not there, for two values of one name; with file and line for what is no option.
    """
    if not path.exists():
        raise InvalidInput(f"there is no kernel file {path}; `tilewright list` names the rungs")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: give a .cl file")
    given = parsed_options(str(path), "") if options is None else options
    heads = read_heads(path)
    comments = _options_in(path, heads.shared)
    named = [entry, given.entry, *(each.entry for each in reversed(comments))]
    above = _options_in(path, heads.of(next(filter(None, named), None)))
    if any(each.entry for each in above):
        raise InvalidInput(
            f"{path}: --entry stands in the comment above a kernel, which is that kernel's: leave it out"
        )
    for level, place in (((given,), ""), (comments, f"{path}: "), (above, f"{path}: ")):
        refuse_two_values(level, place)
    merged = argparse.Namespace(**vars(given))
    for name, value in vars(given).items():
        said = [getattr(each, name) for each in (*comments, *above) if hasattr(each, name)]
        if isinstance(value, list):
            setattr(merged, name, [word for words in (*said, value) for word in words])
        elif value is None:
            setattr(merged, name, next((each for each in reversed(said) if each is not None), None))
    return merged


def _options_in(path: Path, lines: Lines) -> list[argparse.Namespace]:
    return [parsed_options(f"{path}:{number}", text) for number, text in lines if not is_budget(text)]


def is_budget(text: str) -> bool:
    """Whether the text of a head's line holds budgets of `check` instead of options: "max conflicts 1, no race"."""
    return text.split(maxsplit=1)[:1] in (["max"], ["no"])


def parsed_options(place: str, text: str) -> argparse.Namespace:
    """The options of one line. InvalidInput, which begins with `place`, for what is no option."""
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
