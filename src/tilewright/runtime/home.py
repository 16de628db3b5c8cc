"""Where the user's caches lie: a folder that nobody else can change, or else a private one that this process removes.

What lies there is run: drivers load machine code from it, and the OpenCL loader opens whatever its .icd files name.
Nothing here imports PyOpenCL.
"""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

APPLICATION = "tilewright"
PYTOOLS = "pytools"  # where PyOpenCL has a database, beside our folder
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Linux shows this owner for whatever lies outside a user namespace: "/" in a container without root, for one.
OUTSIDE = 65534
NOWHERE = Path(os.devnull) / APPLICATION  # nothing can be made here, so nothing is kept
SHARED_MEMORY = "/dev/shm"  # often the only place for temporary files in a read-only container


@dataclass(frozen=True)
class Home:
    """The folder for this process's caches; `problem` says why it is not the user's own, or is "".

    With a problem the folder is private to this process, which removes it at its end. If the variables are
    `misleading`, so that others would follow them to a folder that is not fit, PyOpenCL and PoCL have to be kept from it.
    """

    folder: Path
    problem: str = ""
    misleading: bool = False


def user_home() -> Home:
    """The user's cache folder, made and checked: of this user, closed to others, in a place where nobody can swap it.

    It is `tilewright` in XDG_CACHE_HOME, which counts only if it is absolute, as its specification says, otherwise in
    ~/.cache, and in LOCALAPPDATA on Windows. What others could write to is refused.
    """
    names = ("LOCALAPPDATA",) if os.name == "nt" else ("XDG_CACHE_HOME", "HOME")
    home = _home_for(tuple((name, os.environ.get(name, "")) for name in names), _user())
    if home.misleading:
        _spare_pyopencl()
    return home


def private_folder() -> Path:
    """A folder of this process alone, made once, and removed when the process ends; OSError if none can be made."""
    return _private_folder(os.getpid())


def distrust(folder: Path) -> str:
    """Why somebody else could change what lies in `folder` or put another in its place; "" if nobody could.

    It must be a folder, not a link, of this user and closed to writers of its group. The folders above it must belong to
    this user or to root, and those that anybody may write to must be sticky, as /tmp is. That a group may write to one
    of them is left to its owner: where each user has a group of his own, it is usual. On Windows the system's own rules
    keep a user's folders apart, so nothing is asked.
    """
    if os.name == "nt":
        return "" if folder.is_dir() else f"{folder} is no folder"
    if not folder.is_absolute():
        return f"{folder} is no absolute path"
    own = folder.lstat()
    if not stat.S_ISDIR(own.st_mode):
        return f"{folder} is a link" if stat.S_ISLNK(own.st_mode) else f"{folder} is no folder"
    if own.st_uid != _user():
        return f"{folder} belongs to user {own.st_uid}, not to user {_user()}"
    if own.st_mode & OTHERS_WRITE:
        return f"others may write to {folder} (mode {stat.S_IMODE(own.st_mode):o})"
    for above in folder.parents:
        info = above.lstat()
        if info.st_uid not in (_user(), 0, OUTSIDE):
            return f"{above}, which holds it, belongs to user {info.st_uid}"
        if info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX:
            return f"anybody may write to {above} (mode {stat.S_IMODE(info.st_mode):o})"
    return ""


def read_own(path: Path) -> bytes | None:
    """The bytes of a file of this user that nobody else can write to; None for any other, and where there is none.

    A link is not followed, and a pipe is not waited for.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        info = os.fstat(handle)
        foreign = os.name != "nt" and (info.st_uid != _user() or info.st_mode & OTHERS_WRITE)
        if foreign or not stat.S_ISREG(info.st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(handle)


def write_own(path: Path, data: bytes) -> None:
    """Write a new file that only this user can read and write, whatever the process's mask says."""
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb"
    ) as file:
        file.write(data)


