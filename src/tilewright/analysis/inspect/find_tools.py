"""Finds the programs that inspection uses: on the path, or in Python packages."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import util
from pathlib import Path

from ...errors import ProcessFailed
from ...runtime.libraries import packaged_file

SECONDS = 60.0  # time limit of a tool, which needs a fraction of a second
OLDEST_CLANG = 19  # the first version with all targets and builtins that the shim uses


@dataclass(frozen=True)
class Program:
    """A program that can be run: the command's first words, and its name with its version."""

    command: tuple[str, ...]
    name: str


def run_tool(
    command: tuple[str, ...],
    what: str,
    text: str = "",
    *,
    folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Run a tool, in `folder` and with more environment variables if they are given: its exit status, output and error output.
    ProcessFailed if it cannot be started or does not end."""
    environment = {**os.environ, **settings} if settings else None
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=folder,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProcessFailed(f"{what} ({command[0]}) did not run: {error}") from error
    return done.returncode, done.stdout, done.stderr


@cache
def find_nvidia_tool(name: str) -> Program | None:
    """nvdisasm, cuobjdump or ptxas: from a wheel, the path, or a CUDA toolkit's usual folder."""
    packages = {
        "nvdisasm": ("nvidia-cuda-nvdisasm",),
        "cuobjdump": ("nvidia-cuda-cuobjdump",),
        "ptxas": ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12"),
    }
    suffix = ".exe" if sys.platform == "win32" else ""
    places = (packaged_file((f"{name}{suffix}",), *packages[name]), shutil.which(name), f"/usr/local/cuda/bin/{name}")
    for place in places:
        if place is not None and Path(place).is_file():
            status, output, _ = run_tool((str(place), "--version"), name)
            version = re.search(r"release ([\d.]+)", output)
            if status == 0:
                return Program((str(place),), f"{name} {version[1] if version else ''}".strip())
    return None


@cache
def find_ptxas(arch: str) -> Program | None:
    """The ptxas that knows an architecture ("sm_70"). Version 13 has no Volta; then one of version 12 is looked for."""
    found = find_nvidia_tool("ptxas")
    older = int(re.sub(r"\D", "", arch) or 0) < 75
    if found is None or not older or not re.match(r"ptxas 1[3-9]", found.name):
        return found
    place = packaged_file(("ptxas.exe" if sys.platform == "win32" else "ptxas",), "nvidia-cuda-nvcc-cu12")
    if place is None:
        return None
    status, output, _ = run_tool((str(place), "--version"), "ptxas")
    version = re.search(r"release ([\d.]+)", output)
    return Program((str(place),), f"ptxas {version[1] if version else ''}".strip()) if status == 0 else None


@cache
def find_libdevice() -> Path | None:
    """NVIDIA's library of mathematical functions, as bitcode: from a wheel, or a CUDA toolkit's usual folder."""
    name = "libdevice.10.bc"
    place = packaged_file((name,), "nvidia-cuda-nvcc-cu12", "nvidia-nvvm", "nvidia-cuda-nvcc")
    toolkit = Path("/usr/local/cuda/nvvm/libdevice") / name
    return Path(place) if place is not None else toolkit if toolkit.is_file() else None


@cache
def find_clang() -> Program | None:
    """A clang of version 19 or later: from the package `ziglang`, else on the path; None if there is none."""
    candidates: list[tuple[str, ...]] = []
    if util.find_spec("ziglang") is not None:
        candidates.append((sys.executable, "-P", "-m", "ziglang", "clang"))
    names = ["clang", *(f"clang-{number}" for number in range(30, OLDEST_CLANG - 1, -1))]
    candidates += [(path,) for path in map(shutil.which, names) if path]
    for command in candidates:
        status, output, _ = run_tool((*command, "--version"), "clang")
        version = re.search(r"clang version (\d+)[\d.]*", output)
        if status == 0 and version and int(version[1]) >= OLDEST_CLANG:
            return Program(command, version[0].replace("version ", ""))
    return None


@cache
def find_ocloc() -> Program | None:
    """Intel's offline compiler on the path. It writes its version into a file of the folder that it runs in."""
    path = shutil.which("ocloc")
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        status, _, _ = run_tool((path, "query", "OCL_DRIVER_VERSION"), "ocloc", folder=Path(name))
        answer = Path(name) / "OCL_DRIVER_VERSION"
        version = answer.read_text(encoding="utf-8", errors="replace").strip(" \n\0") if answer.is_file() else ""
    return Program((path,), f"ocloc {version}".strip()) if status == 0 else None
