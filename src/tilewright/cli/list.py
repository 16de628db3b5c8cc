"""List the ladders, and what each rung changes."""

import argparse

EXAMPLES = """\
  tilewright list
  tilewright list tiles"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="LADDER", help="only this ladder (default: all)")


def execute(options: argparse.Namespace) -> int:
    from ..kernels import LADDERS, find_ladder
    from .printing import say

    for ladder in [find_ladder(options.name)] if options.name is not None else LADDERS.values():
        say(f"{ladder.name}  {ladder.title}")
        for kernel in ladder.kernels:
            say(f"  {kernel.name:32} {kernel.lesson}")
    return 0
