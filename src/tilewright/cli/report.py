"""Rewrite the generated parts of Markdown pages from the records that they name."""

import argparse
from pathlib import Path

EXAMPLES = "  tilewright report results.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md", help="a page with marks around its tables")


def execute(options: argparse.Namespace) -> int:
    from ..api.records import report
    from .printing import say

    for page in options.pages:
        count = report(page)
        say(f"{page}: {count} table{'' if count == 1 else 's'}, with inspections and rooflines")
    return 0
