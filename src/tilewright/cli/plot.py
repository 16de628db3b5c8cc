"""Draw a record."""

import argparse
from pathlib import Path

EXAMPLES = "  tilewright plot record.json rates.svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "record", type=Path, metavar="RECORD.json", help="a record of `ladder`, `run`, `bench` or `roofline`"
    )
    parser.add_argument("picture", type=Path, metavar="PICTURE", help="the file to draw: .svg, .png or .pdf")


def execute(options: argparse.Namespace) -> int:
    from ..api.records import plot
    from ..reports.picture_files import PICTURES
    from .outputs import check_target
    from .printing import tell_written

    check_target("the picture", options.picture, PICTURES)
    tell_written([plot(options.record, options.picture)])
    return 0
