"""Looks for optional tools, and says what each would add."""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from typing import Any

from ..backend.drivers import Places, find_library
from .findings import Finding, Status, pip_install
from .software import installed_version


@dataclass(frozen=True)
class Tool:
    """Something that tilewright can use; one of the ways of finding it is enough."""

    name: str
    adds: str
    get: str
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def where(self, places: Places) -> str:
        """Where it was found, or ''."""
        paths = [
            *(shutil.which(command) for command in self.commands),
            *(find_library(library, places) for library in self.libraries),
        ]
        named = [f"{each} {installed_version(each)}" for each in self.distributions if installed_version(each)]
        modules = [f"module {each}" for each in self.modules if util.find_spec(each) is not None]
        return next((str(each) for each in (*paths, *named, *modules) if each), "")


TOOLS = (
    Tool(
        "NVRTC",
        "registers and PTX of NVIDIA code without a GPU",
        pip_install("nvidia-cuda-nvrtc-cu12"),
        distributions=("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"),
        libraries=("libnvrtc.so.12", "libnvrtc.so.13"),
    ),
    Tool(
        "nvdisasm",
        "NVIDIA machine code",
        pip_install("nvidia-cuda-nvdisasm"),
        commands=("nvdisasm",),
        distributions=("nvidia-cuda-nvdisasm",),
    ),
    Tool(
        "clang or zig",
        "AMD machine code and registers without a GPU",
        pip_install("ziglang"),
        commands=("clang", "clang-19", "clang-20", "clang-21", "clang-22"),
        distributions=("ziglang",),
    ),
    Tool("capstone", "the machine code of CPU kernels", pip_install("capstone"), modules=("capstone",)),
    Tool(
        "CLBlast",
        "an OpenCL library to compare with",
        "brew install clblast" if sys.platform == "darwin" else "sudo apt-get install libclblast1",
        libraries=("libclblast.so.1",),
    ),
    Tool("matplotlib", "figures as image files", pip_install("matplotlib"), modules=("matplotlib",)),
)


def cuda_version(devices: Sequence[Mapping[str, Any]]) -> int:
    """The CUDA major version of NVIDIA's driver, which its platform's version ends with; 0 if it is not known."""
    for device in devices:
        found = re.search(r"\bCUDA (\d+)\.", device["version"])
        if found:
            return int(found[1])
    return 0


def cupy_for(cuda: int) -> Tool:
    """CuPy, whose packages are made for one major version of CUDA each: that for 13 needs a driver that new."""
    package = "cupy-cuda13x" if cuda >= 13 else "cupy-cuda12x"
    return Tool("CuPy", "cuBLAS to compare with, on NVIDIA GPUs", pip_install(package), modules=("cupy",))


def examine_tools(devices: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Which optional tools are here; the records of `devices` decide which CuPy fits."""
    places = Places.of_this_machine()
    found = []
    for tool in (*TOOLS, cupy_for(cuda_version(devices))):
        where = tool.where(places)
        text = f"{tool.name}: {where}" if where else f"{tool.name} is not here; it would add {tool.adds}"
        found.append(Finding(Status.OK, "optional", text, "" if where else tool.get))
    return found
