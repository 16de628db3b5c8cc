"""Find which measured peak of a device limits a kernel or each rung of a ladder, and the % reached."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import seconds

if TYPE_CHECKING:
    from ..core.kernel import Kernel, Ladder

EXAMPLES = """\
  tilewright roofline tiles/6
  tilewright roofline tiles --plot path.svg
  tilewright roofline mine.cl --global M,N --local 16,16 --plot roof.svg
  tilewright roofline record.json --plot path.svg"""
OF_A_RUN = (("size", "--size", None), ("dtype", "--dtype", None), ("device", "--device", None))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import ROOFLINE_SIDES
    from .json_output import add_json
    from .shared_arguments import add_device, add_kernel, add_problem, sides

    add_kernel(parser, "a rung's name, such as tiles/2, a .cl file of your own, a ladder, or a ladder's RECORD.json")
    add_problem(parser.add_argument_group("problem"), sides(ROOFLINE_SIDES))
    add_device(parser)
    parser.add_argument("--seconds", type=seconds, default=2.0, help="measuring time, in s (default: %(default)s)")
    output = parser.add_argument_group("output")
    add_json(output)
    output.add_argument("--plot", type=Path, metavar="FILE", help="draw it as .svg, .png or .pdf (default: not drawn)")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a kernel failed."""
    from ..api.rooflines import roofline
    from ..measurement.roofline import Roofline
    from ..reports.picture_files import PICTURES, check_picture
    from ..reports.plot import plot
    from .live_table import console
    from .outputs import check_json, check_target, keep_early, write_json, write_or_rescue
    from .phase_line import PhaseLine
    from .printing import say_lines, tell_written
    from .sizes import size_of

    check_json(options)
    if options.plot:
        check_target("--plot", options.plot, PICTURES)
        check_picture(options.plot)
    subject = _subject(options)
    with PhaseLine(console) as phases:
        found = roofline(
            subject, size_of(options) or (), options.device, options.dtype, options.offset, options.seconds,
            announce=phases.announce, keep=lambda record: keep_early(options, record, "the measurement"),
        )  # fmt: skip
    if options.plot:
        write_or_rescue(options.plot, found, plot)
    say_lines(str(found))
    write_json(options, found)
    if options.plot:
        tell_written([options.plot])
    if isinstance(found, Roofline):
        return int(not found.row.passed)
    return int(any(each.row.failed for each in found.rungs))


def _subject(options: argparse.Namespace) -> Kernel | Ladder | Path:
    """The kernel, the ladder or the record's file. InvalidInput for options that it has no use for."""
    from ..core.kernel_options import kernel_option_defaults
    from ..errors import InvalidInput
    from ..kernels import LADDERS, find_ladder
    from .kernel_arguments import kernel_of
    from .unused_options import given_among

    of_one_kernel = (("offset", "--offset", 0), *kernel_option_defaults())
    if options.kernel.endswith(".json"):
        if given := given_among(options, of_one_kernel + OF_A_RUN):
            raise InvalidInput(f"{given}: {options.kernel} was measured already: leave it out")
        return Path(options.kernel)
    if options.kernel in LADDERS:
        if given := given_among(options, of_one_kernel):
            raise InvalidInput(f"{given}: {options.kernel} is a whole ladder: give it with one of its rungs")
        ladder = find_ladder(options.kernel)
        _check_flops(options, ladder.kernels[0].operation)
        return ladder
    kernel = kernel_of(options)
    _check_flops(options, kernel.operation)
    return kernel


def _check_flops(options: argparse.Namespace, operation: str) -> None:
    from ..errors import InvalidInput

    if options.plot and operation != "gemm":
        raise InvalidInput(f"--plot {options.plot}: a roofline has flops; a {operation} has none, so leave --plot out")
