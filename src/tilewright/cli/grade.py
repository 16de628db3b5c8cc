"""Grade exercises: right, without faults, and by counts as cheap as the solution; then measured, if there is a device."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..api.learning import Grades

EXAMPLES = """\
  tilewright grade tiles_02.cl
  tilewright grade --no-device --github --sarif grade.sarif exercises/*.cl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json
    from .shared_arguments import add_device

    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files that `tilewright exercise` wrote")
    add_device(parser)
    parser.add_argument("--no-device", action="store_true", help="do not measure (default: what passed is measured)")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--sarif", type=Path, metavar="FILE", help="write the findings as SARIF 2.1.0 (default: not written)"
    )
    output.add_argument(
        "--github", action="store_true", help="print annotations for GitHub's workflows (default: text alone)"
    )
    add_json(output, "the grades")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a file does not pass."""
    from ..api.learning import grade
    from .outputs import check_json, check_sarif, write_json
    from .printing import say, tell_written

    check_json(options)
    check_sarif(options)
    found = grade(options.files)
    say("\n".join([*(found.annotations() if options.github else ()), str(found)]))
    if options.sarif is not None:
        found.save_sarif(options.sarif)
        tell_written([options.sarif])
    if options.json:
        write_json(options, found.to_dict())
    right_here = options.no_device or measured_right(options, found)
    return int(not found.passed or not right_here)


def measured_right(options: argparse.Namespace, found: Grades) -> bool:
    """Measure each file that passed beside its solution. Whether all of them are right on the device; True without one."""
    from ..errors import NoDevice
    from ..learning.exercises.file import task_of_file
    from ..learning.exercises.speed import measure_speed
    from ..runtime.opencl.device import open_device
    from .printing import say

    passed = [each for each in found.grades if each.passed]
    if not passed:
        return True
    try:
        device = open_device(options.device)
    except NoDevice:
        if options.device is not None:
            raise
        return True
    speeds = [measure_speed(Path(each.file), task_of_file(Path(each.file)), device) for each in passed]
    say("\n".join(str(each) for each in speeds))
    return not any(each.wrong for each in speeds)
