"""Print a rung's source, or its difference from the rung before."""

import argparse

EXAMPLES = """\
  tilewright show tiles/2
  tilewright show tiles/2 --diff
  tilewright show tiles/6 --program --size 1024"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rung", metavar="RUNG", help="a rung's name, such as tiles/2 or tiles/02_tiled")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--diff", action="store_true", help="print the difference from the rung before (default: the source)"
    )
    forms.add_argument(
        "--program", action="store_true",
        help="print the whole programs that a compiler gets, with their launches (default: the source)",
    )  # fmt: skip
    parser.add_argument(
        "--size", metavar="SIZE", help="of --program: N, MxNxK or ROWSxCOLUMNS (default: 256x256x64 or 256x256)"
    )


def execute(options: argparse.Namespace) -> int:
    from ..api.rungs import show

    print(show(options.rung, options.diff, program=options.program, size=options.size), end="")
    return 0
