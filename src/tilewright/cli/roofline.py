"""Find which measured peak of a device limits a kernel, and the % reached."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import seconds

if TYPE_CHECKING:
    from ..core.records import Record

EXAMPLES = """\
  tilewright roofline tiles/6
  tilewright roofline mine.cl --global M,N --local 16,16 --plot roof.svg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..bench.roofline import DEFAULT_SIZES
    from .json_output import add_json
    from .kernel_arguments import add_kernel
    from .shared_arguments import add_device, add_problem

    add_kernel(parser)
    add_problem(parser.add_argument_group("problem"), f"{DEFAULT_SIZES['cpu']} on CPUs, {DEFAULT_SIZES['gpu']} on GPUs")
    add_device(parser)
    parser.add_argument("--seconds", type=seconds, default=2.0, help="measuring time, in s (default: %(default)s)")
    output = parser.add_argument_group("output")
    add_json(output)
    output.add_argument("--plot", type=Path, metavar="FILE", help="draw it as .svg (default: not drawn)")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if the kernel failed."""
    from ..bench.roofline import roofline
    from ..errors import InvalidInput
    from ..report.roofline import ROOFLINE_PICTURES, save_roofline
    from .kernel_arguments import kernel_of
    from .live_table import console
    from .outputs import check_json, check_target, keep_early, write_json, write_or_rescue
    from .phase_line import PhaseLine
    from .printing import tell_written
    from .sizes import size_of

    size = size_of(options) or ()
    kernel = kernel_of(options)
    check_json(options)
    if options.plot:
        check_target("--plot", options.plot, ROOFLINE_PICTURES)
        if kernel.operation != "gemm":
            raise InvalidInput(
                f"--plot {options.plot}: a roofline has flops; a {kernel.operation} has none, so leave --plot out"
            )

    def keep(record: Record) -> None:
        keep_early(options, record, "the measurement")

    with PhaseLine(console) as phases:
        found = roofline(
            kernel,
            size,
            options.device,
            options.dtype,
            options.offset,
            options.seconds,
            announce=phases.announce,
            keep=keep,
        )
    if options.plot:
        write_or_rescue(options.plot, found, save_roofline)
    print(found)
    write_json(options, found)
    if options.plot:
        tell_written([options.plot])
    return int(not found.row.passed)
