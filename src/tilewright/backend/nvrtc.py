"""NVIDIA's run-time compiler: CUDA C++ to machine code for any of its architectures, without a GPU or a driver."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..errors import BuildFailed, NoDevice
from .cuda_calls import ADVICE, libraries


@cache
def compiler_version() -> str:
    """NVRTC's version, "13.0"; NoDevice if it is not installed."""
    _, nvrtc = libraries()
    try:
        _, major, minor = nvrtc.nvrtcVersion()
    except RuntimeError as missing:
        raise NoDevice(f"{ADVICE} ({str(missing).strip().splitlines()[0]})") from missing
    return f"{major}.{minor}"


def compile_program(source: str, name: str, architecture: str, options: Sequence[str] = ()) -> tuple[bytes, str]:
    """CUDA C++ as machine code for an architecture such as "sm_90", and the compiler's log. BuildFailed holds the log.

    No GPU is needed. Options that only an OpenCL compiler knows are left out.
    """
    compiler_version()
    _, nvrtc = libraries()
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"program.cu", 0, None, None)
    own = [f"--gpu-architecture={architecture}", "--device-as-default-execution-space"]
    words = [each.encode() for each in (*own, *options) if not each.startswith("-cl-")]
    try:
        status = nvrtc.nvrtcCompileProgram(program, len(words), words)[0]
        log = _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).rstrip(b"\0 \n").decode()
        if int(status) != 0:
            raise BuildFailed(name, architecture, log or nvrtc.nvrtcGetErrorString(status)[1].decode())
        return _text(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN), log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(program: Any, size: Any, get: Any) -> bytes:
    """One of NVRTC's outputs, which it writes into the bytes object that it is given.

    An empty one is a single NUL and is not asked for: Python keeps one object for all bytes of the same single value, and
    a NUL written into it would be seen wherever the program says b" ".
    """
    count = size(program)[1]
    if count <= 1:
        return b""
    text = bytes(count)
    get(program, text)
    return text
