"""Finds shared libraries: in the loader's folders, in usual folders, in Python packages, in CUDA's toolkit.

Nothing here opens a library.
"""

import fnmatch
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

# Where environments and systems install libraries, whether the loader looks there or not.
USUAL_FOLDERS = tuple(
    Path(each)
    for each in (
        f"{sys.prefix}/lib", f"{sys.prefix}/Library/bin", "/usr/local/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/opt/homebrew/lib",
    )
)  # fmt: skip


def listed_folders() -> list[Path]:
    """The folders of LD_LIBRARY_PATH."""
    return [Path(each) for each in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if each]


def loader_folders() -> list[Path]:
    """The folders that the dynamic loader searches, from `ldconfig -p`; empty without that tool."""
    tool = shutil.which("ldconfig") or shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if tool is None or sys.platform != "linux":
        return []
    listing = subprocess.run([tool, "-p"], capture_output=True, text=True, check=False).stdout
    paths = [line.split(" => ", 1)[1] for line in listing.splitlines() if " => " in line]
    return list(dict.fromkeys(Path(path.strip()).parent for path in paths))


def files_in(folders: Iterable[Path], names: Sequence[str]) -> Iterator[Path]:
    """The files with one of these names, folder by folder."""
    for folder in folders:
        yield from (folder / name for name in names if (folder / name).is_file())


def find_library(name: str, folders: Iterable[Path]) -> Path | None:
    """The file that the dynamic loader would open for `name` (a path or a bare name), or None."""
    if os.sep in name:
        return Path(name) if Path(name).is_file() else None
    return next(filter(same_machine, files_in(folders, (name,))), None)


def same_machine(library: Path) -> bool:
    """Whether Python and the library are for the same processor: ELF class (byte 4) and machine (bytes 18, 19)."""

    def header(path: Path) -> tuple[bytes, bytes]:
        with path.open("rb") as file:
            start = file.read(20)
        return start[:5], start[18:20]

    return not sys.executable or sys.platform != "linux" or header(library) == header(Path(sys.executable))


def packaged_file(patterns: tuple[str, ...], *distributions: str) -> Path | None:
    """The first file with such a name in one of these installed distributions, or None.

    A link to the file is not resolved: some installers link files to their cache, and a library finds its neighbours only
    in the folder of the link.
    """
    for distribution in distributions:
        try:
            files = metadata.files(distribution)
        except metadata.PackageNotFoundError:
            continue
        for file in files or ():
            path = Path(str(file.locate()))
            if any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns) and path.is_file():
                return path.parent.resolve() / path.name
    return None


def toolkit_library(name: str) -> str | None:
    """A library such as "nvrtc" of a CUDA toolkit, of Python's packages or of conda. The package cuda-pathfinder finds it, which
    comes with the extra `cuda`. None without that package or the library."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return str(load_nvidia_dynamic_lib(name).abs_path)
    except (ImportError, RuntimeError):
        return None
