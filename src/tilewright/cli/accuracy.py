"""Measure the numerical error of each precision mode, on well- and ill-conditioned data."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..measurement.accuracy import ErrorRow

EXAMPLES = "  tilewright accuracy --size 256x256x1024"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device, add_record

    parser.add_argument(
        "--size", default="2048x2048x8192", metavar="MxNxK", help="size in elements (default: %(default)s)"
    )
    parser.add_argument(
        "--dtype", default="float32", help="float32, float8_e4m3fn or float8_e5m2 (default: %(default)s)"
    )
    add_device(parser)
    add_record(parser)


def execute(options: argparse.Namespace) -> int:
    from ..api.measurements import accuracy
    from ..core.sizes import parse_size
    from ..errors import InvalidInput
    from .outputs import check_outputs, write_or_rescue

    size = parse_size(options.size, "MxNxK")
    if len(size) != 3:
        raise InvalidInput(f"{options.size}: the error depends on 3 sizes; write MxNxK")
    check_outputs(options)
    record = accuracy(size, options.dtype, device=options.device, watch=_print_row)
    if options.json:
        write_or_rescue(options.json, record)
    return 0


def _print_row(row: ErrorRow) -> None:
    from .printing import say

    say(f"{row.data:16} {row.mode:10} {row.by:10} {row.largest:10.3g} units of |A||B| {row.normwise:10.2e} of the norm")
