"""Print the launches or tiles that the library would run for a product, and why other candidates lost."""

import argparse

from .quantities import from_zero

EXAMPLES = """\
  tilewright plan 4096x64x4096
  tilewright plan 512 --layout NT --batch 32 --device gpu --dtype float16
  tilewright plan 100000 --max-device-bytes 8GB --device all"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device, add_library_type

    parser.add_argument("size", metavar="SIZE", help="N or MxNxK, in elements")
    parser.add_argument("--layout", default="NN", help="NN, NT, TN or TT: which operand is transposed (default: NN)")
    parser.add_argument(
        "--batch", type=from_zero, default=1, metavar="COUNT", help="number of products (default: %(default)s)"
    )
    parser.add_argument(
        "--max-device-bytes",
        metavar="BYTES",
        help="the most memory of each device, such as 8GB: the product in tiles (default: no limit)",
    )
    parser.add_argument(
        "--max-host-bytes",
        metavar="BYTES",
        help="the same of the host's memory, for copies and tiles (default: no limit)",
    )
    parser.add_argument(
        "--pinned",
        action="store_true",
        help="for arrays that tilewright.pinned has pinned (default: for ordinary ones)",
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
        device=options.device.split(",") if "," in (options.device or "") else options.device,
        max_device_bytes=options.max_device_bytes,
        max_host_bytes=options.max_host_bytes,
        pinned=options.pinned,
    )
    say_lines(str(found))
    return 0
