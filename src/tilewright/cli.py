"""The command line: parse, make one call, print. Everything done here can be done from Python with the same call."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape

from .access import MODELS
from .arguments import count, from_zero, seconds
from .backend.twins import BACKENDS
from .commands import (
    accuracy_command,
    bench_command,
    compare_command,
    devices_command,
    doctor_command,
    ladder_command,
    list_command,
    plan_command,
    plot_command,
    report_command,
    run_command,
    show_command,
    tune_command,
)
from .errors import InvalidInput, TilewrightError
from .explaining import explain_command
from .inspecting import inspect_command, roofline_command
from .interruption import terminated_as_interrupted
from .kernels import LADDERS
from .sets import SETS
from .sustained import SECONDS
from .trial import WITHIN_S


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0 fine, 1 failed or wrong, 2 unusable arguments, 130 interrupted."""
    prepare_streams()
    options = make_parser().parse_args(arguments)
    try:
        with terminated_as_interrupted():
            status: int = options.command(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TilewrightError, MemoryError, RecursionError, OSError) as error:
        return status_of(error)


def prepare_streams() -> None:
    """What a stream's encoding lacks is printed as "?"; where there is no standard output, nothing is printed."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def tell(words: str, before: str = "") -> None:
    """Print on standard error, `before` and what is interrupted in red."""
    Console(stderr=True).print(f"[red]{before or words}[/red]{escape(words) if before else ''}", soft_wrap=True)


def status_of(error: BaseException) -> int:
    """Tell what went wrong in one sentence; the exit status."""
    words = str(error)
    if isinstance(error, MemoryError):
        words = f"out of memory: {words or 'a smaller size needs less'}"
    elif isinstance(error, RecursionError):
        words = "the text is nested too deeply to be read"
    elif isinstance(error, OSError):
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or words
        if error.errno == errno.ENOSPC and not error.filename:  # standard output is full: nothing must be flushed later
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    tell(f" {words}", "error:")
    return 2 if isinstance(error, (InvalidInput, LookupError)) else 1


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tilewright", description="Matrix kernels in OpenCL C: run, verified and measured on any device."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ladder = _add(commands, "ladder", ladder_command)
    ladder.add_argument("name", nargs="?", help=f"one of {', '.join(LADDERS)}; all of them if left out")
    ladder.add_argument("--sizes", metavar="MIN:MAX", help="a sweep over MIN, 2 MIN, 4 MIN ... MAX")
    ladder.add_argument("--rung", action="append", metavar="RUNG", help="only this rung (again for more)")
    ladder.add_argument("--cold", action="store_true", help="empty the caches before each run")
    ladder.add_argument("--published", action="store_true", help="the source's own figures beside ours")
    _add_measuring(ladder, 8.0)

    run = _add(commands, "run", run_command)
    _add_kernel(run)
    run.add_argument("--check", action="store_true", help="print ten random elements beside the host's values")
    trial = "time for trying a kernel of your own in a process of its own first (default %(default)s)"
    run.add_argument("--within", type=seconds, default=WITHIN_S, metavar="SECONDS", help=trial)
    _add_measuring(run, 3.0)

    explained = _add(commands, "explain", explain_command)
    _add_kernel(explained)
    explained.add_argument("--size", metavar="N", help="as for `run` (default 256x256x64, or 256x256)")
    explained.add_argument("--dtype", help="what the rung is usually measured in, if left out")
    names = ", ".join(" or ".join((model.name, *model.aliases[:3])) for model in MODELS)
    explained.add_argument("--device-model", default="nvidia", metavar="MODEL", help=f"{names} (default %(default)s)")
    explained.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw sectors, banks, the way of the data (.svg or .html)"
    )
    explained.add_argument("--json", action="store_true", help="print everything as JSON")
    sweep = "what if a macro had these values (NAME=1,2,3; again for more macros)"
    explained.add_argument("--sweep", action="append", default=[], metavar="NAME=VALUES", help=sweep)
    pitch = "what if rows of a local array had so many elements (tile=16,17,33)"
    explained.add_argument("--pitch", action="append", default=[], metavar="ARRAY=VALUES", help=pitch)

    inspected = _add(commands, "inspect", inspect_command)
    _add_kernel(inspected)
    target = "sm_70 .. sm_120, gfx90a, gfx942, gfx1100, x86-64-v4 ..., or device (the default)"
    inspected.add_argument("--arch", metavar="ARCH", help=target)
    inspected.add_argument(
        "--diff", metavar="OTHER", help="beside another rung, other settings (BK=8), or another ARCH"
    )
    inspected.add_argument("--size", metavar="N", help="of the problem that the launch is made for (default 256)")
    inspected.add_argument("--dtype", default="", help="default: float32, or the first that the kernel has")
    inspected.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    inspected.add_argument("--json", action="store_true", help="print the record as JSON")
    shown = inspected.add_mutually_exclusive_group()
    for form, what in (("sass", "NVIDIA's machine code"), ("ptx", "the PTX"), ("isa", "AMD's or x86 machine code")):
        shown.add_argument(f"--{form}", action="store_true", help=f"print {what}")

    roof = _add(commands, "roofline", roofline_command)
    _add_kernel(roof)
    roof.add_argument("--size", metavar="N", help="as for `run` (default 4096 on GPUs, 512 on CPUs)")
    roof.add_argument("--dtype", default="float32")
    roof.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    roof.add_argument("--seconds", type=seconds, default=2.0, help="time for measuring (default %(default)s)")
    roof.add_argument("--json", action="store_true", help="print the record as JSON")
    roof.add_argument("--plot", type=Path, metavar="FILE", help="draw it (.svg)")

    bench = _add(commands, "bench", bench_command)
    bench.add_argument(
        "--sets", default="squares,skinny",
        help=f"of {', '.join(SETS)} (default %(default)s)",
    )  # fmt: skip
    bench.add_argument("--dtype", default="float32")
    bench.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    by = "both: the library's kernels as CUDA too, in a row of their own (default %(default)s)"
    bench.add_argument("--backend", choices=("opencl", "both"), default="opencl", help=by)
    bench.add_argument("--seconds", type=seconds, default=4.0, help="time for one problem (default %(default)s)")
    bench.add_argument("--precision", default="", help="of float32: tf32 or fp32_split; of 8-bit floats: fp8")
    turns = "turns of so many seconds (default %(const)s) back to back, with clock and power"
    bench.add_argument("--sustained", type=seconds, nargs="?", const=SECONDS, metavar="SECONDS", help=turns)
    bench.add_argument("--json", type=Path, metavar="FILE", help="save the record")

    accuracy = _add(commands, "accuracy", accuracy_command)
    accuracy.add_argument("--size", default="2048x2048x8192", metavar="MxNxK", help="(default %(default)s)")
    accuracy.add_argument("--dtype", default="float32", help="float32, float8_e4m3fn or float8_e5m2")
    accuracy.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    accuracy.add_argument("--json", type=Path, metavar="FILE", help="save the record")

    tuned = _add(commands, "tune", tune_command)
    tuned.add_argument("--sets", default="thin,batched", help=f"of {', '.join(SETS)} (default %(default)s)")
    tuned.add_argument("--dtype", default="float32")
    tuned.add_argument("--precision", default="", help="as for `bench`")
    tuned.add_argument("--device", metavar="DEVICE", help="as for `ladder`")
    tuned.add_argument("--seconds", type=seconds, default=3.0, help="time for one problem (default %(default)s)")
    tuned.add_argument("--candidates", type=count, default=12, help="that race for one problem (default %(default)s)")
    tuned.add_argument(
        "--within", type=seconds, default=float("inf"), metavar="SECONDS",
        help="begin no race after so many in all; the next run goes on where this one ends",
    )  # fmt: skip
    tuned.add_argument("--output", type=Path, metavar="FILE", help="the table (default: one of the user's own)")

    planned = _add(commands, "plan", plan_command)
    planned.add_argument("size", help="N or MxNxK")
    planned.add_argument("--layout", default="NN", help="NN, NT, TN or TT (default %(default)s)")
    planned.add_argument("--batch", type=from_zero, default=1)
    planned.add_argument("--dtype", default="float32")
    planned.add_argument("--precision", default="", help="as for `bench`")
    planned.add_argument("--device", metavar="DEVICE", help="as for `ladder`")

    _add(commands, "list", list_command).add_argument("name", nargs="?", help="only this ladder")
    show = _add(commands, "show", show_command)
    show.add_argument("rung")
    show.add_argument("--diff", action="store_true", help="what it changes against the rung before")
    devices = _add(commands, "devices", devices_command)
    devices.add_argument("--peaks", action="store_true", help="measure the ceilings of each device too")
    devices.add_argument("--json", action="store_true")
    _add(commands, "doctor", doctor_command).add_argument("--json", action="store_true")
    comparison = _add(commands, "compare", compare_command)
    comparison.add_argument("first", type=Path)
    comparison.add_argument("second", type=Path)
    _add(commands, "report", report_command).add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    picture = _add(commands, "plot", plot_command)
    picture.add_argument("record", type=Path)
    picture.add_argument("picture", type=Path)
    return parser


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _add(commands: Commands, name: str, command: object) -> argparse.ArgumentParser:
    text = (command.__doc__ or "").split(": ", 1)[1].replace("%", "%%")
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=command)
    return parser


def _add_kernel(parser: argparse.ArgumentParser) -> None:
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


def _add_measuring(parser: argparse.ArgumentParser, usual: float) -> None:
    device = "an index of `tilewright devices`, cpu, gpu, or part of a name"
    parser.add_argument("--device", metavar="DEVICE", help=device)
    runtimes = f"{', '.join(BACKENDS)} (default %(default)s): CUDA from the same source, or each rung by either in turn"
    parser.add_argument("--backend", choices=BACKENDS, default="opencl", help=runtimes)
    parser.add_argument("--size", metavar="N", help="512, or 512x256x128 (M x N x K), or ROWSxCOLUMNS")
    parser.add_argument("--dtype", help="float32, float64, int32 or float16 (default: float32 if the rungs have it)")
    time = "time for measuring one size (default %(default)s)"
    parser.add_argument("--seconds", type=seconds, default=usual, help=time)
    parser.add_argument("--no-baselines", action="store_true", help="without NumPy and the host program")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="save the table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the rates (.svg, .png or .pdf)")


if __name__ == "__main__":
    sys.exit(main())
