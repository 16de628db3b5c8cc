"""Arguments that several commands share."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from ..core.defaults import BACKENDS, LADDER_SIDES
from ..core.kernel_options import add_kernel_options
from .json_output import add_json
from .quantities import from_zero, seconds


def add_kernel(
    parser: argparse.ArgumentParser,
    what: str = "a rung's name, such as tiles/2, or a .cl file of your own",
    needed: bool = True,
) -> None:
    """The arguments of all commands that take a kernel. `what` says what the first may be, and `needed` whether it must be."""
    parser.add_argument("kernel", metavar="KERNEL", help=what, nargs=None if needed else "?")
    parser.add_argument(
        "--offset", type=from_zero, default=0, metavar="COLUMNS",
        help="columns that a transpose or copy leaves out (default: %(default)s)",
    )  # fmt: skip
    add_kernel_options(parser)


def add_device(parser: argparse._ActionsContainer) -> None:
    """`--device`, of commands that open one."""
    parser.add_argument(
        "--device", metavar="DEVICE",
        help="an index of `tilewright devices`, cpu, gpu, or part of a name (default: TILEWRIGHT_DEVICE, or else "
        "the first that suits measuring)",
    )  # fmt: skip


def add_problem(parser: argparse._ActionsContainer, default_size: str) -> None:
    """`--size` and `--dtype`, of commands that take a rung or a kernel."""
    parser.add_argument(
        "--size", metavar="SIZE", help=f"N, MxNxK or ROWSxCOLUMNS, in elements (default: {default_size})"
    )
    parser.add_argument("--dtype", help="element type, such as float64 (default: float32, or the kernel's only type)")


def sides(sizes: Mapping[str, object]) -> str:
    """Sizes of CPUs and of GPUs in words."""
    return f"{sizes['cpu']} on CPUs, {sizes['gpu']} on GPUs"


def ladder_sides() -> str:
    """The sizes of ladders in words."""
    products, transposes = (
        {kind: side for (operation, kind), side in LADDER_SIDES.items() if operation == wanted}
        for wanted in ("gemm", "transpose")
    )
    return f"{sides(products)}; for transposes {sides(transposes)}"


def add_library_type(parser: argparse._ActionsContainer) -> None:
    """`--dtype` and `--precision`, of commands that call the library."""
    parser.add_argument("--dtype", default="float32", help="element type of the operands (default: %(default)s)")
    parser.add_argument(
        "--precision", default="", metavar="MODE",
        help="tf32 or fp32_split for float32, fp8 for 8-bit floats, reproducible for other real floats (default: the type's own "
        "arithmetic)",
    )  # fmt: skip


def add_measuring(parser: argparse.ArgumentParser, default_seconds: float, default_size: str) -> None:
    """The arguments of commands that measure rungs."""
    problem = parser.add_argument_group("problem")
    add_problem(problem, default_size)
    measuring = parser.add_argument_group("measurement")
    add_device(measuring)
    measuring.add_argument(
        "--backend", choices=BACKENDS, default="opencl",
        help="compile the source as OpenCL, as CUDA, or measure it as both (default: %(default)s)",
    )  # fmt: skip
    measuring.add_argument(
        "--seconds",
        type=seconds,
        default=default_seconds,
        help="measuring time for one size, in s (default: %(default)s)",
    )
    measuring.add_argument(
        "--no-baselines", action="store_true", help="skip the other libraries and the host program (default: measured)"
    )
    output = parser.add_argument_group("output")
    add_json(output)
    output.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV (default: not written)")
    output.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the rates as .svg, .png or .pdf (default: not drawn)"
    )
