"""Find which measured peak of a device limits a kernel, and the % reached."""

import argparse
import sys
from pathlib import Path

from .quantities import seconds

EXAMPLES = """\
  tilewright roofline tiles/6
  tilewright roofline mine.cl --global M,N --local 16,16 --plot roof.svg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..measurement.roofline import DEFAULT_SIZES
    from .kernel_arguments import add_kernel
    from .shared_arguments import add_device, add_problem

    add_kernel(parser)
    add_problem(parser.add_argument_group("problem"), f"{DEFAULT_SIZES['cpu']} on CPUs, {DEFAULT_SIZES['gpu']} on GPUs")
    add_device(parser)
    parser.add_argument("--seconds", type=seconds, default=2.0, help="measuring time, in s (default: %(default)s)")
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print the record as JSON (default: text)")
    output.add_argument("--plot", type=Path, metavar="FILE", help="draw it as .svg (default: not drawn)")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if the kernel failed."""
    from ..core.records import to_json
    from ..errors import InvalidInput
    from ..measurement.roofline import roofline
    from ..reports.roofline import ROOFLINE_PICTURES, save_roofline
    from .kernel_arguments import kernel_of
    from .outputs import check_target, write_or_rescue
    from .sizes import size_of

    size = size_of(options) or ()
    kernel = kernel_of(options)
    if options.plot:
        check_target("--plot", options.plot, ROOFLINE_PICTURES)
        if kernel.operation != "gemm":
            raise InvalidInput(
                f"--plot {options.plot}: a roofline has flops; a {kernel.operation} has none, so leave --plot out"
            )
    found = roofline(kernel, size, options.device, options.dtype, options.offset, options.seconds)
    if options.plot:
        write_or_rescue(options.plot, found, save_roofline)
    print(to_json(found) if options.json else found, end="" if options.json else "\n")
    if options.plot:
        print(f"wrote {options.plot}", file=sys.stderr if options.json else sys.stdout)
    return int(not found.row.passed)
