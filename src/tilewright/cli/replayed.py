"""`explain --replay`: the launches of another program, from the dumps of the Intercept Layer for OpenCL Applications."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_replay(parser: argparse.ArgumentParser) -> None:
    """`--replay`, in the place of a kernel's name."""
    parser.add_argument(
        "--replay", type=Path, metavar="FOLDER",
        help="explain the launches that Intel's OpenCL intercept layer dumped by CLI_CaptureReplay=1 (default: KERNEL)",
    )  # fmt: skip


def explain_replayed(options: argparse.Namespace) -> int:
    """The exit status: 1 if a launch has faults, did not end in time, or could not be explained."""
    from ..analysis.captured.watch_report import details_of, report
    from ..api.watching import replay
    from .coloured import print_lines
    from .outputs import check_json, write_json

    refuse_others(options)
    check_json(options)
    found = replay(options.replay, device_model=options.device_model, time_limit=options.time_limit)
    launches = found.launches
    if len(launches) == 1 and launches[0].explanation is not None:
        print_lines(details_of(launches[0])[1:])
    else:
        print_lines(report(launches, found.title))
    write_json(options, found.to_dict())
    return int(any(each.explanation is None or each.faults or each.explanation.stop for each in launches))


def refuse_others(options: argparse.Namespace) -> None:
    """InvalidInput for options that a dump decides, or that need a kernel's name."""
    from ..core.defaults import EXPLAIN_STEPS
    from ..core.kernel_options import kernel_option_defaults
    from ..errors import InvalidInput
    from .unused_options import given_among

    own = (
        ("kernel", "KERNEL", None), ("size", "--size", None), ("offset", "--offset", 0), ("dtype", "--dtype", None),
        *kernel_option_defaults(), ("steps", "--steps", EXPLAIN_STEPS), ("sweep", "--sweep", []), ("pitch", "--pitch", []),
        ("picture", "--picture", None), ("html", "--html", None), ("arch", "--arch", None), ("source", "--source", False),
    )  # fmt: skip
    if given := given_among(options, own):
        raise InvalidInput(f"{given} beside --replay: the dump says what was launched, and with what")
