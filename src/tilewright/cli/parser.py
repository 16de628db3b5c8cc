"""The command line's parser. A command's arguments are made, and its modules imported, when it is the one that is given."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .quantities import count, from_zero, seconds

Fill = Callable[[argparse.ArgumentParser], None]
DTYPE = "the element type, e.g. float64 (default: the kernel's usual one, which is float32 if it has that)"


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, which `fill` gives its arguments and its handler when it is first used."""

    fill: Fill | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)
        return super().parse_known_args(args, namespace)


class Version(argparse.Action):
    """`--version`, which is looked up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"tilewright {version('tilewright')}")
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tilewright", description="Matrix kernels in OpenCL C: run, verified and measured on any device."
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    for name, fill in COMMANDS.items():
        sentence = (fill.__doc__ or "").replace("%", "%%")
        commands.add_parser(name, help=sentence, description=sentence).fill = fill
    return parser


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """The arguments that name a kernel and its settings, the same for all commands that take one."""
    parser.add_argument("kernel", help="a rung's name, or a .cl file of your own")
    parser.add_argument("--problem", help="what your kernel computes: gemm (the default), transpose or copy")
    parser.add_argument(
        "--global", dest="global_size", metavar="X,Y", help="global size of your kernel, e.g. M,N or N/TS*16,M"
    )
    parser.add_argument("--local", dest="local_size", metavar="X,Y", help="its local size, e.g. 16,16")
    macro = "a macro of your kernel, or a setting of a rung"
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help=macro)
    order = "memory order of your kernel's A, B and C: r(ow) or c(olumn) major, e.g. rcr (default rrr)"
    parser.add_argument("--order", help=order)
    parser.add_argument("--build-option", action="append", default=[], help="passed to the OpenCL compiler")
    parser.add_argument("--offset", type=from_zero, default=0, help="columns that a transpose or copy leaves out")


def add_measuring(parser: argparse.ArgumentParser, usual: float) -> None:
    """The arguments of commands that measure rungs."""
    from ..runtime.cuda.counterparts import BACKENDS

    device = "an index of `tilewright devices`, cpu, gpu, or part of a name"
    parser.add_argument("--device", metavar="DEVICE", help=device)
    runtimes = f"{', '.join(BACKENDS)} (default %(default)s): CUDA from the same source, or each rung by either in turn"
    parser.add_argument("--backend", choices=BACKENDS, default="opencl", help=runtimes)
    parser.add_argument("--size", metavar="N", help="512, or 512x256x128 (M x N x K), or ROWSxCOLUMNS")
    parser.add_argument("--dtype", help=DTYPE)
    time = "time for measuring one size (default %(default)s)"
    parser.add_argument("--seconds", type=seconds, default=usual, help=time)
    parser.add_argument("--no-baselines", action="store_true", help="without NumPy and the host program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the rates (.svg, .png or .pdf)")


def ladder(parser: argparse.ArgumentParser) -> None:
    """Every rung of one ladder or of all, verified and measured."""
    from ..kernels import LADDERS
    from .commands import ladder_command

    parser.add_argument("name", nargs="?", help=f"one of {', '.join(LADDERS)}; all of them if left out")
    parser.add_argument("--sizes", metavar="MIN:MAX", help="a sweep over MIN, 2 MIN, 4 MIN ... MAX")
    parser.add_argument("--rung", action="append", metavar="RUNG", help="only this rung (again for more)")
    parser.add_argument("--flush-cache", action="store_true", help="flush the caches before each run")
    parser.add_argument(
        "--reference-figures",
        action="store_true",
        help="print the figures that the ladder's source published, and ours",
    )
    add_measuring(parser, 8.0)
    parser.set_defaults(command=ladder_command)


def run(parser: argparse.ArgumentParser) -> None:
    """One kernel, a rung or the user's own file, verified and measured."""
    from ..bench.trial import TIME_BUDGET_S
    from .commands import run_command

    add_kernel(parser)
    parser.add_argument(
        "--show-samples", action="store_true", help="print ten random elements and the values that were expected"
    )
    trial = "seconds for trying your kernel in a child process first (default %(default)s)"
    parser.add_argument("--time-budget", type=seconds, default=TIME_BUDGET_S, metavar="SECONDS", help=trial)
    add_measuring(parser, 3.0)
    parser.set_defaults(command=run_command)


