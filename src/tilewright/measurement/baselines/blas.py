"""Other CPU BLAS libraries as baselines, if they are installed: MKL, BLIS and scipy-openblas64's OpenBLAS.

They are optional. They are searched for in their Python packages, in LD_LIBRARY_PATH and in the system's folders.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...core.problem import Gemm, Problem, output_of
from ...errors import Unsupported
from ...runtime.libraries import USUAL_FOLDERS, files_in, listed_folders
from ...runtime.processors import processor_flags
from . import Baseline, Measurement, Request
from .child import ChildBaseline

PREFIXES = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


@dataclass(frozen=True)
class Blas:
    """A library: its possible file names, its routines' names, and the environment of its process.

    `install` is the command in its plainest form, as it stands in records that others read. `routine` gets the type's
    letter. With `long_integers` sizes have 64 bits.
    """

    name: str
    files: tuple[str, ...]
    install: str
    package: str = ""  # the Python package whose folder `lib` holds the files
    routine: str = "cblas_{}gemm"
    long_integers: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    flag: str = ""  # of the processor, without which it cannot run

    @property
    def folders(self) -> Iterator[Path]:
        """Where it may be: its package's folder, the loader's extra ones, the usual ones."""
        found = find_spec(self.package) if self.package else None
        if found is not None and found.origin is not None:
            yield Path(found.origin).parent / "lib"
        yield from listed_folders()
        yield from USUAL_FOLDERS


BLIS_FILES = ("libblis.so.4", "libblis.so", "libblis.dylib")
LIBRARIES = (
    Blas("MKL", tuple(f"libmkl_rt.{end}" for end in ("so.3", "so.2", "so.1", "so")), "pip install mkl"),
    Blas("BLIS", BLIS_FILES, "apt install libblis4-pthread"),
    # BLIS 0.9 treats processors that it does not know as "generic". This row is BLIS with BLIS_ARCH_TYPE for Skylake with
    # AVX-512: not what users get by default.
    Blas(
        "BLIS (skx)", BLIS_FILES, "apt install libblis4-pthread",
        environment=(("BLIS_ARCH_TYPE", "0"),), flag="avx512f",
    ),
    Blas(
        "OpenBLAS", ("libscipy_openblas64_.so", "libscipy_openblas64_.dylib"), "pip install scipy-openblas64",
        "scipy_openblas64", "scipy_cblas_{}gemm64_", True,
    ),
)  # fmt: skip


def place_of(blas: Blas) -> str:
    """Where the library is; "" if it is not installed. Its process loads it, so that its threads do not run in this one."""
    return str(next(files_in(blas.folders, blas.files), ""))


def absent() -> tuple[str, ...]:
    """A sentence for each library that is not installed."""
    return tuple(f"{blas.name} is not installed ({blas.install})" for blas in LIBRARIES if not place_of(blas))


def multiplies(problem: Problem) -> bool:
    """Whether a BLAS has a routine for the problem."""
    return isinstance(problem, Gemm) and problem.dtype in PREFIXES and output_of(problem).dtype == problem.dtype


def blas_baseline(blas: Blas, problem: Problem, arrays: Mapping[str, np.ndarray]) -> ChildBaseline:
    """The library in a child process; Unsupported if it is not installed or has no such routine."""
    place = place_of(blas)
    if not place:
        raise Unsupported(f"{blas.name} is not installed ({blas.install})")
    if not multiplies(problem):
        raise Unsupported(f"{blas.name} has no routine for {problem.title}")
    routine = blas.routine.format(PREFIXES[problem.dtype])
    own = (blas.name, place, routine, "64" if blas.long_integers else "32")
    return ChildBaseline("blas_child.py", problem, arrays, own, dict(blas.environment))


def _baseline(blas: Blas) -> Baseline:
    """Measured with the library on CPU devices, if it is installed and has a routine for the problem."""

    def is_for(request: Request) -> bool:
        ours = request.measurement is Measurement.LIBRARY and request.device.info.kind == "cpu"
        runs = blas.flag in processor_flags()  # of which systems that tell none have none
        return ours and runs and multiplies(request.problem) and bool(place_of(blas))

    return Baseline(blas.name, "host", is_for, lambda request, arrays: blas_baseline(blas, request.problem, arrays))


BASELINES = tuple(map(_baseline, LIBRARIES))
