"""Looks for optional tools, and says what each one adds."""

import shutil
import sys
from dataclasses import dataclass
from importlib import util

from ..core.install import install_extra, pip_install
from ..runtime.icd.drivers import Places
from ..runtime.libraries import find_library
from .findings import Finding, Status
from .software import installed_version


@dataclass(frozen=True)
class Tool:
    """A tool that tilewright can use. It is found by any of its commands, modules, distributions or libraries."""

    name: str
    adds: str
    get: str
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def where(self, places: Places) -> str:
        """Where it was found, or ""."""
        paths = [
            *(shutil.which(command) for command in self.commands),
            *(find_library(library, places.libraries) for library in self.libraries),
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
    Tool(
        "ocloc",
        "Intel GPUs' machine code and registers without a GPU",
        "sudo apt-get install intel-opencl-icd" if sys.platform == "linux" else "install Intel's graphics driver",
        commands=("ocloc",),
    ),
    Tool("capstone", "the machine code of CPU kernels", pip_install("capstone"), modules=("capstone",)),
    Tool(
        "CLBlast",
        "an OpenCL library to compare with",
        "brew install clblast" if sys.platform == "darwin" else "sudo apt-get install libclblast1",
        libraries=("libclblast.so.1",),
    ),
    Tool(
        "PyTorch",
        "tilewright.torch, and cuBLAS to compare with on NVIDIA GPUs",
        install_extra("torch"),
        modules=("torch",),
    ),
    Tool("typst", "pictures as .png and .pdf", pip_install("typst"), modules=("typst",)),
)


def examine_tools() -> list[Finding]:
    """Which optional tools are installed, and what each of the others would add."""
    places = Places.of_this_machine()
    found = []
    for tool in TOOLS:
        where = tool.where(places)
        text = f"{tool.name}: {where}" if where else f"{tool.name} would add {tool.adds}"
        status = Status.OK if where else Status.ABSENT
        found.append(Finding(status, "optional", text, "" if where else tool.get))
    return found
