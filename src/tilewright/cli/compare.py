"""Print which of two records is faster, row by row, with the spread."""

from __future__ import annotations

import argparse
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
    from .printing import say

    check_json(options)
    found = compare(options.first, options.second, any_size=options.any_size)
    say(str(found))
    write_json(options, found.to_rows())
    return tell_fallen(options.fail_below, found) if options.fail_below is not None else 0


def tell_fallen(least: float, found: Comparisons) -> int:
    """Print the kernels below a ratio, and those that went wrong. The exit status: 1 if there are any."""
    from .printing import say

    fallen = [each for each in found.rows if each.is_kernel and each.ratio < least]
    for row in found.broken:
        say(f"went wrong: {row.label} {row.problem}: {row.status}: {row.reason}")
    for each in fallen:
        say(f"below {least:g}: {each.name} {each.problem}: {each.ratio:.2f}x")
    return int(bool(fallen or found.broken))
