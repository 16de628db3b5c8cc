"""Print the launches that the library would run for a product, and why other candidates lost."""

import argparse

from .quantities import from_zero

EXAMPLES = """\
  tilewright plan 4096x64x4096
  tilewright plan 512 --layout NT --batch 32 --device gpu --dtype float16"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device, add_library_type

    parser.add_argument("size", metavar="SIZE", help="N or MxNxK, in elements")
    parser.add_argument("--layout", default="NN", help="NN, NT, TN or TT: which operand is transposed (default: NN)")
    parser.add_argument(
        "--batch", type=from_zero, default=1, metavar="COUNT", help="number of products (default: %(default)s)"
    )
    add_library_type(parser)
    add_device(parser)


def execute(options: argparse.Namespace) -> int:
    from ..api.planning import plan
    from ..core.sizes import parse_size
    from .printing import say_lines

    size = parse_size(options.size, "N or MxNxK")
    found = plan(
        size,
        options.layout,
        dtype=options.dtype,
        batch=options.batch,
        precision=options.precision,
        device=options.device,
    )
    say_lines(str(found))
    return 0