def explain(parser: argparse.ArgumentParser) -> None:
    """Sectors, bank conflicts, races and other faults of a kernel, counted without a GPU."""
    from ..analysis.explain import MODELS
    from .explain import explain_command

    add_kernel(parser)
    parser.add_argument("--size", metavar="N", help="as for `run` (default 256x256x64, or 256x256)")
    parser.add_argument("--dtype", help=DTYPE)
    names = ", ".join(" or ".join((model.name, *model.aliases[:3])) for model in MODELS)
    parser.add_argument("--device-model", default="nvidia", metavar="MODEL", help=f"{names} (default %(default)s)")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw sectors, banks, the way of the data (.svg or .html)"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    sweep = "what if a setting had these values (NAME=1,2,3; again for more settings)"
    parser.add_argument("--sweep", action="append", default=[], metavar="NAME=VALUES", help=sweep)
    pitch = "what if rows of a local array had so many elements (tile=16,17,33)"
    parser.add_argument("--pitch", action="append", default=[], metavar="ARRAY=VALUES", help=pitch)
    parser.set_defaults(command=explain_command)


def inspect(parser: argparse.ArgumentParser) -> None:
    """Registers, occupancy and instructions of a kernel, for any architecture, here or not."""
    from .inspect import inspect_command

    add_kernel(parser)
    target = "sm_70 .. sm_120, gfx90a, gfx942, gfx1100, x86-64-v4 ..., or device (the default)"
    parser.add_argument("--arch", metavar="ARCH", help=target)
    parser.add_argument("--diff", metavar="OTHER", help="and another rung, other settings (BK=8), or another ARCH")
    parser.add_argument("--size", metavar="N", help="of the problem that the launch is made for (default 256)")
    parser.add_argument("--dtype", help=DTYPE)
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    parser.add_argument("--json", action="store_true", help="print the record as JSON")
    shown = parser.add_mutually_exclusive_group()
    for form, what in (("sass", "NVIDIA's machine code"), ("ptx", "the PTX"), ("isa", "AMD's or x86 machine code")):
        shown.add_argument(f"--{form}", action="store_true", help=f"print {what}")
    parser.set_defaults(command=inspect_command)


def roofline(parser: argparse.ArgumentParser) -> None:
    """Which of a device's measured peaks limits a kernel, and the % reached."""
    from .inspect import roofline_command

    add_kernel(parser)
    parser.add_argument("--size", metavar="N", help="as for `run` (default 4096 on GPUs, 512 on CPUs)")
    parser.add_argument("--dtype", help=DTYPE)
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    parser.add_argument("--seconds", type=seconds, default=2.0, help="time for measuring (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the record as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it (.svg)")
    parser.set_defaults(command=roofline_command)


def bench(parser: argparse.ArgumentParser) -> None:
    """The library against NumPy, verified and interleaved."""
    from ..bench.sets import SETS
    from ..bench.sustained import SECONDS
    from .commands import bench_command

    parser.add_argument(
        "--sets", default="squares,skinny",
        help=f"of {', '.join(SETS)} (default %(default)s)",
    )  # fmt: skip
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    by = "both: the library's kernels as CUDA too, in a row of their own (default %(default)s)"
    parser.add_argument("--backend", choices=("opencl", "both"), default="opencl", help=by)
    parser.add_argument("--seconds", type=seconds, default=4.0, help="time for one problem (default %(default)s)")
    parser.add_argument("--precision", default="", help="of float32: tf32 or fp32_split; of 8-bit floats: fp8")
    turns = "run each case for SECONDS (default %(const)s) without a pause; record clock and power"
    parser.add_argument("--sustained", type=seconds, nargs="?", const=SECONDS, metavar="SECONDS", help=turns)
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    parser.set_defaults(command=bench_command)


