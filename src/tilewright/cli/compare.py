"""Print which of two records is faster, row by row, with the spread."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.records import Row
    from ..reports.compare import Comparison

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
    """The exit status: 1 if kernels fell below `--fail-below`."""
    from ..core.records import load_record
    from ..reports.compare import broken, compare, headings, summary, table
    from .outputs import check_json, write_json
    from .printing import say

    check_json(options)
    first, second = load_record(options.first), load_record(options.second)
    comparisons = compare(first, second, options.any_size)
    for line in headings(first, second, (str(options.first), str(options.second))):
        say(line)
    for line in table(comparisons):
        say(line)
    say(summary(comparisons))
    write_json(options, [each.to_dict() for each in comparisons])
    if options.fail_below is None:
        return 0
    return tell_fallen(options.fail_below, comparisons, broken(first, second))


def tell_fallen(least: float, comparisons: Sequence[Comparison], wrong: Sequence[Row]) -> int:
    """Print the kernels below a ratio, and those that went wrong. The exit status: 1 if there are any."""
    from .printing import say

    fallen = [each for each in comparisons if each.is_kernel and each.ratio < least]
    for row in wrong:
        say(f"went wrong: {row.label} {row.problem}: {row.status}: {row.reason}")
    for each in fallen:
        say(f"below {least:g}: {each.name} {each.problem}: {each.ratio:.2f}x")
    return int(bool(fallen or wrong))
