"""Options of a kernel in the first comment lines of its file: `// tilewright: --global N,M --local 16,16`."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from ..core.budgets import is_budget
from ..core.kernel import OPTIONS_MARK
from ..core.source import read_source
from ..errors import InvalidInput

_COMMENT = re.compile(r"\s*(//|/\*|\*/|\*|$)")


class HeadParser(argparse.ArgumentParser):
    """Parses the options of one line, and raises InvalidInput with the place of the line."""

    def __init__(self, place: str) -> None:
        super().__init__(prog=place, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(
            f"{self.prog}: {message}; a head takes --problem, --global, --local, --order, -D and --build-option"
        )


def head_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The options in the comment lines at the start of a file, with the number of each line."""
    for number, line in enumerate(read_source(path).split("\n"), 1):
        comment = _COMMENT.match(line)
        if comment is None:
            return
        text = line[comment.end() :].strip()
        if text.startswith(OPTIONS_MARK):
            words = text[len(OPTIONS_MARK) :].removesuffix("*/").strip()
            if not is_budget(words):
                yield number, words


def with_head(
    options: argparse.Namespace, add_options: Callable[[argparse.ArgumentParser], None]
) -> argparse.Namespace:
    """The options with those of the kernel's file added. The command line wins; its macros and compiler options come last.

    `add_options` adds the options that a head may hold to a parser. InvalidInput, with file and line, for others.
    """
    path = Path(options.kernel)
    merged = argparse.Namespace(**vars(options))
    if not path.exists():
        raise InvalidInput(f"there is no kernel file {path}; `tilewright list` names the rungs")
    if not path.is_file():
        return merged
    given = {name: value for name, value in vars(options).items() if value is not None}
    for number, text in head_lines(path):
        for name, value in vars(parsed_line(f"{path}:{number}", text, add_options)).items():
            if isinstance(value, list):
                setattr(merged, name, [*value, *getattr(merged, name)])
            elif value is not None and name not in given:
                setattr(merged, name, value)
    return merged


def parsed_line(place: str, text: str, add_options: Callable[[argparse.ArgumentParser], None]) -> argparse.Namespace:
    """The options of one line."""
    parser = HeadParser(place)
    add_options(parser)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidInput(f"{place}: {error}") from error
    return parser.parse_args(words)
