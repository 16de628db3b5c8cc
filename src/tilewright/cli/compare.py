"""Print the ratios between two records, with their spread."""

import argparse
from pathlib import Path

EXAMPLES = "  tilewright compare before.json after.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="FIRST.json", help="a record of `ladder`, `run` or `bench`")
    parser.add_argument("second", type=Path, metavar="SECOND.json", help="the record to compare with it")


def execute(options: argparse.Namespace) -> int:
    from ..api.records import compare
    from .printing import say

    say(str(compare(options.first, options.second)))
    return 0
