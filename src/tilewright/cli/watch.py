"""Run a PyOpenCL program unchanged, and explain the kernels that it launches, with its own arguments."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import count, seconds

if TYPE_CHECKING:
    from ..api.watching import Watched

EXAMPLES = """\
  tilewright watch demo.py --size 1024
  tilewright watch --fail-on race,bounds -m mypackage.simulation
  tilewright watch --html pages --json found.json demo.py"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.watch_limits import FAIL_ON, LIMITS
    from .json_output import add_json

    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGUMENTS]", help="a Python script and its own arguments"
    )
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE",
        help="run a module, as python -m does, with the arguments that follow (default: a script)",
    )  # fmt: skip
    parser.add_argument(
        "-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE",
        help="run code given as text, as python -c does (default: a script)",
    )  # fmt: skip
    watching = parser.add_argument_group("watching")
    watching.add_argument(
        "--budget", type=seconds, default=LIMITS.seconds, metavar="SECONDS",
        help="time in s for explaining in all, besides half of the program's own (default: %(default)s)",
    )  # fmt: skip
    watching.add_argument(
        "--time-limit", type=seconds, default=LIMITS.launch_seconds, metavar="SECONDS",
        help="time in s for explaining one launch (default: %(default)s)",
    )  # fmt: skip
    watching.add_argument(
        "--samples", type=count, default=LIMITS.samples, metavar="COUNT",
        help="launches of a kernel with different NDRanges that are explained (default: %(default)s)",
    )  # fmt: skip
    watching.add_argument(
        "--device-model", metavar="MODEL",
        help="the hardware whose rules count, as in `explain` (default: cpu for work-groups of one work-item, nvidia for others)",
    )  # fmt: skip
    watching.add_argument(
        "--fail-on", type=conditions, default=[], metavar="WORDS",
        help=f"exit with 1 if a launch has one of these, such as race,bounds: {', '.join(FAIL_ON)} (default: none)",
    )  # fmt: skip
    output = parser.add_argument_group("output")
    output.add_argument(
        "--report", type=Path, metavar="FILE", help="write the report to FILE (default: to standard error)"
    )
    output.add_argument(
        "--html", type=Path, metavar="FOLDER", help="write a page for each kernel, and a list (default: not written)"
    )
    add_json(output, "what was found")


def conditions(text: str) -> list[str]:
    """What `--fail-on` names: words of FAIL_ON between commas."""
    from ..core.watch_limits import FAIL_ON

    found = [each.strip() for each in text.split(",")]
    for each in found:
        if each not in FAIL_ON:
            raise argparse.ArgumentTypeError(f"{each!r} is none of {', '.join(FAIL_ON)}")
    return found


def execute(options: argparse.Namespace) -> int:
    """The exit status: the program's own; if that is 0, 1 if something of `--fail-on` was found."""
    from ..api.watching import watch
    from .interruption import left_to_the_program

    kind, program, arguments = what_to_run(options)
    check_files(options)
    with left_to_the_program():
        found = watch(
            program, arguments, kind=kind, device_model=options.device_model, budget=options.budget,
            time_limit=options.time_limit, samples=options.samples,
        )  # fmt: skip
    write_files(options, found)
    return found.exit_status or int(bool(found.failures(options.fail_on)))


def what_to_run(options: argparse.Namespace) -> tuple[str, str, list[str]]:
    """The kind of the program, its name, and its arguments."""
    from ..errors import InvalidInput

    for kind, given in (("module", options.module), ("code", options.code), ("script", options.program)):
        if given is not None and (given or kind != "script"):
            words = given[1:] if given[:1] == ["--"] else given
            if not words:
                raise InvalidInput(f"-{kind[0]} needs a {kind}" if kind != "script" else "name a program behind --")
            first, *rest = words
            return kind, first, [*rest, *(options.program if kind != "script" else [])]
    raise InvalidInput("name a program: a Python script, -m MODULE or -c CODE")


def check_files(options: argparse.Namespace) -> None:
    """InvalidInput for files that cannot be written, before the program runs."""
    from ..errors import InvalidInput
    from .json_output import STDOUT
    from .outputs import check_target

    if options.json == STDOUT:
        raise InvalidInput("--json -: standard output belongs to the program; name a file")
    for option, path in (("--json", options.json), ("--report", options.report)):
        if path is not None:
            check_target(option, path)
    if options.html is not None and options.html.exists() and not options.html.is_dir():
        raise InvalidInput(f"--html {options.html}: this is a file; name a folder")


def write_files(options: argparse.Namespace, found: Watched) -> None:
    """The report, to standard error or its file, then the files that were asked for."""
    import sys
    from contextlib import redirect_stdout

    from ..analysis.captured.watch_report import report
    from ..core.files import write_atomically
    from .coloured import print_lines
    from .outputs import write_json
    from .printing import tell_written

    if options.report is None:
        with redirect_stdout(sys.stderr):
            print_lines(report(found.launches, found.title))
    else:
        write_atomically(options.report, f"{found}\n".encode())
        tell_written([options.report])
    write_json(options, found.to_dict())
    if options.html is not None:
        tell_written(found.save_pages(options.html)[:1])
