"""What several commands print."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from unicodedata import category

from ..core.wide_text import wrapped

NARROWEST = 20  # columns that a hanging text gets at least
NEAR_LEFT = 6  # the indent of lines for which there is no room below their head
LABEL = re.compile(r" *(?:[a-z]+(?: \w+)?: +|[a-z]+ {2,})?")  # "  step 1: ", "  not taken: ", "first   "
RED, YELLOW, GREEN, DIM = "31", "33", "32", "2"  # of a terminal's escape sequences


def say(text: str) -> None:
    """Print text as it is."""
    print(text)


def tell_written(paths: Sequence[Path]) -> None:
    """Print the names of files that were written, on standard error: standard output is for the answer."""
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)


def tell_blas_settings(kind: str) -> None:
    """Print on standard error that variables make NumPy on this kind of device another library than the baseline."""
    from ..measurement.baselines.child import blas_settings_words

    if kind == "cpu" and (differences := blas_settings_words()):
        print(f"note: {differences}", file=sys.stderr)


def say_hanging(head: str, text: str, style: str = "", indent: int | None = None) -> None:
    """Print `head` in a style, then text. On a terminal its further lines stand below its first word, or at `indent`; where that
    leaves them less than NARROWEST columns, near the left. What is piped is one line, unless COLUMNS says how wide it may be."""
    head, text = without_controls(head), without_controls(text)
    shown = coloured(head, style)
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        print(f"{shown}{text}")
        return
    place = len(head) if indent is None else indent
    columns = shutil.get_terminal_size().columns
    if place + NARROWEST > columns:
        place = min(place, NEAR_LEFT)
    width = max(columns, place + NARROWEST)
    first, *others = wrapped(" " * len(head) + text, width, " " * place)
    print("\n".join([shown + first[len(head) :], *others]))


def say_lines(text: str) -> None:
    """Print lines. On a terminal the further lines of each stand below the text that follows its label, such as "  note: "."""
    for line in text.splitlines():
        label = LABEL.match(line)
        head = label.group() if label else ""
        say_hanging(head, line[len(head) :], indent=None if head.strip() else len(head) + 2)


def without_controls(text: str) -> str:
    """Text whose control characters a terminal does not obey: strings of records are other people's."""
    return "".join("\ufffd" if category(each) == "Cc" and each not in "\n\t" else each for each in text)


def coloured(text: str, style: str) -> str:
    """Text in a style, if standard output is a terminal that shows colours."""
    if not style or not sys.stdout.isatty():
        return text
    from rich.console import Console

    if Console().no_color or Console().is_dumb_terminal:
        return text
    return f"\x1b[{style}m{text}\x1b[0m"
