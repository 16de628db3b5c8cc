"""Measure the numerical error of each precision mode, on well- and ill-conditioned data."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..measurement.accuracy import AccuracyRecord

EXAMPLES = """\
  tilewright accuracy --size 256x256x1024
  tilewright accuracy --size 2048x2048x8192 --json errors.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import ACCURACY_SIZES
    from .json_output import add_json
    from .shared_arguments import add_device, sides

    usual = sides({kind: "x".join(map(str, size)) for kind, size in ACCURACY_SIZES.items()})
    parser.add_argument("--size", metavar="MxNxK", help=f"size in elements (default: {usual})")
    parser.add_argument(
        "--dtype", default="float32", help="float32, float8_e4m3fn or float8_e5m2 (default: %(default)s)"
    )
    add_device(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    from ..api.measurements import accuracy
    from ..measurement.accuracy import check_accuracy, default_size
    from ..runtime.opencl.device import open_device
    from .live_accuracy import LiveAccuracy
    from .live_table import console
    from .outputs import check_json, keep_early, keep_so_far, write_json

    size = size_of(options.size) if options.size is not None else None
    check_accuracy(size or (1, 1, 1), options.dtype)
    check_json(options)
    device = open_device(options.device)
    sides = "x".join(map(str, size or default_size(device.info.kind)))
    title = f"errors of products {sides} · {options.dtype} · {device.info.label}"
    with LiveAccuracy(console, title) as table:

        def keep(record: AccuracyRecord) -> None:
            keep_early(options, record, f"{len(record.rows)} rows")

        def so_far(record: AccuracyRecord) -> None:
            keep_so_far(options, record)
            table.so_far(record)

        record = accuracy(
            size, options.dtype, device=device, watch=table.watch, announce=table.announce, keep=keep, so_far=so_far
        )
        write_json(options, record)
    return 0


def size_of(text: str) -> tuple[int, int, int]:
    """The three sizes of a product."""
    from ..core.sizes import parse_size
    from ..errors import InvalidInput

    match parse_size(text, "MxNxK"):
        case (m, n, k):
            return m, n, k
    raise InvalidInput(f"{text}: the error depends on 3 sizes; write MxNxK")
