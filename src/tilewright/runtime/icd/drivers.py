"""Finds OpenCL drivers: those that .icd files name, unregistered ones, and those from PyPI.

Nothing here loads a driver or imports PyOpenCL.
"""

import os
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from ..libraries import find_library, listed_folders, loader_folders, packaged_file

Origin = Literal["system", "unregistered", "wheel"]

# Drivers that often have no .icd file, as in containers with NVIDIA's libraries mounted: name, library.
UNREGISTERED = (
    ("NVIDIA", "libnvidia-opencl.so.1"),
    ("AMD", "libamdocl64.so"),
    ("Intel graphics", "libigdrcl.so"),
    ("PoCL", "libpocl.so.2"),
)

# Drivers on PyPI: name, distribution, patterns of the library's file name (Linux, Windows).
WHEELS = (
    ("Intel CPU runtime", "intel-opencl-rt", ("libintelocl.so", "intelocl64.dll")),
    ("PoCL", "pocl-binary-distribution", ("libpocl*.so*",)),
)

WELL_KNOWN_FOLDERS = (
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/opt/rocm/lib",
    "/opt/rocm/opencl/lib",
    "/opt/amdgpu/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/intel-opencl",
    "/usr/lib/intel-opencl",
)


@dataclass(frozen=True)
class Driver:
    """One OpenCL driver. `library` is a path, or the text of the .icd file if no such library was found."""

    name: str
    library: str
    origin: Origin
    note: str = ""


@dataclass(frozen=True)
class Places:
    """Where to look: folders of .icd files that loaders read by default, and folders of shared libraries."""

    vendors: tuple[Path, ...]
    libraries: tuple[Path, ...]

    @classmethod
    def of_this_machine(cls) -> "Places":
        """The folders of this machine; conda's loader reads `<prefix>/etc/OpenCL/vendors`."""
        if sys.platform == "win32":
            return cls((), ())
        vendors = (Path("/etc/OpenCL/vendors"), Path(sys.prefix) / "etc/OpenCL/vendors")
        known = [Path(each) for each in WELL_KNOWN_FOLDERS]
        return cls(vendors, tuple(dict.fromkeys([*listed_folders(), *loader_folders(), *known])))


def discover(places: Places | None = None) -> tuple[Driver, ...]:
    """All drivers without duplicates: registered ones, then libraries that no .icd file names, then wheels."""
    places = places or Places.of_this_machine()
    found = list(_system(places))
    for driver in (*_unregistered(places), *_wheels()):
        if not any(_same_driver(driver, other) for other in found):
            found.append(driver)
    return tuple(found)


def icd_files(places: Places) -> list[Path]:
    """The .icd files of the first folder, and those of further folders that name another library that exists.

    Intel's wheel brings a file that names a path of the machine where it was built.
    """
    files = sorted(places.vendors[0].glob("*.icd")) if places.vendors else []
    named = {os.path.realpath(path) for file in files if (path := find_library(_named_library(file), places.libraries))}
    for file in [each for folder in places.vendors[1:] for each in sorted(folder.glob("*.icd"))]:
        path = find_library(_named_library(file), places.libraries)
        if path is not None and os.path.realpath(path) not in named:
            files.append(file)
    return files


def _named_library(icd: Path) -> str:
    return icd.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()


def _system(places: Places) -> list[Driver]:
    found: list[Driver] = []
    for file in icd_files(places):
        name = _named_library(file)
        path = find_library(name, places.libraries)
        note = f"named by {file}" + ("" if path else f", but no library {name!r} was found")
        driver = Driver(file.stem, str(path or name), "system", note)
        if path is None or not any(_real(driver) == _real(other) for other in found):
            found.append(driver)
    return found


def _unregistered(places: Places) -> list[Driver]:
    note = "no .icd file names it"
    paths = ((name, find_library(library, places.libraries)) for name, library in UNREGISTERED)
    return [Driver(name, str(path), "unregistered", note) for name, path in paths if path is not None]


def _wheels() -> list[Driver]:
    found = []
    for name, distribution, patterns in WHEELS:
        path = packaged_file(patterns, distribution)
        if path is not None:
            note = f"from {distribution} {metadata.version(distribution)}"
            if bundled(path):
                note += ", read by PyOpenCL's own loader"
            found.append(Driver(name, str(path), "wheel", note))
    return found


def bundled(library: Path) -> bool:
    """Whether PyOpenCL's wheel finds this driver without help: its loader reads every .icd file in its own folder."""
    folder = library.parent
    return folder.name == ".libs" and any(folder.glob("libOpenCL*")) and any(folder.glob("*.icd"))


def _real(driver: Driver) -> str:
    return os.path.realpath(driver.library) if os.sep in driver.library else driver.library


def _same_driver(one: Driver, other: Driver) -> bool:
    """Whether both are one file, or have one library name up to the version: a process should not load a driver twice."""
    stems = [Path(each.library).name.split(".so")[0] for each in (one, other)]
    return _real(one) == _real(other) or (stems[0] == stems[1] and Path(other.library).is_file())
