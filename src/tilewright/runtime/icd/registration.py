"""Makes unregistered drivers visible to this process and its children, in addition to the system's drivers.

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

from ..cache import cache_folder
from ..forks import mark_used
from ..home import distrust, make_own_folder, note_trouble, private_folder, read_own, user_home, write_own
from .drivers import Driver, Places, bundled, discover, icd_files

FOLDER_PREFIX = "tilewright-icd-"

# Binds each of PoCL's threads to a processor. After a pause, two threads often start on one processor and stay there for
# some milliseconds. This slows short products: 256^3 float32 on two processors had a median of 225 GFLOP/s with this and of
# 145 without. From 512^3 on it makes no difference.
PINNED = ("POCL_AFFINITY", "1")


@dataclass(frozen=True)
class Registration:
    """What `register` did: `variable` makes the drivers `added` visible. `problem` says why drivers may not be found."""

    status: Literal["nothing to add", "registered", "left to the user", "failed"]
    variable: str
    value: str
    added: tuple[Driver, ...]
    text: str
    problem: str = ""


def user_choice(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The loader variable that the user set, and its value, or None. Loaders ignore an empty value.

    OCL_ICD_FILENAMES is for Khronos' loader, which PyOpenCL's wheels contain on Windows only. On other systems it is
    ignored here: some NVIDIA images set it.
    """
    names = ("OCL_ICD_FILENAMES",) if sys.platform == "win32" else ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
    for name in names:
        value = environ.get(name, "")
        if value and not Path(value).name.startswith(FOLDER_PREFIX):
            return name, value
    return None


def _problem_of(name: str, value: str) -> str:
    """Why the user's variable cannot work, or "". A bare file name is left to the loader's search."""
    parts = value.split(os.pathsep) if name == "OCL_ICD_FILENAMES" else [value]
    missing = [part for part in parts if os.sep in part and not Path(part).exists()]
    if not missing:
        return ""
    return f"{name} names {', '.join(missing)}, which does not exist: the loader finds no driver"


def bind_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Let PoCL bind its threads to processors. To be called before the first platform query, which starts the threads.

    A variable that the user set is kept. Nothing is set if this process may not run on all processors: PoCL counts
    processors from 0 on and ignores other bindings.
    """
    mark_used()
    if sys.platform == "linux" and os.sched_getaffinity(0) == set(range(os.cpu_count() or 0)):
        environ.setdefault(*PINNED)


def keep_apart(environ: MutableMapping[str, str] = os.environ) -> None:
    """If the user's cache folder is not safe, let PoCL keep its compiled kernels in ours. Before the first platform query.

    For a user without a home PoCL uses a fixed name in /tmp, and runs programs that it finds there.
    """
    home = user_home()
    if home.misleading:
        environ.setdefault("POCL_CACHE_DIR", str(home.folder / "pocl"))


def register(
    places: Places | None = None, environ: MutableMapping[str, str] = os.environ, cache: Path | None = None
) -> Registration:
    """Make unregistered drivers and wheels visible in addition to the system's drivers, before the first platform query.

    Sets OCL_ICD_VENDORS to a folder of .icd files. On Windows it sets OCL_ICD_FILENAMES, which Khronos' loader reads in
    addition to the registry, except in elevated processes; this path is untested. A variable that the user set is never
    changed. A second call, here or in a child process, has no effect.
    """
    keep_apart(environ)
    places = places or Places.of_this_machine()
    extra = (driver for driver in discover(places) if driver.origin != "system")
    added = tuple(driver for driver in extra if not bundled(Path(driver.library)))
    variable = "OCL_ICD_FILENAMES" if sys.platform == "win32" else "OCL_ICD_VENDORS"
    value = os.pathsep.join(driver.library for driver in added)
    chosen = user_choice(environ)
    if chosen is not None and chosen != (variable, value):
        text = f"{chosen[0]}={chosen[1]} is set, and it decides which drivers are found"
        return Registration("left to the user", *chosen, (), text, _problem_of(*chosen))
    if not added:
        environ.pop(variable, None)  # empty, or inherited from a parent that found more drivers
        return Registration("nothing to add", variable, "", (), "the loader finds every driver without help")
    if sys.platform != "win32":
        inherited = Path(environ.get(variable, "")).parent  # may be another folder than the cache, see _folder_of
        try:
            value = str(_folder_of(_folder_content(places, added), (inherited, cache or cache_folder())))
        except OSError as error:
            environ.pop(variable, None)
            names = ", ".join(driver.name for driver in added)
            text = f"{names} cannot be made visible: no folder for its .icd file can be written ({error})"
            return Registration("failed", variable, "", (), text, text)
    environ[variable] = value
    text = f"{variable}={value} adds " + ", ".join(f"{driver.name} ({driver.library})" for driver in added)
    return Registration("registered", variable, value, added, text)


def register_if_alone(places: Places | None = None) -> None:
    """Make unregistered drivers visible if the loader finds none by itself. A program that finds drivers without us keeps
    their order, and so the device that it chooses."""
    places = places or Places.of_this_machine()
    if not any(driver.origin == "system" or bundled(Path(driver.library)) for driver in discover(places)):
        register(places)


def _folder_content(places: Places, added: tuple[Driver, ...]) -> dict[str, bytes]:
    """File names and bytes: copies of the system's .icd files, and a file for each added driver."""
    content: dict[str, bytes] = {}
    for index, file in enumerate(icd_files(places)):
        content[file.name if file.name not in content else f"{index}-{file.name}"] = file.read_bytes()
    for driver in added:
        content[f"tilewright-{driver.name.lower().replace(' ', '-')}.icd"] = f"{driver.library}\n".encode()
    return content


def _folder_of(content: Mapping[str, bytes], caches: tuple[Path, ...]) -> Path:
    """A folder that holds `content` and is named by its hash: found in one of `caches`, or written to the last one.

    If the last one cannot be written to, it is in a private folder of this process. OSError if that fails, too.
    """
    name = FOLDER_PREFIX + hashlib.sha256(repr(sorted(content.items())).encode()).hexdigest()[:16]
    for cache in caches:
        if _holds(cache / name, content):
            return cache / name
    try:
        return _write_folder(content, caches[-1], name)
    except OSError as error:
        note_trouble(f"{caches[-1]}: {error.strerror}: the list of drivers is kept in a temporary folder")
        private = private_folder()
        return private / name if _holds(private / name, content) else _write_folder(content, private, name)


def _write_folder(content: Mapping[str, bytes], cache: Path, name: str) -> Path:
    """Write the folder `name` of `cache`. It is put in place by a rename, so that several processes can do this at once. A
    folder with other content is replaced; one that another process has just put there stays, as its loader may be reading it."""
    make_own_folder(cache)
    folder, temporary = cache / name, Path(tempfile.mkdtemp(prefix="writing-", dir=cache))
    try:
        (temporary / "new").mkdir(mode=0o700)
        for file, data in content.items():
            write_own(temporary / "new" / file, data)
        if _holds(folder, content):
            return folder
        if folder.is_symlink() or folder.exists():
            folder.rename(temporary / "old")
        (temporary / "new").rename(folder)
    except OSError:
        if not _holds(folder, content):  # unless another process was faster
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _holds(folder: Path, content: Mapping[str, bytes]) -> bool:
    """Whether nobody else can change the folder, and it holds exactly these files: a loader opens every .icd file."""
    try:
        if distrust(folder) or {each.name for each in folder.iterdir()} != set(content):
            return False
    except OSError:  # it does not exist
        return False
    return all(read_own(folder / name) == data for name, data in content.items())
