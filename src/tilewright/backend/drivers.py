"""OpenCL drivers: find those that no .icd file names, make them visible to this process, and rank them.

Nothing here loads a driver or imports PyOpenCL. `register()` must run before the first OpenCL platform query.
"""

import ctypes
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .cache import cache_folder

if TYPE_CHECKING:
    import pyopencl

Origin = Literal["system", "unregistered", "wheel"]

# Drivers often present without an .icd file (a container that mounts NVIDIA's libraries): name, library.
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

FOLDER_PREFIX = "tilewright-icd-"


@dataclass(frozen=True)
class Driver:
    """One OpenCL driver. `library` is a path, or the .icd file's own text when no such file was found."""

    name: str
    library: str
    origin: Origin
    note: str = ""


@dataclass(frozen=True)
class Registration:
    """What `register` did: `variable` makes `added` visible; `problem` says why no driver may be found."""

    status: Literal["nothing to add", "registered", "left to the user"]
    variable: str
    value: str
    added: tuple[Driver, ...]
    text: str
    problem: str = ""


@dataclass(frozen=True)
class Places:
    """Where to look: folders of .icd files that a loader reads by itself, and folders of shared libraries."""

    vendors: tuple[Path, ...]
    libraries: tuple[Path, ...]

    @classmethod
    def of_this_machine(cls) -> "Places":
        """The folders of this machine; conda's loader reads `<prefix>/etc/OpenCL/vendors`."""
        if sys.platform == "win32":
            return cls((), ())
        vendors = (Path("/etc/OpenCL/vendors"), Path(sys.prefix) / "etc/OpenCL/vendors")
        listed = [Path(each) for each in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if each]
        known = [Path(each) for each in WELL_KNOWN_FOLDERS]
        return cls(vendors, tuple(dict.fromkeys([*listed, *_loader_folders(), *known])))


def _loader_folders() -> list[Path]:
    """Folders that the dynamic loader searches, from `ldconfig -p`; none where there is no such tool."""
    tool = shutil.which("ldconfig") or shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if tool is None or sys.platform != "linux":
        return []
    listing = subprocess.run([tool, "-p"], capture_output=True, text=True, check=False).stdout
    paths = [line.split(" => ", 1)[1] for line in listing.splitlines() if " => " in line]
    return list(dict.fromkeys(Path(path.strip()).parent for path in paths))


def discover(places: Places | None = None) -> tuple[Driver, ...]:
    """Every driver, each once: registered ones, then libraries that no .icd names, then wheels."""
    places = places or Places.of_this_machine()
    found = list(_system(places))
    for driver in (*_unregistered(places), *_wheels()):
        if not any(_same_driver(driver, other) for other in found):
            found.append(driver)
    return tuple(found)


def icd_files(places: Places) -> list[Path]:
    """The .icd files of the first folder, and those of later ones that name a library that exists and is new.

    Intel's wheel leaves a file in the environment's folder that names a path of the machine it was built on.
    """
    files = sorted(places.vendors[0].glob("*.icd")) if places.vendors else []
    named = {os.path.realpath(path) for file in files if (path := find_library(_named_library(file), places))}
    for file in [each for folder in places.vendors[1:] for each in sorted(folder.glob("*.icd"))]:
        path = find_library(_named_library(file), places)
        if path is not None and os.path.realpath(path) not in named:
            files.append(file)
    return files


def find_library(name: str, places: Places) -> Path | None:
    """The file that the dynamic loader would open for `name` (a path or a bare name), or None."""
    if os.sep in name:
        return Path(name) if Path(name).is_file() else None
    for folder in places.libraries:
        if (folder / name).is_file() and _same_machine(folder / name):
            return folder / name
    return None


def _named_library(icd: Path) -> str:
    return icd.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()


def _system(places: Places) -> list[Driver]:
    found: list[Driver] = []
    for file in icd_files(places):
        name = _named_library(file)
        path = find_library(name, places)
        note = f"named by {file}" + ("" if path else f", but no library {name!r} was found")
        driver = Driver(file.stem, str(path or name), "system", note)
        if path is None or not any(_real(driver) == _real(other) for other in found):
            found.append(driver)
    return found


def _unregistered(places: Places) -> list[Driver]:
    note = "no .icd file names it"
    paths = ((name, find_library(library, places)) for name, library in UNREGISTERED)
    return [Driver(name, str(path), "unregistered", note) for name, path in paths if path is not None]


def _wheels() -> list[Driver]:
    found = []
    for name, distribution, patterns in WHEELS:
        path = wheel_library(distribution, patterns)
        if path is not None:
            note = f"from {distribution} {metadata.version(distribution)}"
            if _bundled(path):
                note += ", read by PyOpenCL's own loader"
            found.append(Driver(name, str(path), "wheel", note))
    return found


