"""Runs a Python program in this process as the interpreter itself would: a script, a module or a piece of code."""

import builtins
import importlib.util
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from ..errors import InvalidInput

INTERRUPTED = 130  # the exit status that shells give to a program ended by SIGINT


@dataclass(frozen=True)
class PythonProgram:
    """What `python` would run. `main` makes its code; `first_path` is what it puts at the front of `sys.path`."""

    title: str
    first_argument: str
    first_path: str
    main: Callable[[], tuple[CodeType, dict[str, Any]]]


def script(path: str) -> PythonProgram:
    """A script. InvalidInput if there is no such file."""
    file = Path(path)
    if file.is_dir():
        raise InvalidInput(f"{path} is a folder: name a Python script, or a module by -m")
    if not file.is_file():
        raise InvalidInput(f"there is no script {path}; give a Python script, -m MODULE or -c CODE")
    if file.suffix == ".cl":
        raise InvalidInput(
            f"{path} is OpenCL C, and `watch` runs Python programs: `tilewright explain {shlex.quote(path)}` explains a file"
        )

    absolute = str(file.absolute())

    def main() -> tuple[CodeType, dict[str, Any]]:
        loader = SourceFileLoader("__main__", absolute)
        names = {"__file__": absolute, "__loader__": loader, "__cached__": None}
        return compile(file.read_bytes(), absolute, "exec", dont_inherit=True), names

    return PythonProgram(path, path, str(file.resolve().parent), main)


def module(name: str) -> PythonProgram:
    """A module, as by `python -m`; of a package, its `__main__`. InvalidInput if there is none."""
    spec = _spec_of(name)
    assert spec.loader is not None

    def main() -> tuple[CodeType, dict[str, Any]]:
        code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
        names = {"__file__": spec.origin, "__loader__": spec.loader, "__spec__": spec, "__package__": spec.parent}
        return code, names

    return PythonProgram(f"-m {name}", spec.origin or name, str(Path.cwd()), main)


def code(text: str) -> PythonProgram:
    """Code given as text, as by `python -c`."""

    def main() -> tuple[CodeType, dict[str, Any]]:
        return compile(text, "<string>", "exec", dont_inherit=True), {}

    return PythonProgram("-c", "-c", "", main)


def _spec_of(name: str) -> ModuleSpec:
    with _path_begins_with(str(Path.cwd())):
        try:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.submodule_search_locations is not None:
                spec = importlib.util.find_spec(f"{name}.__main__")
        except ModuleNotFoundError as missing:
            raise InvalidInput(f"there is no module {name} ({missing})") from missing
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise InvalidInput(f"there is no module {name} that Python can run")
    return spec


@contextmanager
def _path_begins_with(folder: str) -> Iterator[None]:
    before = sys.path[:]
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = before


def run_program(program: PythonProgram, arguments: Sequence[str]) -> int:
    """Run a program to its end and return its exit status, that of `python`. What it prints and raises is its own: an
    exception is shown as by Python, without the frames of this package. Its threads that are no daemons are waited for."""
    own = ModuleType("__main__")
    vars(own).update({"__builtins__": builtins, "__spec__": None, "__package__": None})
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    others = set(threading.enumerate())
    sys.modules["__main__"], sys.argv = own, [program.first_argument, *arguments]
    sys.path[:] = sys.path if sys.flags.safe_path else [program.first_path, *sys.path[1:]]
    try:
        status = _status_of(lambda: _execute(program, own))
        return _status_of(lambda: _join_threads(others)) or status
    finally:
        _flush()
        sys.modules["__main__"], sys.argv = before[:2]
        sys.path[:] = before[2]


def _execute(program: PythonProgram, own: ModuleType) -> None:
    code, names = program.main()
    vars(own).update(names)
    exec(code, vars(own))


def _status_of(run: Callable[[], None]) -> int:
    """The exit status of a program that ended, or raised what it raised."""
    try:
        run()
        return 0
    except SystemExit as exit_:
        return _exit_status(exit_.code)
    except BaseException as error:
        shown = error.with_traceback(_own_frames(error.__traceback__))
        sys.excepthook(type(shown), shown, shown.__traceback__)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _exit_status(code: Any) -> int:
    """What the interpreter makes of SystemExit's argument."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the program's first frame on."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _join_threads(others: set[threading.Thread]) -> None:
    """What the interpreter does before it ends: wait for threads that are no daemons."""
    for thread in set(threading.enumerate()) - others:
        if not thread.daemon:
            thread.join()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader stopped early, or the program closed it
            stream.flush()
