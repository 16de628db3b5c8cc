"""List the ladders, and what each rung changes."""

import argparse

EXAMPLES = """\
  tilewright list
  tilewright list tiles"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="LADDER", help="only this ladder (default: all)")


def execute(options: argparse.Namespace) -> int:
    from ..api import rungs
    from ..core.language import translated
    from ..kernels import names_width
    from .printing import say_hanging

    for ladder in rungs.list(options.name).values():
        say_hanging(f"{ladder.name}  ", translated(ladder.title))
        kernels = ladder.with_originals
        for kernel in kernels:
            say_hanging(f"  {kernel.name:{names_width(kernels)}} ", translated(kernel.lesson))
    return 0