def wheel_library(distribution: str, patterns: tuple[str, ...]) -> Path | None:
    """The library that an installed distribution brought, or None. The file itself is not resolved: where the
    installer links files to its cache, the library's neighbours are found only beside the link."""
    try:
        files = metadata.files(distribution)
    except metadata.PackageNotFoundError:
        return None
    for file in files or ():
        path = Path(str(file.locate()))
        if any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns) and path.is_file():
            return path.parent.resolve() / path.name
    return None


def _bundled(library: Path) -> bool:
    """True if PyOpenCL's wheel reads this driver by itself: its loader lists every .icd in its own folder."""
    folder = library.parent
    return folder.name == ".libs" and any(folder.glob("libOpenCL*")) and any(folder.glob("*.icd"))


def _same_machine(library: Path) -> bool:
    """True if Python and the library are for one processor: ELF class (byte 4) and machine (bytes 18, 19)."""

    def header(path: Path) -> tuple[bytes, bytes]:
        with path.open("rb") as file:
            start = file.read(20)
        return start[:5], start[18:20]

    return not sys.executable or sys.platform != "linux" or header(library) == header(Path(sys.executable))


def _real(driver: Driver) -> str:
    return os.path.realpath(driver.library) if os.sep in driver.library else driver.library


def _same_driver(one: Driver, other: Driver) -> bool:
    """Same file, or same library name up to its version: a process should not load one driver twice."""
    stems = [Path(each.library).name.split(".so")[0] for each in (one, other)]
    return _real(one) == _real(other) or (stems[0] == stems[1] and Path(other.library).is_file())


def user_choice(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The loader variable that the user set, and its value, or None. To a loader an empty value is unset.

    OCL_ICD_FILENAMES speaks to Khronos' loader, which PyOpenCL's wheels have on Windows only: elsewhere it says nothing
    about what will be found, and some NVIDIA images set it.
    """
    names = ("OCL_ICD_FILENAMES",) if sys.platform == "win32" else ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
    for name in names:
        value = environ.get(name, "")
        if value and not Path(value).name.startswith(FOLDER_PREFIX):
            return name, value
    return None


def _problem_of(name: str, value: str) -> str:
    """Why the user's own variable cannot work, or ''. A bare file name is left to the loader's own search."""
    parts = value.split(os.pathsep) if name == "OCL_ICD_FILENAMES" else [value]
    missing = [part for part in parts if os.sep in part and not Path(part).exists()]
    if not missing:
        return ""
    return f"{name} names {', '.join(missing)}, which does not exist: the loader finds no driver"


def register(
    places: Places | None = None, environ: MutableMapping[str, str] = os.environ, cache: Path | None = None
) -> Registration:
    """Make unregistered drivers and wheels visible beside the system's own, before the first platform query.

    Sets OCL_ICD_VENDORS to a folder of .icd files. On Windows it sets OCL_ICD_FILENAMES, which the Khronos
    loader reads besides the registry, though not in an elevated process; that path has not been tried. A
    variable that the user set is never touched. A second call, here or in a child process, changes nothing.
    """
    places = places or Places.of_this_machine()
    extra = (driver for driver in discover(places) if driver.origin != "system")
    added = tuple(driver for driver in extra if not _bundled(Path(driver.library)))
    variable = "OCL_ICD_FILENAMES" if sys.platform == "win32" else "OCL_ICD_VENDORS"
    value = os.pathsep.join(driver.library for driver in added)
    chosen = user_choice(environ)
    if chosen is not None and chosen != (variable, value):
        text = f"{chosen[0]}={chosen[1]} is set, so the choice of drivers is left to it"
        return Registration("left to the user", *chosen, (), text, _problem_of(*chosen))
    if not added:
        environ.pop(variable, None)  # empty, or inherited from a parent that saw more drivers
        return Registration("nothing to add", variable, "", (), "the loader sees every driver by itself")
    if sys.platform != "win32":
        inherited = Path(environ.get(variable, "")).parent  # maybe not the cache, see _write_folder
        folders = (inherited, cache or cache_folder())
        value = str(_write_folder(_folder_content(places, added), folders))
    environ[variable] = value
    text = f"{variable}={value} adds " + ", ".join(f"{driver.name} ({driver.library})" for driver in added)
    return Registration("registered", variable, value, added, text)


def _folder_content(places: Places, added: tuple[Driver, ...]) -> dict[str, bytes]:
    """File names and bytes: the system's .icd files as they are, and one for each added driver."""
    content: dict[str, bytes] = {}
    for index, file in enumerate(icd_files(places)):
        content[file.name if file.name not in content else f"{index}-{file.name}"] = file.read_bytes()
    for driver in added:
        content[f"tilewright-{driver.name.lower().replace(' ', '-')}.icd"] = f"{driver.library}\n".encode()
    return content


def _write_folder(content: Mapping[str, bytes], caches: tuple[Path, ...]) -> Path:
    """A folder that holds `content`, named by it: found in one of `caches`, or written into the last of them.

    It is put in place by a rename, so that processes may do this at the same time; a damaged one is replaced.
    """
    name = FOLDER_PREFIX + hashlib.sha256(repr(sorted(content.items())).encode()).hexdigest()[:16]
    for cache in caches:
        if _holds(cache / name, content):
            return cache / name
    try:
        cache.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix="writing-", dir=cache))
    except OSError:  # the cache cannot be written: a private folder serves this process and its children
        cache = Path(tempfile.mkdtemp(prefix="tilewright-"))
        temporary = Path(tempfile.mkdtemp(prefix="writing-", dir=cache))
    for file, data in content.items():
        (temporary / file).write_bytes(data)
    folder = cache / name
    try:
        if folder.exists() and not _holds(folder, content):
            folder.rename(temporary / "damaged")
        temporary.rename(folder)
    except OSError:  # another process was faster
        if not _holds(folder, content):
            raise
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.rmtree(folder / "damaged", ignore_errors=True)
    return folder


