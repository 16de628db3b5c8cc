"""Compilers of OpenCL C for NVIDIA's GPUs that are built from clang, as NVIDIA's own is."""

import shutil
from dataclasses import dataclass

from tilewright.analysis.inspect.bare_clang import DECLARE, for_clang
from tilewright.analysis.inspect.find_tools import find_clang, run_tool

OPTIONS = (
    "--target=nvptx64-nvidia-cuda",
    "-cl-std=CL1.2",
    "-D__NV_CL_C_VERSION=120",
    "-fgnu-keywords",
    "-nogpulib",
    "-x",
    "cl",
)
OWN_HEADERS = ("-Xclang", "-finclude-default-header", "-Xclang", "-cl-ext=+all")
STAND_INS = ("-march=sm_90", *DECLARE, "-cl-no-stdinc")  # for clang without its headers for OpenCL C
# NVIDIA's is an older one than those that `inspect` uses, and some warn of more: in OpenCL C, of constants beside && and ||.
OLDER = tuple(f"clang-{version}" for version in range(18, 10, -1))


@dataclass(frozen=True)
class Compiler:
    """A command that checks what it reads, and whether it has the functions of OpenCL C itself."""

    command: tuple[str, ...]
    complete: bool

    def ptx(self, source: str) -> tuple[str, str]:
        """The PTX that it makes of an OpenCL C source, and what it prints."""
        assert self.complete
        status, made, log = run_tool((*self.command, "-O3", "-S", "-o", "-", "-"), "clang", source)
        return made, log if status == 0 else f"did not compile: {log}"

    def warnings(self, source: str) -> str:
        """What it prints for an OpenCL C source, for NVIDIA's GPUs, with the warnings that are on by default."""
        text = source if self.complete else for_clang(source)
        status, _, log = run_tool((*self.command, "-fsyntax-only", "-"), "clang", text)
        return log if status == 0 else f"did not compile: {log}"


def compilers() -> tuple[Compiler, ...]:
    newest, older = find_clang(), next(filter(None, map(shutil.which, OLDER)), None)
    found = [Compiler((*newest.command, *OPTIONS, *STAND_INS), False)] if newest else []
    return (*found, *([Compiler((older, *OPTIONS, *OWN_HEADERS), True)] if older else []))
