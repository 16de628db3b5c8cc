"""The folder for the user's caches: one that nobody else can change, or else a private one that this process removes.

Its content is executed: drivers load machine code from it, and the OpenCL loader opens the libraries that its .icd files
name. Nothing here imports PyOpenCL.
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
PYTOOLS = "pytools"  # the folder of PyOpenCL's database, next to ours
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Linux shows this owner for files outside the user namespace, such as "/" in a container without root.
OUTSIDE = 65534
NOWHERE = Path(os.devnull) / APPLICATION  # nothing can be written here, so nothing is kept
SHARED_MEMORY = "/dev/shm"  # often the only place for temporary files in a read-only container


_troubles: dict[str, None] = {}  # each once, in the order in which they came


def note_trouble(sentence: str) -> None:
    """Keep a sentence about a cache that cannot be used. Results are right without it, so nothing is raised."""
    _troubles.setdefault(sentence)


def cache_troubles() -> tuple[str, ...]:
    """Why caches of this process are not kept, or lie in a temporary folder: sentences for the user."""
    return tuple(_troubles)


@dataclass(frozen=True)
class Home:
    """The folder for this process's caches. `problem` says why it is not the user's own, or is "".

    With a problem, the folder is private to this process, which removes it at its end. `misleading` means that the
    environment leads PyOpenCL and PoCL to a folder that is not safe: they must not use their caches there.
    """

    folder: Path
    problem: str = ""
    misleading: bool = False


def user_home() -> Home:
    """The user's cache folder, created if need be and checked: nobody else can change or replace it.

    It is `tilewright` in XDG_CACHE_HOME if that is an absolute path, as its specification demands, otherwise in ~/.cache. On
    Windows it is in LOCALAPPDATA. A folder that others can write to is refused.
    """
    names = ("LOCALAPPDATA",) if os.name == "nt" else ("XDG_CACHE_HOME", "HOME")
    home = _home_for(tuple((name, os.environ.get(name, "")) for name in names), _user())
    if home.misleading:
        _spare_pyopencl()
    return home


def private_folder() -> Path:
    """A folder for this process alone, removed when the process ends. OSError if none can be made."""
    return _private_folder(os.getpid())


def distrust(folder: Path) -> str:
    """Why somebody else could change or replace `folder`; "" if nobody could.

    It must be a folder, not a link. It must belong to this user, and its group and others must not be able to write to it.
    The folders above it must belong to this user or to root. Those that everybody can write to must be sticky, as /tmp is.
    Those that a group can write to are accepted: this is usual where each user has an own group. On Windows the system
    protects a user's folders, so nothing is checked.
    """
    if os.name == "nt":
        return "" if folder.is_dir() else f"{folder} is not a folder"
    if not folder.is_absolute():
        return f"{folder} is not an absolute path"
    own = folder.lstat()
    if not stat.S_ISDIR(own.st_mode):
        return f"{folder} is a link" if stat.S_ISLNK(own.st_mode) else f"{folder} is not a folder"
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
    """The bytes of a file that belongs to this user and that nobody else can write to; None for other files, or if it is missing.

    Links are not followed. A pipe is not waited for.
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
    """Write a new file that only this user can read and write, whatever the umask is."""
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb"
    ) as file:
        file.write(data)


def make_own_folder(folder: Path) -> None:
    """Make a folder for this user alone, and the folders above it. OSError if that fails.

    If it exists and others can write to it, as to those of older versions, their permission is removed.
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
    """The home for these variables. Its problem is determined once in a process."""
    base, problem = _base(variables)
    if base is not None:
        folder = base / APPLICATION
        try:
            folder = base.resolve() / APPLICATION
            if folder.is_symlink() and folder.lstat().st_uid == user:  # the user's own link to another disk
                folder = folder.resolve()
            make_own_folder(folder)
            problem = distrust(folder)
        except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
            problem = f"{folder} cannot be made: {getattr(error, 'strerror', None) or error}"
        if not problem:
            return Home(folder, misleading=not _leads(dict(variables)) or _shut(base / PYTOOLS))
    note_trouble(f"{problem}: compiled kernels are kept in a temporary folder, for this process alone")
    try:
        return Home(private_folder(), problem, True)
    except OSError as error:
        return Home(NOWHERE, f"{problem}; nor can a temporary folder be made: {error.strerror or error}", True)


def _leads(values: dict[str, str]) -> bool:
    """Whether the variables lead every program to the user's folder. Without them PoCL uses a fixed name in /tmp. If they
    are relative, PoCL and PyOpenCL use the current folder, which may belong to anybody."""
    return os.name == "nt" or Path(values["XDG_CACHE_HOME"] or values["HOME"]).is_absolute()


def _shut(folder: Path) -> bool:
    """Whether the folder exists and this user cannot write to it."""
    return folder.exists() and not os.access(folder, os.W_OK | os.X_OK)


def _base(variables: tuple[tuple[str, str], ...]) -> tuple[Path | None, str]:
    """The folder for the caches of all programs, or None and the reason."""
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
        return None, f"the home {home} is not a folder with an absolute path"
    return Path(home) / ".cache", ""


def _home_of_record() -> str:
    """The home folder from the system's list of users, or ""."""
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
    """Remove this process's private folder now, if it has one: the process is about to end without cleaning up."""
    if _private_folder.cache_info().currsize:
        _remove(private_folder(), os.getpid())


def _spare_pyopencl() -> None:
    """Switch off PyOpenCL's caches, if it is imported. They lie next to ours, and kernels fail if they cannot be written.

    PYOPENCL_NO_CACHE has the same effect, but is read only when PyOpenCL is imported. Most callers have imported it before.
    """
    if "pyopencl" in sys.modules:
        sys.modules["pyopencl"]._PYOPENCL_NO_CACHE = True  # type: ignore[attr-defined]
