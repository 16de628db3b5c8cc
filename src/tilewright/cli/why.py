"""Find out why a kernel is slow or wrong: measured, counted, and its causes ranked by what fixing them could gain."""

from __future__ import annotations

import argparse
from pathlib import Path

from .quantities import seconds

EXAMPLES = """\
  tilewright why mine.cl --global M,N --local 16,16
  tilewright why tiles/2 --size 1024 --html why.html
  tilewright why tiles/2 --device-model h100"""
PAGES = (".html", ".htm")
MEASURED = (("device", "--device", None), ("seconds", "--seconds", 2.0), ("no_baselines", "--no-baselines", False))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json
    from .shared_arguments import add_device, add_kernel, add_problem, ladder_sides

    add_kernel(parser)
    add_problem(parser.add_argument_group("problem"), ladder_sides())
    measuring = parser.add_argument_group("measurement")
    add_device(measuring)
    measuring.add_argument(
        "--device-model", metavar="MODEL",
        help="h100, nvidia, amd64, cpu or another model of `explain`: nothing is run, and counts alone rank the causes "
        "(default: measure on a device)",
    )  # fmt: skip
    measuring.add_argument("--seconds", type=seconds, default=2.0, help="measuring time, in s (default: %(default)s)")
    measuring.add_argument("--no-baselines", action="store_true", help="skip the other libraries (default: measured)")
    output = parser.add_argument_group("output")
    output.add_argument("--html", type=Path, metavar="FILE", help="write the answer as a page (default: not written)")
    add_json(output)


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if the kernel is wrong or did not run."""
    from ..advice.answer import report
    from ..api.answers import why
    from ..errors import NoDevice
    from .coloured import print_lines
    from .kernel_arguments import kernel_of
    from .live_table import console
    from .outputs import check_json, check_target, keep_early, write_json
    from .phase_line import PhaseLine
    from .printing import tell_written
    from .sizes import size_of

    refuse_measuring(options)
    check_json(options)
    if options.html:
        check_target("--html", options.html, PAGES)
    kernel, size = kernel_of(options), size_of(options) or ()
    try:
        with PhaseLine(console) as phases:
            answer = why(
                kernel, size, device=options.device, device_model=options.device_model, dtype=options.dtype,
                offset=options.offset, seconds=options.seconds, baselines=not options.no_baselines,
                announce=phases.announce, keep=lambda record: keep_early(options, record, "the measurement"),
            )  # fmt: skip
    except NoDevice as missing:
        raise NoDevice(f"{missing}; --device-model h100 answers by counts alone") from missing
    print_lines(report(answer))
    write_json(options, answer)
    if options.html:
        from ..advice.page import save_page
        from .outputs import write_or_rescue

        write_or_rescue(options.html, answer, save_page)
        tell_written([options.html])
    return int(answer.failed)


def refuse_measuring(options: argparse.Namespace) -> None:
    """InvalidInput for options of a measurement beside a device model."""
    from ..errors import InvalidInput
    from .unused_options import given_among

    given = given_among(options, MEASURED)
    if options.device_model is not None and given:
        raise InvalidInput(f"{given}: with --device-model {options.device_model} nothing is measured")
