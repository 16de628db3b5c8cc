"""List every device, with the limits that explain results.

Support of fp64 and fp16 is tested in a child process.
"""

import argparse

EXAMPLES = """\
  tilewright devices
  tilewright devices --peaks --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json

    parser.add_argument("--peaks", action="store_true", help="measure the peaks of each device too (default: not)")
    add_json(parser, "the fields of each device")


def execute(options: argparse.Namespace) -> int:
    from rich.markup import escape

    from ..api.machine import devices
    from ..runtime.opencl.device import no_device
    from .live_table import console
    from .outputs import check_json, write_json
    from .phase_line import PhaseLine
    from .printing import say_hanging

    check_json(options)
    with PhaseLine(console) as phases:
        reports = devices(options.peaks, announce=phases.announce)
    for report in reports:
        console.print(f"[bold]{escape(report.title)}[/bold]", highlight=False, soft_wrap=True)
        for name, value in report.lines():
            say_hanging(f"  {name:22} ", value)
    write_json(options, [report.to_dict() for report in reports])
    if not reports:
        raise no_device()
    return 0
