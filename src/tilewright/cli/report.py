"""Say in one sentence what records show, then in tables, or as one HTML page."""

import argparse
from pathlib import Path

EXAMPLES = """\
  tilewright report record.json
  tilewright report record.json -o report.html
  tilewright report before.json after.json -o both.html"""
PAGES = (".html", ".htm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "records", nargs="+", type=Path, metavar="RECORD.json",
        help="a record of `ladder`, `run`, `bench`, `accuracy`, `roofline` or `inspect`; two of the same thing are compared",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--html", type=Path, metavar="FILE", help="write one page that needs nothing else (default: print tables)"
    )
    parser.add_argument(
        "--arch", default="", metavar="ARCH",
        help="the architecture whose machine code is shown for each rung (default: the record's GPU; none for CPUs, whose "
        "compilers take seconds for each rung)",
    )  # fmt: skip


def execute(options: argparse.Namespace) -> int:
    from ..api.reports import report
    from .outputs import check_target
    from .printing import say_lines, tell_written

    if options.html is not None:
        check_target("--html", options.html, PAGES)
    made = report(options.records, arch=options.arch)
    if options.html is None:
        say_lines(str(made))
    else:
        say_lines(made.one_line())
        tell_written([made.save(options.html)])
    return 0
