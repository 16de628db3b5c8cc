"""Print a rung's source, or its difference from the rung before."""

import argparse
from difflib import unified_diff

EXAMPLES = """\
  tilewright show tiles/2
  tilewright show tiles/2 --diff"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rung", metavar="RUNG", help="a rung's name, such as tiles/2 or tiles/02_tiled")
    parser.add_argument(
        "--diff", action="store_true", help="print the difference from the rung before (default: the source)"
    )


def execute(options: argparse.Namespace) -> int:
    from ..errors import InvalidInput
    from ..kernels import find_kernel, rung_before

    kernel = find_kernel(options.rung)
    if not options.diff:
        print(kernel.text, end="")
        return 0
    previous = rung_before(kernel)
    if previous is None:
        raise InvalidInput(f"{kernel.name} has no rung before it")
    names = previous.source.name, kernel.source.name
    print("\n".join(unified_diff(previous.text.splitlines(), kernel.text.splitlines(), *names, lineterm="")))
    return 0
