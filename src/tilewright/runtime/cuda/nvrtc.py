"""NVRTC, NVIDIA's run-time compiler, by its C interface: from CUDA C++ to machine code.

It needs neither a GPU nor a driver nor Python bindings. Several versions may be installed together: version 12 compiles for
Volta, version 13 does not.
"""

import contextlib
import ctypes
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...errors import BuildFailed, ProcessFailed, Unsupported
from ..icd.drivers import Places
from ..libraries import find_library, packaged_file, toolkit_library
from ..opencl.retarget import MARK, retarget
from .ptx import VERSION

PACKAGES = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12")
# Drivers refuse PTX of a newer version of the language than their own, whatever is in it. 8.3 has all that is used for Hopper
# (fence.proxy.tensormap came last): PTX ISA, "Release Notes". Newer GPUs need newer versions.
OLDEST_VERSION, OLDEST_FOR = (8, 3), 90
FILES = ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll") if sys.platform == "win32" else ("libnvrtc.so.13", "libnvrtc.so.12")


@dataclass(frozen=True)
class Compilation:
    """Machine code as an ELF file (empty if only PTX was wanted), its PTX, and the compiler's log, which may be empty."""

    cubin: bytes
    ptx: str
    log: str


@dataclass(frozen=True)
class Nvrtc:
    """An opened NVRTC, its version ("NVRTC 13.0"), and the architectures that it compiles for (75, 80 ...)."""

    library: ctypes.CDLL
    version: str
    architectures: tuple[int, ...]

    def compile(self, source: str, name: str, architecture: str, options: Sequence[str] = ()) -> Compilation:
        """Compile CUDA C++ for an architecture such as "sm_90". BuildFailed names `name` and holds the log.

        Options of OpenCL compilers (-cl-...) are dropped. For "compute_90" there is PTX alone. Unsupported if machine code is
        wanted of a kernel with instructions that stand in it as comments: `compile_ptx` uncovers them.
        """
        own = (f"--gpu-architecture={architecture}", "--device-as-default-execution-space")
        words = [each.encode() for each in (*own, *options) if not each.startswith("-cl-")]
        program = ctypes.c_void_p()
        text = source.encode()
        self._check(self.library.nvrtcCreateProgram(ctypes.byref(program), text, b"rendered.cu", 0, None, None))
        try:
            status = self.library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
            log = self._output(program, "ProgramLog").rstrip(b"\0 \n").decode(errors="replace")
            if status != 0:
                raise BuildFailed(name, f"{architecture} ({self.version})", log or self._meaning(status))
            ptx = self._output(program, "PTX").rstrip(b"\0").decode()
            if MARK in ptx and architecture.startswith("sm_"):
                raise Unsupported(
                    f"{name} has instructions that stand in PTX as comments ({MARK}), and machine code would lack them: ask for "
                    "PTX, by compile_ptx"
                )
            return Compilation(self._output(program, "CUBIN"), ptx, log)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def compile_ptx(self, source: str, name: str, target: str, options: Sequence[str] = ()) -> Compilation:
        """Compile CUDA C++ to PTX alone, for a target such as "sm_90", or "sm_90a" with its marked instructions uncovered.

        The driver assembles it: after `ptx.for_cuda` it may have more shared memory than NVRTC itself allows. The language's
        version is lowered so that drivers older than this NVRTC take it. BuildFailed names `name` and holds the log.
        """
        base = target.rstrip("af")
        built = self.compile(source, name, base.replace("sm_", "compute_"), options)
        ptx = retarget(built.ptx, target) if target != base else built.ptx
        return Compilation(b"", _with_older_version(ptx, int(base.removeprefix("sm_"))), built.log)

    def _output(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._check(getattr(self.library, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw[: size.value]

    def _meaning(self, status: int) -> str:
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return str((self.library.nvrtcGetErrorString(status) or b"unknown error").decode())

    def _check(self, status: int) -> None:
        if status != 0:
            raise ProcessFailed(f"{self.version}: {self._meaning(status)}")


def _with_older_version(ptx: str, architecture: int) -> str:
    found = VERSION.search(ptx)
    if found is None or architecture > OLDEST_FOR or (int(found[1]), int(found[2])) <= OLDEST_VERSION:
        return ptx
    return ptx.replace(found[0], ".version {}.{}".format(*OLDEST_VERSION), 1)


@cache
def find_nvrtc(architecture: str) -> Nvrtc | None:
    """An installed NVRTC that compiles for this architecture ("sm_90"), or None."""
    number = re.fullmatch(r"sm_(\d+)[af]?", architecture)
    opened = filter(None, map(_open, _paths()))
    return next((each for each in opened if number and int(number[1]) in each.architectures), None)


def _paths() -> Iterator[str]:
    """Where the library may be, the newest version first: Python's packages, the loader's folders, a CUDA toolkit."""
    places = Places.of_this_machine()
    for file in FILES:
        found = packaged_file((file,), *PACKAGES), find_library(file, places.libraries)
        yield from (str(path) for path in found if path)
    toolkit = toolkit_library("nvrtc")
    if toolkit is not None:
        yield toolkit


@cache
def _open(path: str) -> Nvrtc | None:
    """The library, or None if it cannot be opened, as when its package is for another system."""
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return None
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    _open_builtins(Path(path).parent / f"libnvrtc-builtins.so.{major.value}.{minor.value}")
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(numbers)
    return Nvrtc(library, f"NVRTC {major.value}.{minor.value}", tuple(numbers))


def _open_builtins(path: Path) -> None:
    """Open the file that NVRTC opens by its bare name as it compiles. NVRTC 13.0 does not look for it in its own folder.

    If it cannot be opened, the first compilation says so.
    """
    if path.is_file():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(path))
