"""List the ladders, and what each rung changes."""

import argparse

EXAMPLES = """\
  tilewright list
  tilewright list tiles"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="LADDER", help="only this ladder (default: all)")


def execute(options: argparse.Namespace) -> int:
    from ..api import rungs
    from .printing import say

    say(str(rungs.list(options.name)))
    return 0
