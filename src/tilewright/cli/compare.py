"""Print which of two records is faster, row by row, with the spread."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import ratio

if TYPE_CHECKING:
    from ..api.records import Comparisons

EXAMPLES = """\
  tilewright compare before.json after.json
  tilewright compare before.json after.json --fail-below 0.95
  tilewright compare laptop.json gpu.json --any-size"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json

    parser.add_argument("first", type=Path, metavar="FIRST.json", help="a record of `ladder`, `run` or `bench`")
    parser.add_argument("second", type=Path, metavar="SECOND.json", help="the record to compare with it")
    parser.add_argument(
        "--fail-below", type=ratio, metavar="RATIO",
        help="status 1 if a kernel of SECOND reaches less than RATIO times the speed of FIRST, or went wrong, "
        "such as 0.95 (default: status 0)",
    )  # fmt: skip
    parser.add_argument(
        "--any-size", action="store_true",
        help="compare rates of rows with the same name, each at the record's largest size (default: the same sizes)",
    )  # fmt: skip
    add_json(parser, "the ratios")


def execute(options: argparse.Namespace) -> int:
    from ..api.records import compare
    from .outputs import check_json, write_json

    check_json(options)
    found = compare(options.first, options.second, any_size=options.any_size)
    show(found)
    write_json(options, found.to_rows())
    return tell_fallen(options.fail_below, found) if options.fail_below is not None else 0


def show(found: Comparisons) -> None:
    """Print the rows between the headings and the summary. On a narrow terminal each problem stands below its row's name, and
    the spread is left out."""
    from ..reports.compare import summary, times
    from .fitting import UNLIMITED, Column, Line, Screen, drawn
    from .printing import say, say_lines, without_controls

    console = Screen()
    if console.width >= UNLIMITED:
        say(without_controls(str(found)))
        return
    several = len({each.problem for each in found.rows}) > 1
    room = console.width - max(len(f" {times(each.ratio)} {each.verdict}") for each in found.rows)
    longest = [max(map(len, texts)) for texts in zip(*((each.name, each.problem) for each in found.rows), strict=True)]
    below = several and sum(longest) + 1 > room
    columns = [Column("row", False), Column("problem", False, 1)]
    columns += [Column("ratio"), Column("p20 .. p80", False, 2), Column("", False)]
    lines = []
    for each in found.rows:
        name = f"{each.name}\n{hanging(each.problem, room)}" if below else each.name
        problem = each.problem if several and not below else ""
        name, problem = without_controls(name), without_controls(problem)
        lines.append(Line((name, problem, times(each.ratio), each.spread, each.verdict)))
    say_lines(found.heading)
    console.print(drawn(columns, lines, console.width)[0])
    say_lines(summary(found.rows))


def hanging(text: str, width: int) -> str:
    """Text in lines of at most that many characters, indented, the further ones twice."""
    return textwrap.fill(text, max(width, 20), initial_indent="  ", subsequent_indent="    ")


def tell_fallen(least: float, found: Comparisons) -> int:
    """Print the kernels below a ratio, and those that went wrong. The exit status: 1 if there are any."""
    from ..reports.compare import times
    from ..reports.trust import SINGLE
    from .printing import say_lines

    fallen = [each for each in found.rows if each.is_kernel and each.ratio < least]
    for row in found.broken:
        say_lines(f"went wrong: {row.label} {row.problem}: {row.status}: {row.reason}")
    for each in fallen:
        doubt = "" if each.has_spread else f" ({SINGLE})"
        say_lines(f"below {least:g}: {each.name} {each.problem}: {times(each.ratio)}{doubt}")
    return int(bool(fallen or found.broken))
