"""NVIDIA's run-time compiler, NVRTC, by its C interface, for every architecture that some installed version knows.

It needs neither a GPU, nor a driver, nor Python bindings; version 12 still compiles for Volta, which 13 does not.
"""

import ctypes
import sys
from dataclasses import dataclass
from functools import cache

from ..backend.drivers import Places, find_library
from ..errors import ProcessFailed
from .tools import packaged_file

PACKAGES = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12")
FILES = ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll") if sys.platform == "win32" else ("libnvrtc.so.13", "libnvrtc.so.12")


@dataclass(frozen=True)
class Nvrtc:
    """An opened NVRTC: its version, and the architectures that it compiles for (70, 75 ...)."""

    library: ctypes.CDLL
    version: str
    architectures: tuple[int, ...]


@dataclass(frozen=True)
class NvrtcResult:
    """A compilation: PTX, machine code in an ELF file, and the log, with ptxas' report of registers. Only a log if it failed."""

    log: str
    ptx: str = ""
    cubin: bytes = b""


@cache
def find_nvrtc(architecture: int) -> Nvrtc | None:
    """An NVRTC that compiles for this architecture; None if none is installed or none of them does."""
    places = Places.of_this_machine()
    for path in (each for file in FILES for each in (packaged_file(file, *PACKAGES), find_library(file, places))):
        opened = _open(str(path)) if path else None
        if opened is not None and architecture in opened.architectures:
            return opened
    return None


def _open(path: str) -> Nvrtc | None:
    """The library, or None if it is there but cannot be opened: a package for another system, say."""
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return None
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(numbers)
    return Nvrtc(library, f"NVRTC {major.value}.{minor.value}", tuple(numbers))


def compile_cuda(nvrtc: Nvrtc, source: str, name: str, options: tuple[str, ...]) -> NvrtcResult:
    """Compile CUDA C++. A program that does not compile gives a result with a log and nothing else."""
    library, program = nvrtc.library, ctypes.c_void_p()
    _check(nvrtc, library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None))
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = library.nvrtcCompileProgram(program, len(options), words)
        log = _text(nvrtc, program, "ProgramLog").decode(errors="replace")
        if status != 0:
            return NvrtcResult(log or _message(nvrtc, status))
        return NvrtcResult(log, _text(nvrtc, program, "PTX").decode(), _text(nvrtc, program, "CUBIN", ends=False))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: Nvrtc, program: ctypes.c_void_p, what: str, ends: bool = True) -> bytes:
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    _check(nvrtc, getattr(nvrtc.library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value if ends else buffer.raw[: size.value]


def _message(nvrtc: Nvrtc, status: int) -> str:
    nvrtc.library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return str((nvrtc.library.nvrtcGetErrorString(status) or b"unknown error").decode())


def _check(nvrtc: Nvrtc, status: int) -> None:
    if status != 0:
        raise ProcessFailed(f"{nvrtc.version}: {_message(nvrtc, status)}")