def _holds(folder: Path, content: Mapping[str, bytes]) -> bool:
    files = ((folder / name, data) for name, data in content.items())
    return all(file.is_file() and file.read_bytes() == data for file, data in files)


# On a processor newer than its LLVM, the PoCL of the wheel pocl-binary-distribution 3.0 compiles for the
# processor "generic", which that LLVM refuses. `_cl_device_id.llvm_cpu`, a pointer to the name, lies 640
# bytes into this build's device (read from the object in memory). Before 5.0 PoCL has no variable for it.
POCL_WHEEL_VERSION = "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO, POCL_DEBUG"
POCL_WHEEL_CPU_OFFSET = 640


def mend_pocl_wheel(device: "pyopencl.Device") -> bool:
    """Give PoCL 3.0-rc2 the name of a processor that its compiler knows, before the first build.

    Returns True if the name was replaced. The device is touched only if the platform's version is that of the
    wheel to the letter, and the text at the fixed place is exactly "generic". At most 15 bytes are written
    into a block of malloc(8), which holds 24 in 64-bit glibc.
    """
    if device.platform.version != POCL_WHEEL_VERSION or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    address = ctypes.c_void_p.from_address(device.int_ptr + POCL_WHEEL_CPU_OFFSET).value
    if address is None or ctypes.string_at(address, 8) != b"generic\0":
        return False
    name = llvm_cpu_name(Path("/proc/cpuinfo").read_text(encoding="utf-8")).encode() + b"\0"
    ctypes.memmove(address, name, len(name))
    return True


def llvm_cpu_name(cpuinfo: str) -> str:
    """The richest of three x86-64 processors known to LLVM 14 whose instructions /proc/cpuinfo promises."""
    flags = set(next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "").split())
    if flags >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}:
        return "skylake-avx512"
    return "haswell" if flags >= {"avx2", "fma", "bmi1", "bmi2", "f16c"} else "x86-64"


NEVER_BY_DEFAULT = 100


@dataclass(frozen=True)
class Standing:
    """Where a device stands in the order of preference: the lowest `rank` is taken; `reason` is a clause."""

    rank: int
    reason: str


def standing(platform_name: str, platform_version: str, device_kind: str) -> Standing:
    """Rank of a device by its platform's name and version and its kind: "gpu", "cpu" or "accelerator".

    Among CPU drivers Intel's is first: kernels with barriers ran about ten times as fast as with PoCL 3.1.
    """
    pocl = "Portable Computing Language" in platform_name
    version = re.search(r"PoCL (\d+)\.", platform_version)
    if "Oclgrind" in platform_name:
        return Standing(NEVER_BY_DEFAULT, "Oclgrind interprets kernels: only for finding races")
    if "FPGA" in platform_name:
        return Standing(NEVER_BY_DEFAULT + 1, "an emulated FPGA says nothing about speed")
    if device_kind == "gpu":
        return Standing(1, "a GPU behind PoCL") if pocl else Standing(0, "a GPU comes before a CPU")
    if device_kind == "cpu" and "Intel" in platform_name:
        return Standing(10, "Intel's runtime is the first choice among CPU drivers")
    if platform_version == POCL_WHEEL_VERSION:
        return Standing(13, "the PoCL wheel is the last choice among the known CPU drivers")
    if pocl and version is not None:
        return Standing(11, "PoCL 5 or later") if int(version[1]) >= 5 else Standing(12, "PoCL before 5")
    return Standing(20, "an unknown CPU driver or accelerator")


def preference(platform_name: str, platform_version: str, device_kind: str) -> int:
    """The rank of `standing`, as a sort key; from NEVER_BY_DEFAULT on, a device must be asked for."""
    return standing(platform_name, platform_version, device_kind).rank