def accuracy(parser: argparse.ArgumentParser) -> None:
    """The numerical errors of each precision, on well- and ill-conditioned data."""
    from .commands import accuracy_command

    parser.add_argument("--size", default="2048x2048x8192", metavar="MxNxK", help="(default %(default)s)")
    parser.add_argument("--dtype", default="float32", help="float32, float8_e4m3fn or float8_e5m2")
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    parser.set_defaults(command=accuracy_command)


def tune(parser: argparse.ArgumentParser) -> None:
    """Measure a device's fastest kernel for each product of some sets, for the library to use."""
    from ..bench.sets import SETS
    from .commands import tune_command

    parser.add_argument("--sets", default="llm-decode,batched", help=f"of {', '.join(SETS)} (default %(default)s)")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--precision", default="", help="as for `bench`")
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    parser.add_argument("--seconds", type=seconds, default=3.0, help="time for one problem (default %(default)s)")
    parser.add_argument(
        "--candidates", type=count, default=12, help="kernels to measure for one problem (default %(default)s)"
    )
    parser.add_argument(
        "--time-budget", type=seconds, default=float("inf"), metavar="SECONDS",
        help="start no problem after SECONDS in total; run again to resume",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FILE", help="the table (default: one of the user's own)")
    parser.set_defaults(command=tune_command)


def plan(parser: argparse.ArgumentParser) -> None:
    """What the library would run for a product, and why other candidates lost."""
    from .commands import plan_command

    parser.add_argument("size", help="N or MxNxK")
    parser.add_argument("--layout", default="NN", help="NN, NT, TN or TT (default %(default)s)")
    parser.add_argument("--batch", type=from_zero, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--precision", default="", help="as for `bench`")
    parser.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    parser.set_defaults(command=plan_command)


def list_rungs(parser: argparse.ArgumentParser) -> None:
    """The ladders and what each rung changes."""
    from .commands import list_command

    parser.add_argument("name", nargs="?", help="only this ladder")
    parser.set_defaults(command=list_command)


def show(parser: argparse.ArgumentParser) -> None:
    """A rung's source, or what it changes against the rung before."""
    from .commands import show_command

    parser.add_argument("rung")
    parser.add_argument("--diff", action="store_true", help="what it changes against the rung before")
    parser.set_defaults(command=show_command)


def devices(parser: argparse.ArgumentParser) -> None:
    """Every device with the limits that explain results."""
    from .commands import devices_command

    parser.add_argument("--peaks", action="store_true", help="measure the peaks of each device, too")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(command=devices_command)


def doctor(parser: argparse.ArgumentParser) -> None:
    """What was found, what works, what is missing and the command that mends it."""
    from .commands import doctor_command

    parser.add_argument("--json", action="store_true")
    parser.set_defaults(command=doctor_command)


def compare(parser: argparse.ArgumentParser) -> None:
    """Ratios between two records, with their spread."""
    from .commands import compare_command

    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.set_defaults(command=compare_command)


def report(parser: argparse.ArgumentParser) -> None:
    """Rewrite the tables of Markdown pages from the records they name, and their inspections."""
    from .commands import report_command

    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    parser.set_defaults(command=report_command)


def plot(parser: argparse.ArgumentParser) -> None:
    """Draw a record."""
    from .commands import plot_command

    parser.add_argument("record", type=Path)
    parser.add_argument("picture", type=Path)
    parser.set_defaults(command=plot_command)


COMMANDS: dict[str, Fill] = {
    "ladder": ladder,
    "run": run,
    "explain": explain,
    "inspect": inspect,
    "roofline": roofline,
    "bench": bench,
    "accuracy": accuracy,
    "tune": tune,
    "plan": plan,
    "list": list_rungs,
    "show": show,
    "devices": devices,
    "doctor": doctor,
    "compare": compare,
    "report": report,
    "plot": plot,
}
