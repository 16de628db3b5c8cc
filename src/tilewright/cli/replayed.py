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
    import json

    from ..analysis.captured.watch_report import details_of, report
    from ..api.watching import replay
    from .coloured import print_lines
    from .outputs import write_json_text

    refuse_others(options)
    found = replay(options.replay, device_model=options.device_model, time_limit=options.time_limit)
    launches = found.launches
    if len(launches) == 1 and launches[0].explanation is not None:
        print_lines(details_of(launches[0])[1:])
    else:
        print_lines(report(launches, found.title))
    if options.json:
        write_json_text(options, json.dumps(found.to_dict(), indent=1))
    return int(any(each.explanation is None or each.faults or each.explanation.stop for each in launches))


def refuse_others(options: argparse.Namespace) -> None:
    """InvalidInput for options that a dump decides, or that need a kernel's name."""
    from ..errors import InvalidInput
    from .outputs import check_json

    own = {"kernel": "KERNEL", "size": "--size", "define": "-D", "global_size": "--global", "local_size": "--local",
           "sweep": "--sweep", "pitch": "--pitch", "picture": "--picture",
           "html": "--html", "problem": "--problem", "dtype": "--dtype",
           "build_option": "--build-option"}  # fmt: skip
    given = [word for name, word in own.items() if getattr(options, name, None)]
    if given:
        raise InvalidInput(f"{given[0]} beside --replay: the dump says what was launched, and with what")
    check_json(options)
