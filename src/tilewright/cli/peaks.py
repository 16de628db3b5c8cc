"""Measure a GPU's peaks, and write the table of its facts that `predict` reads."""

import argparse

EXAMPLES = """\
  tilewright peaks --like h200
  tilewright peaks --device gpu --like a100 --json mine.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json
    from .shared_arguments import add_device

    add_device(parser)
    parser.add_argument(
        "--like", default="h200", metavar="DEVICE",
        help="a device of predict, or a table, for what is not measured (default: %(default)s)",
    )  # fmt: skip
    add_json(parser, "the table")


def execute(options: argparse.Namespace) -> int:
    from ..api.device_facts import peaks
    from ..core.numbers import figure
    from .outputs import check_json, write_json

    check_json(options)
    found = peaks(options.device, like=options.like)
    print(f"{found.title}, {found.arch}")
    for name, each in found.figures().items():
        print(f"  {name:24} {figure(each.value):>10}  {each.origin}: {each.source}")
    write_json(options, found)
    return 0
