"""Print a rung's source, or its difference from the rung before."""

import argparse

EXAMPLES = """\
  tilewright show tiles/2
  tilewright show tiles/2 --diff"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rung", metavar="RUNG", help="a rung's name, such as tiles/2 or tiles/02_tiled")
    parser.add_argument(
        "--diff", action="store_true", help="print the difference from the rung before (default: the source)"
    )


def execute(options: argparse.Namespace) -> int:
    from ..api.rungs import show

    print(show(options.rung, options.diff), end="")
    return 0
