"""List every device, with the limits that explain results.

Support of fp64 and fp16 is tested in a child process.
"""

import argparse

EXAMPLES = """\
  tilewright devices
  tilewright devices --peaks --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peaks", action="store_true", help="measure the peaks of each device too (default: not)")
    parser.add_argument("--json", action="store_true", help="print JSON (default: lines of text)")


def execute(options: argparse.Namespace) -> int:
    from rich.markup import escape

    from ..api.machine import devices
    from ..core.records import to_json
    from ..errors import NoDevice
    from .live_table import console
    from .printing import say

    reports = devices(options.peaks)
    if options.json:
        print(to_json(reports.reports), end="")
    for report in [] if options.json else reports:
        console.print(f"[bold]{escape(report.title)}[/bold]", highlight=False)
        for name, value in report.lines:
            say(f"  {name:28} {value}")
    if not reports:
        raise NoDevice(
            "there is no OpenCL device; `tilewright doctor` says what is missing, and which command installs it"
        )
    return 0
