"""The arguments that name a kernel and its settings, and the Kernel that they mean."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..core.custom import custom_kernel
from ..core.kernel import Kernel
from ..errors import InvalidInput, UnknownName
from ..kernels import find_kernel
from ..kernels.settings import with_settings
from .kernel_head import with_head
from .launch_arguments import add_launch, given_options, words_of
from .quantities import from_zero

ORDER_WORDS = {"row": "rrr", "column": "ccc"}
GEOMETRY = {"global_size": "--global", "local_size": "--local", "order": "--order"}


def add_kernel(
    parser: argparse.ArgumentParser, what: str = "a rung's name, such as tiles/2, or a .cl file of your own"
) -> None:
    """The arguments of all commands that take a kernel. `what` says what the first may be."""
    parser.add_argument("kernel", metavar="KERNEL", help=what)
    parser.add_argument(
        "--offset", type=from_zero, default=0, metavar="COLUMNS",
        help="columns that a transpose or copy leaves out (default: %(default)s)",
    )  # fmt: skip
    add_kernel_options(parser)


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """The options that may stand in the head of a kernel's file, too."""
    settings = parser.add_argument_group("settings")
    settings.add_argument(
        "-D", dest="define", action="append", default=[], metavar="NAME=VALUE",
        help="a setting of a rung, or a macro of your kernel; may be repeated (default: the rung's own)",
    )  # fmt: skip
    settings.add_argument(
        "--build-option", action="append", default=[], metavar="OPTION",
        help="an option for the OpenCL compiler, such as --build-option=-cl-mad-enable; may be repeated (default: none)",
    )  # fmt: skip
    own = parser.add_argument_group(
        "a kernel of your own", "These may stand in a comment at its start: // tilewright: --global M,N --local 16,16"
    )
    own.add_argument("--problem", help="what it computes: gemm, transpose or copy (default: gemm)")
    own.add_argument(
        "--global", dest="global_size", metavar="X,Y", help="its global size in work-items, such as M,N or N/TS*16,M"
    )
    own.add_argument("--local", dest="local_size", metavar="X,Y", help="its local size in work-items, such as 16,16")
    own.add_argument(
        "--order",
        help="memory order of A, B and C: row, column, or a letter for each, such as rcr for a column-major B (default: row)",
    )
    add_launch(own)


def kernel_of(options: argparse.Namespace) -> Kernel:
    """The rung or the user's .cl file, with the settings of the options."""
    return with_settings(*kernel_and_settings(options))


def kernel_and_settings(options: argparse.Namespace) -> tuple[Kernel, dict[str, str]]:
    """The rung or the user's file, and the settings to give it. A file has its macros already."""
    if not is_file(options.kernel):
        return rung_of(options), settings_of(options.define)
    if Path(options.kernel).is_dir():
        raise InvalidInput(f"{options.kernel} is a folder: give a .cl file")
    whole = with_head(options, add_kernel_options)
    return own_kernel(whole, whole.global_size, whole.local_size, settings_of(whole.define)), {}


def is_file(name: str) -> bool:
    """Whether a kernel's name means a user's file."""
    return name.endswith(".cl")


def own_kernel(
    options: argparse.Namespace, global_size: str | None, local_size: str | None, settings: Mapping[str, str]
) -> Kernel:
    """The kernel of a user's file. Macros among the compiler's options are treated as `-D`: every command sees them."""
    operation = "gemm" if options.problem is None else options.problem
    if options.order is not None and operation != "gemm":
        raise InvalidInput(f"--order {options.order}: only a gemm has memory orders; a {operation} is row-major")
    order = "row" if options.order is None else options.order
    macros, rest = macros_among(options.build_option)
    folders, rest = folders_among(rest)
    words = words_of(options)
    kernel = custom_kernel(
        options.kernel, global_size, local_size, {**macros, **settings}, operation, ORDER_WORDS.get(order, order), rest,
        replace(words, include=(*folders, *words.include)),
    )  # fmt: skip
    return _with_offset(kernel, options)


def rung_of(options: argparse.Namespace) -> Kernel:
    """The rung of that name. InvalidInput for options that apply to a user's file alone."""
    if Path(options.kernel).is_file():
        raise InvalidInput(f"{options.kernel}: kernel files must end in .cl")
    try:
        kernel = find_kernel(options.kernel)
    except UnknownName as error:
        if not Path(options.kernel).is_dir():
            raise
        raise InvalidInput(f"{options.kernel} is a folder: give a rung's name, or a .cl file") from error
    given = [
        f"{word} {getattr(options, name)}" for name, word in GEOMETRY.items() if getattr(options, name) is not None
    ]
    given += given_options(options)
    if given:
        raise InvalidInput(
            f"{' '.join(given)}: {kernel.name} is a rung; its settings ({kernel.config}) determine its geometry and "
            f"memory orders. Change them by -D, or copy the source: tilewright show '{kernel.name}' > mine.cl"
        )
    if options.problem not in (None, kernel.operation):
        raise InvalidInput(f"--problem {options.problem}: the rung {kernel.name} computes a {kernel.operation}")
    macros, rest = macros_among(options.build_option)
    if macros:
        raise InvalidInput(f"--build-option -D{next(iter(macros))}: give the settings of a rung by -D NAME=VALUE")
    return _with_offset(replace(kernel, options=(*kernel.options, *rest)), options)


def refuse_build_options(options: argparse.Namespace) -> None:
    """InvalidInput for options of OpenCL compilers with `--backend cuda` or `both`."""
    own = [each for each in options.build_option if each.strip().startswith("-cl-")]
    if own and options.backend != "opencl":
        raise InvalidInput(f"--build-option {own[0]}: CUDA's compiler does not have this option; use --backend opencl")


def _with_offset(kernel: Kernel, options: argparse.Namespace) -> Kernel:
    if options.offset and kernel.operation == "gemm":
        raise InvalidInput(f"--offset {options.offset}: only transposes and copies have an offset, not a gemm")
    return kernel


def macros_among(options: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The macros that compiler options define (-DNAME=VALUE), and the other options."""
    defined = [each for each in options if re.match(r"\s*-D", each)]
    macros = settings_of([each.strip()[2:].strip() for each in defined])
    return macros, tuple(each for each in options if each not in defined)


def folders_among(options: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders that compiler options name (-IFOLDER), and the other options."""
    folders = [each for each in options if re.match(r"\s*-I", each)]
    found = tuple(each.strip()[2:].strip() for each in folders)
    return tuple(filter(None, found)), tuple(each for each in options if each not in folders)


def settings_of(definitions: Sequence[str]) -> dict[str, str]:
    """ "BK=8" as {"BK": "8"}, and "FAST" as {"FAST": "1"}."""
    found = {}
    for each in definitions:
        name, _, value = each.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\n" in value:
            raise InvalidInput(f"{each!r}: write NAME=VALUE, with a name of letters, digits and _")
        found[name] = value or "1"
    return found
