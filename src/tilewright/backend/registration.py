"""Makes drivers that no .icd file names visible to this process and its children, beside the system's own.

Nothing here loads a driver or imports PyOpenCL. `register()` must run before the first OpenCL platform query.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .cache import cache_folder
from .drivers import Driver, Places, bundled, discover, icd_files

FOLDER_PREFIX = "tilewright-icd-"

# Binds each of PoCL's threads to a processor. Woken together after a pause, two of them often land on one processor, and
# there they stay for some milliseconds. Products shorter than that suffer: 256^3 float32 on two processors ran at 225
# GFLOP/s in the median with this and at 145 without; from 512^3 on it makes no difference.
PINNED = ("POCL_AFFINITY", "1")


@dataclass(frozen=True)
class Registration:
    """What `register` did: `variable` makes `added` visible; `problem` says why no driver may be found."""

    status: Literal["nothing to add", "registered", "left to the user"]
    variable: str
    value: str
    added: tuple[Driver, ...]
    text: str
    problem: str = ""


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


def bind_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Have PoCL bind its threads to processors, before the first platform query.

    Not against the user's word, and only if this process may run everywhere: PoCL counts processors from 0 on and heeds
    no other binding.
    """
    if sys.platform == "linux" and os.sched_getaffinity(0) == set(range(os.cpu_count() or 0)):
        environ.setdefault(*PINNED)


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
    added = tuple(driver for driver in extra if not bundled(Path(driver.library)))
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
