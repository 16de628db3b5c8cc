"""The Kernel that the arguments of a command mean."""

import argparse
from dataclasses import replace
from pathlib import Path

from ..core.custom import own_kernel
from ..core.kernel import Kernel
from ..core.kernel_options import macros_among, settings_of, with_head
from ..core.launch_arguments import given_options
from ..errors import InvalidInput, UnknownName
from ..kernels import find_kernel
from ..kernels.settings import with_settings

GEOMETRY = {"global_size": "--global", "local_size": "--local", "order": "--order"}


def kernel_of(options: argparse.Namespace) -> Kernel:
    """The rung or the user's .cl file, with the settings of the options."""
    return with_settings(*kernel_and_settings(options))


def kernel_and_settings(options: argparse.Namespace) -> tuple[Kernel, dict[str, str]]:
    """The rung or the user's file, and the settings to give it. A file has its macros already."""
    if options.kernel is None:
        raise InvalidInput("name a kernel: a rung, such as tiles/2, or a .cl file of your own")
    if not is_file(options.kernel):
        return rung_of(options), settings_of(options.define)
    whole = with_head(Path(options.kernel), options)
    return _with_offset(own_kernel(options.kernel, whole), options), {}


def is_file(name: str) -> bool:
    """Whether a kernel's name means a user's file."""
    return name.endswith(".cl")


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
