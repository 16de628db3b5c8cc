"""Print the ratios between two records, with their spread."""

import argparse
from pathlib import Path

EXAMPLES = "  tilewright compare before.json after.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="FIRST.json", help="a record of `ladder`, `run` or `bench`")
    parser.add_argument("second", type=Path, metavar="SECOND.json", help="the record to compare with it")


def execute(options: argparse.Namespace) -> int:
    from ..core.records import load_record
    from ..reports.compare import compare, heading
    from .printing import say

    first, second = load_record(options.first), load_record(options.second)
    lines = compare(first, second)
    say(heading(first, second))
    for line in lines:
        say(str(line))
    return 0
