"""Kernels as people bring them: in the styles of vendors' samples, benchmark suites and applications.

One idea a file, NAME.cl, written for these tests. The tables beside them give each a launch, so that every tool can be tried
with all of them: `for name, source, entry, global_size, local_size, arguments, macros in launches(): ...`
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from . import ciphers, grids, learning, linear_algebra, particles, primitives
from .records import Foreign, Given

FOLDER = Path(__file__).parent
KERNELS: dict[str, Foreign] = {
    each.name: each
    for table in (linear_algebra, primitives, grids, particles, learning, ciphers)
    for each in table.KERNELS
}
# Kinds of true faults by kernel: "race", "bounds", "uninitialised", "divergent".
FAULTS: dict[str, frozenset[str]] = {name: each.faults for name, each in KERNELS.items() if each.faults}
# What a kernel asks for beyond OpenCL C 1.2.
NEEDS: dict[str, str] = {name: each.needs for name, each in KERNELS.items() if each.needs}


class Launch(NamedTuple):
    """A kernel with its launch. `arguments` are as `explain_source` takes them; numbers are NumPy's, of the parameter's type,
    so that PyOpenCL takes them, too."""

    name: str
    source: str
    entry: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: dict[str, Any]
    macros: dict[str, str | int]


def launches(*names: str) -> Iterator[Launch]:
    """All launches, or those of some kernels. The contents of buffers are random and always the same."""
    for name in names or KERNELS:
        yield launch_of(KERNELS[name])


def launch_of(kernel: Foreign) -> Launch:
    random = np.random.default_rng(crc32(kernel.name.encode()))
    return Launch(
        kernel.name,
        (FOLDER / f"{kernel.name}.cl").read_text(encoding="utf-8"),
        kernel.entry or kernel.name,
        kernel.global_size,
        kernel.local_size,
        made(kernel.arguments, random),
        dict(kernel.macros),
    )


def made(arguments: Mapping[str, Given], random: np.random.Generator) -> dict[str, Any]:
    """The arguments with their contents."""
    values: dict[str, Any] = {}
    for name, given in arguments.items():
        if callable(given):
            values[name] = given(random)
        elif isinstance(given, int):
            values[name] = np.int32(given)
        elif isinstance(given, float) and not isinstance(given, np.floating):  # NumPy's double is a float, too
            values[name] = np.float32(given)
        else:
            values[name] = given
    return values
