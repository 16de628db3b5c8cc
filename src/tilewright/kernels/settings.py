"""Settings of a kernel by name: the fields of a rung's configuration, or the macros of a file of the user's own."""

import operator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Unpack

from ..core.checked import checked_mapping
from ..core.custom import Geometry, own_kernel
from ..core.kernel import Config, Kernel
from ..core.kernel_options import with_head
from ..core.launch_options import LaunchOptions, check_names, launch_words
from ..core.problems import make_problem
from ..core.sizes import FilePath, Sides
from ..errors import InvalidInput, UnknownName, quoted
from . import find_kernel

Settings = Mapping[str, str | int]
KernelName = Kernel | FilePath  # a kernel, a rung's name, or a .cl file of the user's own
SAMPLE = 64  # the side of the problem at which settings are tried: whether they make a geometry at all


def chosen_kernel(
    kernel: KernelName,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    **own: Unpack[LaunchOptions],
) -> Kernel:
    """The kernel, the rung of that name or the `.cl` file, with these settings changed. `own` are the arguments of a file:
    InvalidInput for another name, which Python hands over with them.

    A file's head gives the options that the arguments do not (`core/kernel_options.py`). InvalidInput for sizes and arguments
    with anything else.
    """
    if not isinstance(kernel, Kernel | str | PathLike):
        raise InvalidInput(f"{quoted(kernel)} is no kernel: give a rung's name, a .cl file or a Kernel")
    check_names(own)
    settings = checked_mapping("settings", settings)
    if not isinstance(kernel, Kernel) and Path(kernel).suffix == ".cl":
        return with_settings(_file_kernel(Path(kernel), global_size, local_size, own), settings)
    found = kernel if isinstance(kernel, Kernel) else find_kernel(str(kernel))
    if global_size is not None or local_size is not None:
        raise InvalidInput(f"{found.name} has a geometry already: leave global_size and local_size out")
    if own:
        raise InvalidInput(f"{found.name} has its arguments already: entry, arguments, bind ... are for a .cl file")
    return with_settings(found, settings)


def _file_kernel(path: Path, global_size: Sides | None, local_size: Sides | None, own: LaunchOptions) -> Kernel:
    """The kernel of a user's file, with the options of its head. What is given wins over the head's."""
    options = with_head(path, entry=own.get("entry"))
    options.global_size = options.global_size if global_size is None else global_size
    options.local_size = options.local_size if local_size is None else local_size
    options.problem = own.get("problem", options.problem)
    kernel = own_kernel(path, options)
    given = launch_words(own)
    if given is None or kernel.launch is None:
        return kernel
    launch = kernel.launch.changed_by(given)
    assert isinstance(kernel.config, Geometry)
    config = replace(kernel.config, offset=launch.global_offset, ragged=launch.ragged)
    return replace(kernel, config=config, launch=launch)


def with_settings(kernel: Kernel, settings: Settings) -> Kernel:
    """The kernel with these settings changed, a rung named by them, and nothing cut to fit a device. Published figures are of
    other settings, so it has none.

    UnknownName for what is not a setting of the rung; InvalidInput for values that make no geometry.
    """
    if not settings:
        return kernel
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    if isinstance(kernel.config, Geometry):
        defines = {**dict(kernel.config.defines), **{name: str(value) for name, value in settings.items()}}
        config: Config = replace(kernel.config, defines=tuple(defines.items()))
        variant = kernel.variant
    else:
        config, variant = _with_fields(kernel, settings), f"{kernel.variant} {words}".strip()
    made = replace(kernel, config=config, smaller=(), binding=None)
    if kernel.launch is None:
        check_geometry(made, words)
    elif isinstance(config, Geometry) and config.global_size and config.local_size:
        with suppress(UnknownName):  # a name may be an argument of the kernel, which is not known yet
            check_geometry(made, words)
    return replace(made, variant=variant, published=(), published_with="")


def _with_fields(kernel: Kernel, settings: Settings) -> Config:
    known = [each.name for each in fields(kernel.config)]
    for name in settings:
        if name not in known:
            raise UnknownName(f"setting of {kernel.name}", name, known)
    changed: Config = replace(kernel.config, **{name: _whole(name, value) for name, value in settings.items()})
    return changed


def _whole(name: str, value: str | int) -> int:
    try:
        number = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name}={value}: a field of a configuration is a whole number") from error
    if number < 0:
        raise InvalidInput(f"{name}={value}: a field of a configuration is not negative")
    return number


def check_geometry(kernel: Kernel, words: str) -> None:
    """InvalidInput if the kernel's configuration, which `words` changed, makes no work-groups of at least one work-item."""
    problem = make_problem(kernel, (SAMPLE,))
    try:
        geometries = [step.config.ndrange(step.problem) for step in kernel.steps(kernel, kernel.config, problem)]
        kernel.config.local_bytes(problem)
    except (ArithmeticError, ValueError) as error:
        raise InvalidInput(f"{words}: {kernel.name} has no geometry with that: {error}") from error
    for each in geometries:
        if min(each.local_size) < 1 or min(each.global_size) < 0:
            raise InvalidInput(f"{words}: {kernel.name} has no geometry with that: its work-groups are {each}")