def make_own_folder(folder: Path) -> None:
    """Make a folder for this user alone where there is none, and those above it. OSError if that cannot be done.

    One of this user's that its group may write to, as older versions made them, is closed to it.
    """
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
    info = folder.lstat()
    if os.name != "nt" and stat.S_ISDIR(info.st_mode) and info.st_uid == _user() and info.st_mode & OTHERS_WRITE:
        folder.chmod(0o700)


def _user() -> int:
    return os.geteuid() if sys.platform != "win32" else 0


@cache
def _home_for(variables: tuple[tuple[str, str], ...], user: int) -> Home:
    """The home for these variables; its problem is found once in a process, and then stays as it is."""
    base, problem = _base(variables)
    if base is not None:
        folder = base / APPLICATION
        try:
            folder = base.resolve() / APPLICATION
            if folder.is_symlink() and folder.lstat().st_uid == user:  # the user's own link to where there is room
                folder = folder.resolve()
            make_own_folder(folder)
            problem = distrust(folder)
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
            problem = f"{folder} cannot be made: {getattr(error, 'strerror', None) or error}"
        if not problem:
            return Home(folder, misleading=not _leads(dict(variables)) or _shut(base / PYTOOLS))
    try:
        return Home(private_folder(), problem, True)
    except OSError as error:
        return Home(NOWHERE, f"{problem}; nor can a temporary folder be made: {error.strerror or error}", True)


def _leads(values: dict[str, str]) -> bool:
    """Whether the variables alone lead to the user's folder. Without them PoCL takes one of a fixed name in /tmp, and if
    they are relative, it and PyOpenCL take one in the current folder, whoever's that is."""
    return os.name == "nt" or Path(values["XDG_CACHE_HOME"] or values["HOME"]).is_absolute()


def _shut(folder: Path) -> bool:
    """Whether there is something that this user cannot write into."""
    return folder.exists() and not os.access(folder, os.W_OK | os.X_OK)


def _base(variables: tuple[tuple[str, str], ...]) -> tuple[Path | None, str]:
    """The folder for all programs' caches, or None and why there is none."""
    values = dict(variables)
    if os.name == "nt":
        value = values["LOCALAPPDATA"]
        return (Path(value), "") if value else (Path.home() / "AppData" / "Local", "")
    if Path(values["XDG_CACHE_HOME"]).is_absolute():
        return Path(values["XDG_CACHE_HOME"]), ""
    home = values["HOME"] or _home_of_record()
    if not home:
        return None, f"user {_user()} has no home: neither HOME nor the system's list of users names one"
    if not Path(home).is_absolute() or not Path(home).is_dir():
        return None, f"the home {home} is no folder with an absolute path"
    return Path(home) / ".cache", ""


def _home_of_record() -> str:
    """The home that the system's list of users names, or ""."""
    import pwd  # not on Windows

    try:
        return pwd.getpwuid(_user()).pw_dir
    except KeyError:
        return ""


@cache
def _private_folder(process: int) -> Path:
    try:
        made = tempfile.mkdtemp(prefix=f"{APPLICATION}-")
    except OSError:
        if not Path(SHARED_MEMORY).is_dir():
            raise
        made = tempfile.mkdtemp(prefix=f"{APPLICATION}-", dir=SHARED_MEMORY)
    folder = Path(made).resolve()
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    """Remove a private folder, unless this is a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def remove_private_folder() -> None:
    """Remove this process's private folder, if there is one, now: the process is about to end without cleaning up."""
    if _private_folder.cache_info().currsize:
        _remove(private_folder(), os.getpid())


def _spare_pyopencl() -> None:
    """Have PyOpenCL, if it has been imported, do without caches: they lie beside ours, and kernels fail if they cannot.

    PYOPENCL_NO_CACHE says the same, but is read only when PyOpenCL is imported, which most callers do first.
    """
    if "pyopencl" in sys.modules:
        sys.modules["pyopencl"]._PYOPENCL_NO_CACHE = True  # type: ignore[attr-defined]
